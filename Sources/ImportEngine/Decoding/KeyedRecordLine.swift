import ImportModel
import ImportSources

/// The line of a record with keys, `{"outer":{"key": value}}`, in a chunk.
package enum KeyedRecordLine {
    /// The keys and the place of the value in a line that is not parsed.
    ///
    /// - Parameters:
    ///   - line: with the LF that ends it.
    ///   - keys: how many it has.
    /// - Returns: the keys as `RecordKeys` has them.
    package static func split(_ line: ByteView, keys count: Int) -> (key: String?, value: Range<Int>) {
        var end = max(0, line.count - 1)
        guard count > 0 else { return (nil, 0..<end) }
        for _ in 0..<count where end > 0 && line[end - 1] == UInt8(ascii: "}") { end -= 1 }
        while end > 0, ByteScan.isSpace(line[end - 1]) { end -= 1 }
        var index = 0
        let keys = (0..<count).map { _ in key(in: line, &index, end) }
        return (RecordKeys.text(of: keys), min(index, end)..<end)
    }

    /// The keys of a line of which only what precedes its value is given.
    package static func keys(in head: ByteView) -> [String] {
        var index = 0
        var keys: [String] = []
        while index < head.count { keys.append(key(in: head, &index, head.count)) }
        return keys
    }

    /// The next key; what follows it is where its value begins.
    private static func key(in line: ByteView, _ index: inout Int, _ end: Int) -> String {
        func skipSpace() {
            while index < line.count, ByteScan.isSpace(line[index]) { index += 1 }
        }
        index += 1
        skipSpace()
        let start = min(index + 1, end)
        index = start
        while index < end, line[index] != UInt8(ascii: "\"") { index += line[index] == UInt8(ascii: "\\") ? 2 : 1 }
        var key: [UInt8] = []
        _ = JSONUnescaper.append(line[start..<min(index, end)], to: &key)
        index = min(index + 1, end)
        skipSpace()
        if index < end, line[index] == UInt8(ascii: ":") { index += 1 }
        skipSpace()
        return String(decoding: key, as: UTF8.self)
    }
}

/// What reads lines: each key of a line puts its record into an object of the line's own.
struct RecordReaders {
    private let options: JobOptions
    private var readers: [RecordReader] = []

    init(_ options: JobOptions) { self.options = options }

    /// The reader of lines with this number of keys, which exists.
    @inline(__always)
    subscript(keys: Int) -> RecordReader { readers[keys] }

    /// The reader of lines with this number of keys.
    mutating func make(keys: Int) -> RecordReader {
        while readers.count <= keys {
            readers.append(RecordReader(maxDepth: options.maxDepth + readers.count, taking: options.lenientScope))
        }
        return readers[keys]
    }
}

/// The keys of one record as one text: the key itself, or where there are several a JSON array of them, the outermost first.
///
/// A single key that looks like such an array is in one.
package enum RecordKeys {
    package static func text(of keys: [String]) -> String? {
        guard let key = keys.first else { return nil }
        return keys.count == 1 && array(in: key) == nil ? key : JSONValue.array(keys.map { .string($0) }).serialized()
    }

    /// The keys, the outermost first.
    package static func keys(in text: String) -> [String] { array(in: text) ?? [text] }

    /// The text as JSON: a string, or an array of them.
    package static func json(of text: String) -> String {
        let keys = keys(in: text).map { JSONValue.string($0) }
        return (keys.count == 1 ? keys[0] : .array(keys)).serialized()
    }

    private static func array(in text: String) -> [String]? {
        guard text.utf8.first == UInt8(ascii: "["),
            case .array(let elements)? = try? JSONValue(parsing: Array(text.utf8))
        else { return nil }
        let keys = elements.compactMap { element in
            if case .string(let key) = element { key } else { nil }
        }
        return keys.count == elements.count && (keys.count > 1 || array(in: keys.first ?? "") != nil) ? keys : nil
    }
}
