/// Numbers of seven bits a byte, the lowest first (LEB128): small ones take little; and bytes, after their number.
package struct LEB128Buffer {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Adds a number.
    package mutating func append(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Adds a number of either sign; small ones are short.
    package mutating func appendSigned(_ number: Int64) {
        append(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
    }

    /// Adds bytes, after how many they are.
    package mutating func append(_ content: some Collection<UInt8>) {
        append(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    /// Forgets all numbers, and keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Reads numbers in their order.
    package struct Reader {
        private let bytes: [UInt8]
        private var place = 0

        package init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        package var bytesLeft: Int { bytes.count - place }

        /// The next number; nil where there is none, or one that is larger than any that was added.
        package mutating func next() -> UInt64? {
            var (number, shift): (UInt64, UInt64) = (0, 0)
            while place < bytes.count, shift < 64 {
                let byte = bytes[place]
                place += 1
                number |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return number }
                shift += 7
            }
            return nil
        }

        /// The next number of either sign.
        package mutating func nextSigned() -> Int64? {
            next().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
        }

        /// The next bytes; nil where there are fewer than their number says.
        package mutating func nextBytes() -> ArraySlice<UInt8>? {
            guard let count = next(), count <= UInt64(bytesLeft) else { return nil }
            defer { place += Int(count) }
            return bytes[place..<place + Int(count)]
        }
    }
}
