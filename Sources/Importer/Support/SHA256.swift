import CCrypto

/// A running SHA-256 (FIPS 180-4) of bytes that come in pieces, as libcrypto computes it.
///
/// One owner creates, uses and drops it. Keep one for many messages: creating it looks the algorithm up.
struct SHA256: ~Copyable {
    /// The 32 bytes of a hash.
    typealias Digest = SIMD32<UInt8>

    private let context: OpaquePointer

    /// - Throws: `ImportError` with `.noResources` when libcrypto provides none, as where OpenSSL's configuration disables
    ///   its algorithms.
    init() throws {
        guard let algorithm = EVP_MD_fetch(nil, "SHA256", nil) else { throw Self.unavailable() }
        // The context keeps the algorithm for itself.
        defer { EVP_MD_free(algorithm) }
        guard let context = EVP_MD_CTX_new() else { throw Self.unavailable() }
        guard EVP_DigestInit_ex2(context, algorithm, nil) == 1 else {
            EVP_MD_CTX_free(context)
            throw Self.unavailable()
        }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Accepts the message's next bytes.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        Self.check(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count))
    }

    /// The hash of the message, which ends here; the next bytes begin another.
    mutating func finish() -> Digest {
        var digest = Digest()
        let isMade = withUnsafeMutableBytes(of: &digest) { EVP_DigestFinal_ex(context, $0.baseAddress, nil) }
        Self.check(isMade)
        Self.check(EVP_DigestInit_ex2(context, nil, nil))
        return digest
    }

    private static func check(_ result: Int32) {
        // With a context that is ready, it fails only when malloc does.
        guard result == 1 else { fatalError("out of memory") }
    }

    private static func unavailable() -> ImportError {
        let reason = ERR_reason_error_string(ERR_peek_last_error()).map { ": " + String(cString: $0) } ?? ""
        ERR_clear_error()
        return ImportError(
            .noResources,
            "libcrypto provides no SHA-256 for generated identifiers\(reason)",
            advice: """
                Check OpenSSL's configuration (openssl.cnf, or the file that OPENSSL_CONF names). Then run the same command \
                again: it resumes where it stopped.
                """
        )
    }
}
