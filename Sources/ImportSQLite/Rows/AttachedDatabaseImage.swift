import GRDB
import GRDBSQLite
import ImportEngine

/// The place of a connection's where a batch's image is while its rows are copied: a database of that connection
/// alone (<https://www.sqlite.org/lang_attach.html>).
final class AttachedDatabaseImage {
    /// Its name in SQL.
    static let name = "_import_batch"

    private let connection: OpaquePointer
    /// Stands there between the batches, so that SQLite never looks at memory that is in use elsewhere.
    private let empty: DatabaseImage

    /// - Parameter database: an open connection outside of transactions; this must live until it is closed.
    /// - Throws: `DatabaseError`.
    init(_ database: Database, _ schema: DatabaseImageSchema) throws {
        self.connection = try database.handle
        empty = DatabaseImage(schema)
        try UntrustedStoreGuard.attachingOne(database) {
            // Images are read where they are, and not copied page by page into a cache; the store and its cache stay as they
            // are. A connection's limit is that of the databases that it opens from then on.
            try database.execute(
                sql: """
                    PRAGMA mmap_size = \(Int32.max);
                    PRAGMA main.mmap_size = 0;
                    ATTACH ':memory:' AS \(Self.name)
                    """
            )
        }
        try show(empty)
    }

    /// Lets the connection read a batch's image meanwhile, if it has one.
    ///
    /// - Parameters:
    ///   - batch: whose image has the same schema. It is borrowed until SQLite no longer sees the image, so nothing can
    ///     change it before.
    ///   - body: what reads it; in transactions of its own, which it ends.
    /// - Throws: what `body` throws; `DatabaseError` where the image cannot be shown, or not be taken away afterwards, for
    ///   lack of memory.
    func showing(_ batch: borrowing DecodedBatch, _ body: () throws -> Void) throws {
        guard let image = batch.layout, !image.isEmpty else { return try body() }
        try show(image)
        do {
            try body()
        } catch {
            try? show(empty)
            throw error
        }
        try show(empty)
    }

    /// The statement that inserts all rows of one of an image's tables.
    ///
    /// - Parameters:
    ///   - values: what each column gets; nil to copy rows as they are.
    static func insertion(of index: Int32, into table: String, _ columns: [String], _ values: [String]?) -> String {
        let image = "\(name).\(DatabaseImageSchema.table(index))"
        let insert = "INSERT OR ABORT INTO main.\(table.quotedIdentifier)"
        guard let values else { return "\(insert) SELECT * FROM \(image)" }
        let columns = columns.map(\.quotedIdentifier).joined(separator: ", ")
        return "\(insert) (\(columns)) SELECT \(values.joined(separator: ", ")) FROM \(image)"
    }

    /// Makes SQLite read an image where it is (`sqlite3_deserialize`), and never write to it.
    ///
    /// The statements that are prepared stay so: images differ by their rows only, and their schemas have the same cookie.
    /// Where SQLite prepared them again nevertheless, that would cost time, and change nothing.
    private func show(_ image: DatabaseImage) throws {
        let bytes = image.bytes
        let count = Int64(bytes.count)
        let code = sqlite3_deserialize(
            connection,
            Self.name,
            bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
            count,
            count,
            UInt32(SQLITE_DESERIALIZE_READONLY)
        )
        guard code == SQLITE_OK else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: String(cString: sqlite3_errmsg(connection))
            )
        }
    }
}
