/// The parts of values of JSON, found without checking it.
package enum JSONParts {
    /// How many containers are open at the end of a text.
    package static func depth(atEndOf text: String) -> Int {
        Array(text.utf8).withUnsafeBufferPointer { buffer in
            let json = ByteView(buffer)
            var (depth, index) = (0, 0)
            while index < json.count {
                let byte = json[index]
                if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { depth += 1 }
                if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { depth -= 1 }
                index = byte == UInt8(ascii: "\"") ? JSONSyntax.endOfString(in: json, at: index) : index + 1
            }
            return depth
        }
    }

    /// Just past the value that begins at an index.
    package static func endOfValue(in json: ByteView, at start: Int) -> Int {
        var (depth, index) = (0, start)
        while index < json.count {
            switch json[index] {
            case UInt8(ascii: "\""):
                index = JSONSyntax.endOfString(in: json, at: index)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index }
                depth -= 1
                index += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                if depth == 0 { return index }
                index += 1
                continue
            case let byte where JSONSyntax.isWhiteSpace(byte):
                index += 1
                continue
            default:
                while index < json.count, !isEnd(json[index]) { index += 1 }
            }
            if depth == 0 { return index }
        }
        return json.count
    }

    /// Just past the container that begins at an index; nil where it does not end.
    package static func endOfContainer(in json: ByteView, at start: Int) -> Int? {
        var (depth, index) = (0, start)
        while index < json.count {
            switch json[index] {
            case UInt8(ascii: "\""):
                index = JSONSyntax.endOfString(in: json, at: index)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return index + 1 }
            default: break
            }
            index += 1
        }
        return nil
    }

    private static func isEnd(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ":"), UInt8(ascii: "\""): true
        default: JSONSyntax.isWhiteSpace(byte)
        }
    }

    /// The next index of a byte that is no white space.
    package static func skipWhiteSpace(in json: ByteView, from start: Int) -> Int {
        var index = start
        while index < json.count, JSONSyntax.isWhiteSpace(json[index]) { index += 1 }
        return index
    }
}

/// Walks the elements of an array, or the keys and values of an object, of JSON, without checking it.
package struct JSONCursor {
    private let json: ByteView
    private var index: Int
    private let isObject: Bool

    /// Goes on within a container, at an element or at the comma before it.
    package init(_ json: ByteView, from index: Int, isObject: Bool) {
        (self.json, self.index, self.isObject) = (json, index, isObject)
    }

    /// - Parameter start: where the container's opening bracket is.
    package init(_ json: ByteView, at start: Int = 0) {
        self.json = json
        isObject = json[start] == UInt8(ascii: "{")
        index = start + 1
    }

    /// The next element: its bytes, and those of its key with the quotes; nil at the end.
    package mutating func next() -> (key: ByteView?, value: ByteView)? {
        index = JSONParts.skipWhiteSpace(in: json, from: index)
        if index < json.count, json[index] == UInt8(ascii: ",") {
            index = JSONParts.skipWhiteSpace(in: json, from: index + 1)
        }
        guard index < json.count, json[index] != UInt8(ascii: "]"), json[index] != UInt8(ascii: "}") else { return nil }
        guard isObject else { return (nil, value()) }
        let key = value()
        index = JSONParts.skipWhiteSpace(in: json, from: index)
        guard index < json.count, json[index] == UInt8(ascii: ":") else { return nil }
        index = JSONParts.skipWhiteSpace(in: json, from: index + 1)
        guard index < json.count else { return nil }
        return (key, value())
    }

    private mutating func value() -> ByteView {
        let start = index
        // Something that no value begins with is passed all the same.
        index = max(start + 1, JSONParts.endOfValue(in: json, at: start))
        return json[start..<min(index, json.count)]
    }

    /// Where the next element, or the comma before it, is looked for.
    package var offset: Int { index }
}
