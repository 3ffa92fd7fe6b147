import ImportModel

/// A value outside of the records whose bytes go by in blocks, and whether they are UTF-8.
struct UnmatchedText {
    /// Where the value is, as it is counted.
    let name: String
    /// Up to here its bytes have been seen, as an offset in the source.
    private(set) var position: Int64
    /// True if all of them are UTF-8 so far, but for `rest`.
    private var isValid = true
    /// The beginning of a character that continues in the next block.
    private var rest: [UInt8] = []

    /// A value whose first byte is at `position`.
    init(_ name: String, at position: Int64) {
        self.name = name
        self.position = position
    }

    /// Takes the bytes that come next.
    mutating func pass(_ bytes: ByteView) {
        position += Int64(bytes.count)
        guard isValid else { return }
        if rest.isEmpty { return check(bytes) }
        let joined = rest + bytes.buffer
        rest = []
        joined.withUnsafeBufferPointer { check(ByteView($0)) }
    }

    /// True if all bytes of the value, which has ended, are UTF-8.
    var isUTF8: Bool { isValid && rest.isEmpty }

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
