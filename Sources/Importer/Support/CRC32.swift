/// The checksum of gzip members (RFC 1952 §8), as libarchive does not look at it.
struct CRC32 {
    /// The checksum of the bytes so far.
    var value: UInt32 { ~register }

    private var register: UInt32 = ~0

    /// Takes more bytes, eight at a time.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var crc = register
        Self.tables.withUnsafeBufferPointer { tables in
            var index = 0
            while index + 8 <= bytes.count {
                let word =
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ UInt64(crc)
                crc = 0
                for place in 0..<8 {
                    let byte = Int(truncatingIfNeeded: word &>> (8 &* UInt64(place))) & 0xFF
                    crc ^= tables[(7 &- place) &* 256 &+ byte]
                }
                index &+= 8
            }
            while index < bytes.count {
                crc = (crc &>> 8) ^ tables[Int(UInt8(truncatingIfNeeded: crc) ^ bytes[index])]
                index &+= 1
            }
        }
        register = crc
    }

    /// Eight tables of 256: what a byte does to the register when 0 to 7 bytes follow it.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var crc = UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
            tables[byte] = crc
        }
        for index in 256..<8 * 256 {
            let before = tables[index - 256]
            tables[index] = (before >> 8) ^ tables[Int(before & 0xFF)]
        }
        return tables
    }()
}
