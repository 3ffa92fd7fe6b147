/// A bit for each of 65,536 row ids that follow one another.
package struct RowIDBitmapPage: Equatable {
    /// How many bits of a row id say where it is in its page.
    package static let width: Int64 = 16
    private static let wordCount = 1024
    /// As a list, more of them would take more room than the bits.
    private static let mostListed = 4096

    private enum Kind: UInt8 {
        /// Two bytes for each, in order.
        case list
        case bits
    }

    private var words = [UInt64](repeating: 0, count: Self.wordCount)

    package init() {}

    /// Reads what `bytes` writes; nil where it is something else.
    package init?(_ bytes: [UInt8]) {
        guard let kind = bytes.first.flatMap(Kind.init) else { return nil }
        switch kind {
        case .list:
            guard bytes.count % 2 == 1 else { return nil }
            for index in stride(from: 1, to: bytes.count, by: 2) {
                insert(UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)
            }
        case .bits:
            guard bytes.count == 1 + 8 * Self.wordCount else { return nil }
            for index in words.indices {
                words[index] = bytes[(1 + 8 * index)..<(9 + 8 * index)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            }
        }
    }

    /// The page as a blob.
    package var bytes: [UInt8] {
        let count = count
        var bytes: [UInt8] = []
        if count <= Self.mostListed {
            bytes.reserveCapacity(1 + 2 * count)
            bytes.append(Kind.list.rawValue)
            for offset in offsets {
                bytes.append(UInt8(truncatingIfNeeded: offset))
                bytes.append(UInt8(truncatingIfNeeded: offset >> 8))
            }
        } else {
            bytes.reserveCapacity(1 + 8 * Self.wordCount)
            bytes.append(Kind.bits.rawValue)
            for word in words { withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) } }
        }
        return bytes
    }

    /// How many bits are set.
    package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// Which bits are set, in order.
    package var offsets: [UInt16] {
        var offsets: [UInt16] = []
        for (index, word) in words.enumerated() where word != 0 {
            var rest = word
            while rest != 0 {
                offsets.append(UInt16(truncatingIfNeeded: index << 6 | rest.trailingZeroBitCount))
                rest &= rest &- 1
            }
        }
        return offsets
    }

    /// The bits that are not set in another one.
    package func subtracting(_ other: RowIDBitmapPage) -> RowIDBitmapPage {
        var page = self
        for index in words.indices { page.words[index] &= ~other.words[index] }
        return page
    }

    package func contains(_ offset: UInt16) -> Bool { words[Int(offset >> 6)] & (1 << UInt64(offset & 63)) != 0 }

    package mutating func insert(_ offset: UInt16) { words[Int(offset >> 6)] |= 1 << UInt64(offset & 63) }

    package mutating func insert(_ offsets: ClosedRange<UInt16>) {
        let (first, last) = (Int(offsets.lowerBound >> 6), Int(offsets.upperBound >> 6))
        for index in first...last {
            var word = UInt64.max
            if index == first { word &= .max << UInt64(offsets.lowerBound & 63) }
            if index == last { word &= .max >> UInt64(63 - offsets.upperBound & 63) }
            words[index] |= word
        }
    }

    /// Takes out all that come after one.
    package mutating func remove(after offset: UInt16) {
        let index = Int(offset >> 6)
        words[index] &= .max >> UInt64(63 - offset & 63)
        for next in words.indices where next > index { words[next] = 0 }
    }
}
