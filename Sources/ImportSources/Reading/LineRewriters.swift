import ImportModel

/// Gathers lines of a text that comes in pieces.
struct LineGatherer {
    private let maxBytes: Int
    private var line: [UInt8] = []
    /// True if the line is too long to be held.
    private var isTooLong = false

    init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// Takes what comes next.
    ///
    /// - Parameter body: called with each line, without the LF that ends it. A line that is too long goes to the output as it is.
    mutating func add(
        _ bytes: ArraySlice<UInt8>,
        to output: inout [UInt8],
        _ body: (ByteView, inout [UInt8]) -> Void
    ) {
        var rest = bytes
        while !rest.isEmpty {
            let lineFeed = rest.firstIndex(of: 0x0A)
            keep(rest[rest.startIndex..<(lineFeed ?? rest.endIndex)], to: &output)
            guard let lineFeed else { return }
            finish(to: &output, body)
            rest = rest[(lineFeed + 1)...]
        }
    }

    /// Ends the line at hand.
    mutating func finish(to output: inout [UInt8], _ body: (ByteView, inout [UInt8]) -> Void) {
        if isTooLong {
            output.append(0x0A)
        } else {
            line.withUnsafeBufferPointer { body(ByteView($0), &output) }
        }
        line.removeAll(keepingCapacity: true)
        isTooLong = false
    }

    var isEmpty: Bool { line.isEmpty && !isTooLong }

    private mutating func keep(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
        if !isTooLong, line.count + bytes.count > maxBytes {
            isTooLong = true
            output += line
            line.removeAll()
        }
        if isTooLong { output += bytes } else { line += bytes }
    }
}

extension ByteView {
    /// The text without white space around it.
    package var withoutSpaces: ByteView {
        let start = JSONParts.skipWhiteSpace(in: self, from: 0)
        var end = count
        while end > start, ByteScan.isSpace(self[end - 1]) { end -= 1 }
        return self[start..<end]
    }
}

/// Text as a string of JSON, outside of all records.
func appendText(_ text: ByteView, to output: inout [UInt8]) {
    output += JSONValue.string(String(decoding: text.buffer.prefix(4_096), as: UTF8.self)).serialized().utf8
    output.append(0x0A)
}

