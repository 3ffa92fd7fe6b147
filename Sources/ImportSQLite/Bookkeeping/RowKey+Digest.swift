import CXXHash
import GRDBSQLite

extension RowKey {
    /// The name of the SQL function whose value is a digest of its arguments, of 16 bytes: XXH3 with a seed of this process, so that
    /// no values can be made to have the digest of others.
    package static let digestFunction = "import_digest"
    package static let seed = UInt64.random(in: .min ... .max)

    /// Gives a connection that function.
    ///
    /// - Throws: `DatabaseError`.
    package static func addDigestFunction(to connection: OpaquePointer) throws {
        try add(digestFunction, to: connection) { context, count, values in
            let digest = RowKey(count, values).bytes.withUnsafeBytes {
                XXH3_128bits_withSeed($0.baseAddress, $0.count, RowKey.seed)
            }
            withUnsafeBytes(of: digest) { RowKey.give(Array($0), to: context) }
        }
    }
}
