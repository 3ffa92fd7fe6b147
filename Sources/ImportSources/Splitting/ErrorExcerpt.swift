/// The bytes around an offset, for messages: it remembers the end of the blocks that are gone.
struct ErrorExcerpt {
    /// How much text a message shows, in bytes.
    static let excerptLength = 60

    private var recent: [UInt8] = []

    /// Remembers the end of a block that goes.
    mutating func leave(_ block: UnsafePointer<UInt8>, _ count: Int) {
        let kept = min(count, Self.excerptLength)
        recent.append(contentsOf: UnsafeBufferPointer(start: block + (count - kept), count: kept))
        recent.removeFirst(max(0, recent.count - Self.excerptLength))
    }

    /// Forgets the last `count` bytes: they come again.
    mutating func rewind(_ count: Int) { recent.removeLast(min(count, recent.count)) }

    /// The text around an offset, with control characters escaped.
    ///
    /// - Parameters:
    ///   - offset: in the source.
    ///   - block: the block at hand.
    ///   - base: the block's offset in the source.
    /// - Returns: at most `excerptLength` bytes of the source as text.
    func excerpt(around offset: Int64, in block: UnsafeBufferPointer<UInt8>, base: Int64) -> String {
        let bytes = recent + block.prefix(max(0, Int(offset - base)) + Self.excerptLength)
        let place = recent.count + Int(offset - base)
        guard place >= 0, place <= bytes.count else { return "" }
        let after = min(Self.excerptLength / 2, bytes.count - place)
        let before = min(Self.excerptLength - after, place)
        return Self.printable(bytes[place - before..<place + after])
    }

    /// Bytes as text that a terminal can be sent.
    static func printable(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        for scalar in String(decoding: Array(bytes), as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20 || isInvisible(scalar):
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x7F...0x9F, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF: true
        default: false
        }
    }
}
