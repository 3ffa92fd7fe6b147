import ImportModel

/// A fast hash of bytes that is the same in every process.
///
/// It is not for secrets, and not against malice: anyone who uses it compares the bytes as well, or bounds what a collision can do.
@usableFromInline package enum ByteHash {
    @inlinable package static var multiplier: UInt64 { 0x9E37_79B9_7F4A_7C15 }

    /// Hashes `bytes`; different seeds give unrelated hashes.
    @inline(__always)
    @inlinable package static func hash(_ bytes: ByteView, seed: UInt64) -> UInt64 {
        let base = UnsafeRawPointer(bytes.base)
        var hash = mix(seed &+ UInt64(truncatingIfNeeded: bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = mix(hash ^ base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var tail: UInt64 = 0
        while offset < bytes.count {
            tail = tail << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return mix(mix(hash ^ tail))
    }

    /// Hashes a number.
    @inline(__always)
    @inlinable package static func hash(_ value: Int64, seed: UInt64) -> UInt64 {
        mix(mix(seed) ^ mix(UInt64(bitPattern: value)))
    }

    @inline(__always)
    @inlinable package static func mix(_ value: UInt64) -> UInt64 {
        let product = (value ^ 0xD6E8_FEB8_6659_FD93).multipliedFullWidth(by: multiplier)
        return product.high ^ product.low
    }
}