/// Puts the text before the object on each line into the object.
package struct PrefixRewriter: TextRewriter {
    /// The attribute of the text, where its parts have no names.
    package static let attribute = "line_prefix"
    /// The name for the parts of a prefix that is dropped.
    package static let none = "none"

    private let names: [String]
    private let isDropped: Bool
    private let isWhole: Bool
    private var lines: LineGatherer

    init(names: [String]?, maxBytes: Int) {
        let given = names ?? [Self.attribute]
        self.names = given
        isDropped = given == [Self.none]
        isWhole = names == nil
        lines = LineGatherer(maxBytes: maxBytes)
    }

    mutating func add(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
        let this = self
        lines.add(bytes, to: &output) { this.append($0, to: &$1) }
    }

    mutating func finish(to output: inout [UInt8]) {
        let this = self
        guard !lines.isEmpty else { return }
        lines.finish(to: &output) { line, output in
            let brace = line.buffer.firstIndex(of: UInt8(ascii: "{"))
            guard let brace, Self.parts(of: line) == nil else { return this.append(line, to: &output) }
            // Its writer has not finished the line.
            output += line.buffer[brace...]
        }
    }

    private func append(_ line: ByteView, to output: inout [UInt8]) {
        defer { output.append(0x0A) }
        guard let (prefix, object) = Self.parts(of: line) else {
            output += line.buffer
            return
        }
        output.append(UInt8(ascii: "{"))
        if !isDropped { appendMembers(prefix, besides: object, to: &output) }
        let rest = object[JSONParts.skipWhiteSpace(in: object, from: 1)..<object.count]
        if rest[0] == UInt8(ascii: "}"), output.last == UInt8(ascii: ",") { output.removeLast() }
        output += rest.buffer
    }

    private func appendMembers(_ prefix: ByteView, besides object: ByteView, to output: inout [UInt8]) {
        let isTabbed = prefix.buffer.contains(0x09)
        func isSeparator(_ byte: UInt8) -> Bool { isTabbed ? byte == 0x09 : byte == 0x20 }
        let parts =
            isWhole
            ? [prefix.buffer[...]]
            : prefix.buffer.split(
                maxSplits: names.count - 1,
                omittingEmptySubsequences: !isTabbed,
                whereSeparator: isSeparator
            )
        for (name, part) in zip(names, parts) {
            output += Array(JSONValue.string(Self.free(name, besides: object)).serialized().utf8)
            output.append(UInt8(ascii: ":"))
            output += JSONValue.string(String(decoding: part, as: UTF8.self).trimmingBlanks).serialized().utf8
            output.append(UInt8(ascii: ","))
        }
    }

    /// A name, or one like it, that an object does not have as a key.
    package static func free(_ name: String, besides object: ByteView) -> String {
        var (free, number) = (name, 1)
        while contains(free, object) {
            number += 1
            free = "\(name)_\(number)"
        }
        return free
    }

    private static func contains(_ name: String, _ object: ByteView) -> Bool {
        let literal = Array(JSONValue.string(name).serialized().utf8)
        var cursor = JSONCursor(object)
        while let (key, _) = cursor.next() {
            if key?.buffer.elementsEqual(literal) == true { return true }
        }
        return false
    }

    /// The text before the object that a line ends with, and that object; nil where there is no such text, or no object.
    package static func parts(of line: ByteView) -> (prefix: ByteView, object: ByteView)? {
        let line = line.withoutSpaces
        guard line.count > 2, line[line.count - 1] == UInt8(ascii: "}") else { return nil }
        var start = 0
        if line[0] == UInt8(ascii: "{") {
            // The object that is the key of a message of Kafka's, and a tab.
            guard let end = JSONParts.endOfContainer(in: line, at: 0), end < line.count, line[end] == 0x09 else {
                return nil
            }
            start = end + 1
        }
        for _ in 0..<16 {
            guard let brace = line.buffer[start...].firstIndex(of: UInt8(ascii: "{")) else { return nil }
            if JSONParts.endOfContainer(in: line, at: brace) == line.count {
                let prefix = line[0..<brace].withoutSpaces
                // U+001E alone separates values.
                let isText = prefix.buffer.contains { $0 != 0x1E && !ByteScan.isSpace($0) }
                return isText ? (prefix, line[brace..<line.count]) : nil
            }
            start = brace + 1
        }
        return nil
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}

/// Takes the data out of server-sent events (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).
package struct EventRewriter: TextRewriter {
    private let wraps: Bool
    private let dropsText: Bool
    private var lines: LineGatherer
    /// The data of the event at hand; nil where it has none.
    private var data: [UInt8]?

    init(wraps: Bool, dropsText: Bool, maxBytes: Int) {
        self.wraps = wraps
        self.dropsText = dropsText
        lines = LineGatherer(maxBytes: maxBytes)
    }

    mutating func add(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
        var (gatherer, this) = (lines, self)
        gatherer.add(bytes, to: &output) { this.take($0, to: &$1) }
        (self, lines) = (this, gatherer)
    }

    mutating func finish(to output: inout [UInt8]) {
        var (gatherer, this) = (lines, self)
        if !gatherer.isEmpty { gatherer.finish(to: &output) { this.take($0, to: &$1) } }
        (self, lines) = (this, gatherer)
        end(to: &output)
    }

    private mutating func take(_ line: ByteView, to output: inout [UInt8]) {
        let text = line.withoutSpaces
        if text.count == 0 { return end(to: &output) }
        guard Self.field(of: line) == "data" else {
            if !dropsText { appendText(text, to: &output) }
            return
        }
        let value = text.count > 5 ? text[5..<text.count].withoutSpaces : text[0..<0]
        // After a whole object there is another event, also without a blank line between them.
        if data?.last == UInt8(ascii: "}"), data?.withUnsafeBufferPointer({ Self.isObject(ByteView($0)) }) == true {
            end(to: &output)
        }
        if data != nil { data?.append(0x0A) }
        data = (data ?? []) + value.buffer
    }

    /// Ends the event at hand.
    private mutating func end(to output: inout [UInt8]) {
        guard let bytes = data else { return }
        data = nil
        bytes.withUnsafeBufferPointer { buffer in
            let value = ByteView(buffer)
            guard Self.isObject(value) || (try? JSONValue(parsing: bytes)) != nil else {
                if !dropsText { appendText(value, to: &output) }
                return
            }
            if wraps { output.append(UInt8(ascii: "[")) }
            output += value.buffer.lazy.map { $0 == 0x0A ? 0x20 : $0 }
            if wraps { output.append(UInt8(ascii: "]")) }
            output.append(0x0A)
        }
    }

    /// True if a text is an object by its brackets.
    package static func isObject(_ text: ByteView) -> Bool {
        text.count > 1 && text[0] == UInt8(ascii: "{") && JSONParts.endOfContainer(in: text, at: 0) == text.count
    }

    /// The name of the field that a line is; empty for a comment, nil where it is none.
    package static func field(of line: ByteView) -> String? {
        let name = line.buffer.prefix { $0 != UInt8(ascii: ":") && $0 != 0x0D }
        let text = String(decoding: name.prefix(8), as: UTF8.self)
        guard ["data", "event", "id", "retry", ""].contains(text), name.count < line.count else { return nil }
        return text
    }
}

/// How deep in containers of JSON a text is, byte by byte.
struct BracketDepth {
    private(set) var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// True outside of all values and texts.
    var isClosed: Bool { depth == 0 && !isInString }

    /// Goes on by a byte.
    mutating func pass(_ byte: UInt8) {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
    }
}

/// Makes texts of what is around values.
package struct NoteRewriter: TextRewriter {
    private let wraps: Bool
    private let dropsText: Bool
    private var brackets = BracketDepth()
    /// The text of the line at hand that is outside of values.
    private var note: [UInt8] = []

    init(wraps: Bool, dropsText: Bool) {
        self.wraps = wraps
        self.dropsText = dropsText
    }

    mutating func add(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
        for byte in bytes {
            if brackets.depth > 0 {
                output.append(byte)
                brackets.pass(byte)
                if brackets.depth == 0, wraps { output.append(UInt8(ascii: "]")) }
            } else if byte == 0x0A {
                end(to: &output)
                output.append(byte)
            } else if note.isEmpty, byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
                if wraps { output.append(UInt8(ascii: "[")) }
                output.append(byte)
                brackets.pass(byte)
            } else if !(note.isEmpty && ByteScan.isSpace(byte)), note.count < 4_096 {
                note.append(byte)
            }
        }
    }

    mutating func finish(to output: inout [UInt8]) { end(to: &output) }

    private mutating func end(to output: inout [UInt8]) {
        guard !note.isEmpty else { return }
        if !dropsText { note.withUnsafeBufferPointer { appendText(ByteView($0).withoutSpaces, to: &output) } }
        note.removeAll()
    }
}
