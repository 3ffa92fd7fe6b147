import CNettle

/// A running SHA-256 (FIPS 180-4) of bytes that come in pieces, as Nettle computes it (`sha256_update`).
///
/// One owner creates, uses and drops it.
package struct SHA256: ~Copyable {
    /// The 32 bytes of a hash.
    package typealias Digest = SIMD32<UInt8>

    private var context = sha256_ctx()

    package init() {
        nettle_sha256_init(&context)
    }

    /// Accepts the message's next bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        nettle_sha256_update(&context, bytes.count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }

    /// The hash of the message, which ends here; the next bytes begin another.
    package mutating func finish() -> Digest {
        var digest = Digest()
        withUnsafeMutableBytes(of: &digest) {
            cnettle_sha256_digest(&context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
        return digest
    }
}

extension String {
    /// The SHA-256 of the text's UTF-8, 32 bytes.
    package var sha256: [UInt8] {
        var hash = SHA256()
        Array(utf8).withUnsafeBytes { hash.update($0) }
        let digest = hash.finish()
        return digest.indices.map { digest[$0] }
    }
}
