import ImportModel

/// Finds where records begin and end in a stream of yajl events.
struct RecordScanner: YajlHandler {
    mutating func null(at position: YajlPosition) -> Bool { true }
    mutating func boolean(_ value: Bool, at position: YajlPosition) -> Bool { true }
    mutating func number(_ digits: ByteView, at position: YajlPosition) -> Bool { true }
    mutating func string(_ bytes: ByteView, at position: YajlPosition) -> Bool { true }
    mutating func startObject(at position: YajlPosition) -> Bool { true }
    mutating func key(_ bytes: ByteView, at position: YajlPosition) -> Bool { true }
    mutating func endObject(at position: YajlPosition) -> Bool { true }
    mutating func startArray(at position: YajlPosition) -> Bool { true }
    mutating func endArray(at position: YajlPosition) -> Bool { true }
}
