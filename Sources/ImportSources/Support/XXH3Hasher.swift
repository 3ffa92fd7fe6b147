import CXXHash

/// A running XXH3-64 of bytes that come in pieces.
///
/// Made, used and dropped by one thread.
package final class XXH3Hasher {
    /// The name under which manifests say what their checksums are.
    package static let name = "XXH3-64"

    private let state: OpaquePointer

    package init() {
        guard let state = XXH3_createState() else {
            // XXH3_createState fails only when malloc does.
            fatalError("out of memory")
        }
        self.state = state
        reset()
    }

    deinit {
        XXH3_freeState(state)
    }

    /// Forgets all bytes.
    package func reset() {
        XXH3_64bits_reset(state)
    }

    /// Takes `bytes` as the ones that come next.
    package func update(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else { return }
        XXH3_64bits_update(state, bytes.baseAddress, bytes.count)
    }

    /// Becomes what `other` is.
    package func copy(from other: XXH3Hasher) {
        XXH3_copyState(state, other.state)
    }

    /// The checksum of all bytes so far, as 16 hexadecimal digits; more bytes may follow.
    package var digest: String { Self.text(XXH3_64bits_digest(state)) }

    /// The checksum of `bytes` alone.
    package static func digest(of bytes: UnsafeRawBufferPointer) -> String {
        text(XXH3_64bits(bytes.baseAddress, bytes.count))
    }

    private static func text(_ hash: XXH64_hash_t) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
