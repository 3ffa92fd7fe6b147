import Foundation

/// A gzip file whose bytes are stored, not compressed (RFC 1952, RFC 1951 3.2.4): readers treat it as any other.
enum StoredGzip {
    private static let mostBlockBytes = 0xFFFF

    static func data(_ bytes: [UInt8]) -> Data {
        var data = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
        var start = 0
        repeat {
            let end = min(start + mostBlockBytes, bytes.count)
            let count = UInt16(end - start)
            data.append(end == bytes.count ? 1 : 0)
            append(count, to: &data)
            append(~count, to: &data)
            data.append(contentsOf: bytes[start..<end])
            start = end
        } while start < bytes.count
        append(checksum(bytes), to: &data)
        append(UInt32(truncatingIfNeeded: bytes.count), to: &data)
        return data
    }

    private static func append(_ number: some FixedWidthInteger, to data: inout Data) {
        withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
    }

    /// CRC-32, bit by bit.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
