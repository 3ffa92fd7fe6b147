import ImportModel

/// Moves over records that are plainly JSON where they follow one another.
///
/// After each of them yajl would be in the same state as before it, so it need not see them.
package struct FastRecordScanner {
    /// What is between them and before them.
    package enum Kind {
        /// Elements of an array.
        case elements
        /// Members of an object, each with its key.
        case members
        /// Values at the top level.
        case values
    }

    /// One of them: the places are in the bytes that were handed to `next`.
    package struct Record {
        /// Its first byte; with a key, the key's first byte.
        package let start: Int
        package let end: Int
        /// True if a CR or LF is between its tokens.
        let hasLineBreaks: Bool
    }

    private let kind: Kind
    private let maxDepth: Int
    private let keys: PreviousKeyCache

    /// - Parameter maxDepth: how many containers may be inside each other, from 1.
    package init(_ kind: Kind, maxDepth: Int, _ keys: PreviousKeyCache) {
        self.kind = kind
        self.keys = keys
        self.maxDepth = min(maxDepth, FastJSON.mostLevels)
    }

    /// The end of an object or array; -1 for everything else, which is left to yajl.
    ///
    /// - Parameters:
    ///   - start: where it begins.
    ///   - bytes: they include `bytes[last]`.
    ///   - last: where a control character is that is no white space.
    package func end(of start: Int, in bytes: UnsafePointer<UInt8>, last: Int) -> Int {
        var output = NoOutput()
        guard start < last, bytes[start] == UInt8(ascii: "{") || bytes[start] == UInt8(ascii: "[") else { return -1 }
        return FastJSON.end(of: start, in: bytes, last: last, maxDepth: maxDepth, keys, &output)
    }

    /// The record that follows one that ended before `index`; nil where something else does.
    ///
    /// - Parameters:
    ///   - index: just past the record before it.
    ///   - bytes: they include `bytes[last]`.
    ///   - last: where a control character is that is no white space.
    @inline(__always)
    package func next(after index: Int, in bytes: UnsafePointer<UInt8>, last: Int) -> Record? {
        var output = NoOutput()
        var index = index
        FastJSON.skipSpace(bytes, &index, &output)
        if kind != .values {
            guard bytes[index] == UInt8(ascii: ",") else { return nil }
            index &+= 1
            FastJSON.skipSpace(bytes, &index, &output)
        }
        let start = index
        output.hasLineBreaks = false
        if kind == .members {
            guard bytes[index] == UInt8(ascii: "\""), FastJSON.string(bytes, &index, last, &output) != nil else {
                return nil
            }
            FastJSON.skipSpace(bytes, &index, &output)
            guard bytes[index] == UInt8(ascii: ":") else { return nil }
            index &+= 1
            FastJSON.skipSpace(bytes, &index, &output)
        }
        guard bytes[index] == UInt8(ascii: "{") || bytes[index] == UInt8(ascii: "[") else { return nil }
        let end = FastJSON.end(of: index, in: bytes, last: last, maxDepth: maxDepth, keys, &output)
        return end < 0 ? nil : Record(start: start, end: end, hasLineBreaks: output.hasLineBreaks)
    }
}

/// Sees line breaks alone.
private struct NoOutput: FastJSONHandler {
    static var spaceHasLineFeeds: Bool { true }

    var hasLineBreaks = false

    @inline(__always)
    var hasRoom: Bool { true }

    @inline(__always)
    mutating func lineBreak() { hasLineBreaks = true }

    @inline(__always)
    mutating func string(from start: Int, to end: Int, hasEscapes: Bool) {}

    @inline(__always)
    mutating func scalar(_ kind: JSONKind, from start: Int, to end: Int) {}

    @inline(__always)
    mutating func open(_ kind: JSONKind, at start: Int) {}

    @inline(__always)
    mutating func close(at end: Int) {}
}
