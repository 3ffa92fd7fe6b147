import CXXHash
import GRDBSQLite

extension RowKey {
    /// The name of the SQL function whose value is a digest of its arguments, of 16 bytes: XXH3 with a seed of this process, so that
    /// no values can be made to have the digest of others.
    static let digestFunction = "import_digest"
    private static let seed = UInt64.random(in: .min ... .max)

    /// Gives a connection that function (`sqlite3_create_function_v2`).
    ///
    /// - Throws: `DatabaseError`.
    static func addDigestFunction(to connection: OpaquePointer) throws {
        let code = sqlite3_create_function_v2(
            connection,
            digestFunction,
            -1,
            SQLITE_UTF8 | SQLITE_DETERMINISTIC,
            nil,
            { context, count, values in
                var key = RowKey()
                for index in 0..<Int(count) { key.append(values?[index]) }
                var digest = key.bytes.withUnsafeBytes {
                    XXH3_128bits_withSeed($0.baseAddress, $0.count, RowKey.seed)
                }
                withUnsafeBytes(of: &digest) {
                    sqlite3_result_blob(context, $0.baseAddress, Int32(clamping: $0.count), SQLiteBytes.copied)
                }
            },
            nil,
            nil,
            nil
        )
        guard code == SQLITE_OK else { throw connection.lastError }
    }
}
