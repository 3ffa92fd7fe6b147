import ImportModel

/// A value outside of the records whose bytes go by in blocks: whether they are UTF-8, and what they are as JSON.
struct UnmatchedText {
    /// Where the value is, as it is counted.
    let name: String
    /// Up to here its bytes have been seen, as an offset in the source.
    private(set) var position: Int64
    /// True if all of them are UTF-8 so far, but for `rest`.
    private var isValid = true
    /// The beginning of a character that continues in the next block.
    private var rest: [UInt8] = []
    private let start: Int64
    /// True if it is a member, whose key comes first.
    private let isMember: Bool
    /// Its bytes; nil where they are more than can be kept.
    private var content: [UInt8]?
    private let room: Int

    /// A value whose first byte is at `position`.
    ///
    /// - Parameters:
    ///   - isMember: whether it begins with its key.
    ///   - room: how many bytes of it can be kept; 0 for none.
    init(_ name: String, at position: Int64, isMember: Bool, room: Int) {
        self.name = name
        self.position = position
        start = position
        self.isMember = isMember
        self.room = room
        content = room > 0 ? [] : nil
    }

    /// Takes the bytes that come next.
    mutating func pass(_ bytes: ByteView) {
        position += Int64(bytes.count)
        keep(bytes)
        guard isValid else { return }
        if rest.isEmpty { return check(bytes) }
        let joined = rest + bytes.buffer
        rest = []
        joined.withUnsafeBufferPointer { check(ByteView($0)) }
    }

    /// True if all bytes of the value, which has ended, are UTF-8.
    var isUTF8: Bool { isValid && rest.isEmpty }

    private mutating func keep(_ bytes: ByteView) {
        guard let count = content?.count else { return }
        if count + bytes.count > room { content = nil } else { content?.append(contentsOf: bytes.buffer) }
    }

    /// The value, which has ended; nil where it is not UTF-8, more than can be kept, or nested more deeply.
    var value: OutsideValue? {
        guard isUTF8, let content else { return nil }
        var json: [UInt8] = []
        content.withUnsafeBufferPointer { JSONMinify.appendLenient(ByteView($0), to: &json) }
        if isMember {
            let end = json.withUnsafeBufferPointer { JSONSyntax.endOfString(in: ByteView($0), at: 0) }
            json.removeFirst(min(end + 1, json.count))
        }
        let value = OutsideValue(path: name, byteOffset: start, json: String(decoding: json, as: UTF8.self))
        return value.value == nil ? nil : value
    }

    private mutating func check(_ bytes: ByteView) {
        guard let place = UTF8Validation.firstInvalid(in: bytes) else { return }
        // A character of up to four bytes may continue.
        let tail = Array(bytes[place..<bytes.count].buffer.prefix(4))
        isValid = tail.count < 4 && Self.mayBegin(tail)
        if isValid { rest = tail }
    }

    /// True if more bytes can make a character of these, which are not one.
    private static func mayBegin(_ bytes: [UInt8]) -> Bool {
        // The lowest and the highest that may follow decide for all between.
        let continuations: [UInt8] = [0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF]
        return continuations.contains { next in
            (0...2).contains { more in
                let character: [UInt8] = bytes + [next] + Array(repeating: 0x80, count: more)
                return character.withUnsafeBufferPointer { UTF8Validation.firstInvalid(in: ByteView($0)) == nil }
            }
        }
    }
}
