import GRDB
import GRDBSQLite
import ImportModel

/// The indexes of lists, while records are appended.
///
/// Objects mostly come in the order of their integer keys, or get such keys as they come. What is nested in them then comes in the
/// order of its index, which takes less to keep up than to sort at the end. It takes many times as long in another order: so
/// an index goes as soon as there is one, and is built at the end. Belongs to one connection; used inside of its transactions only.
package final class ListIndexes {
    private struct MaintainedIndex {
        let name: String
        let table: String
        /// The key of the object around the last row.
        let lastKey: OpaquePointer?
        /// The one before the batch at hand; nil without any rows.
        var before: Int64?
    }

    private let database: Database
    private let connection: OpaquePointer
    private var maintained: [MaintainedIndex] = []

    /// Those of a model's tables that are there.
    package init(_ database: Database, _ layout: ModelLayout) throws {
        let connection = try database.handle
        self.database = database
        self.connection = connection
        for table in layout.tables {
            for index in Self.all(of: table) {
                guard let name = try StoreSchema.ownIndex(on: index.columns, table.name, database) else { continue }
                let lastKey = try connection.prepare(
                    "SELECT \(index.columns[0].quotedIdentifier) FROM \(table.name.quotedIdentifier) ORDER BY rowid DESC LIMIT 1"
                )
                maintained.append(MaintainedIndex(name: name, table: table.name, lastKey: lastKey))
            }
        }
    }

    deinit {
        for index in maintained { sqlite3_finalize(index.lastKey) }
    }

    /// Those of a table: of rows that are told apart by their places in the lists of objects with integer keys.
    package static func all(of table: TableDescription) -> [TableDescription.Index] {
        table.indexes.filter { index in
            guard index.isUnique, !index.isIdentifier, index.columns.count == 2,
                let reference = table.column(index.columns[0]), let position = table.column(index.columns[1])
            else { return false }
            return reference.role == .reference && position.role == .position
                && [.integer16, .integer32, .integer64].contains(reference.attribute.type)
        }
    }

    /// Begins a batch.
    package func begin() throws {
        for place in maintained.indices { maintained[place].before = try lastKey(maintained[place]) }
    }

    /// Removes those in whose order the rows of the batch have not come.
    package func end(job: Int64) throws {
        for index in maintained {
            guard let before = index.before, let last = try lastKey(index), last < before else { continue }
            // Another worker may have removed it already.
            try database.execute(sql: "DROP INDEX IF EXISTS \(index.name.quotedIdentifier)")
            try SchemaAdditions.forget(.index, index.name, of: index.table, job: job, database)
        }
    }

    private func lastKey(_ index: MaintainedIndex) throws -> Int64? {
        defer { sqlite3_reset(index.lastKey) }
        switch sqlite3_step(index.lastKey) {
        case SQLITE_DONE: return nil
        case SQLITE_ROW:
            let isNull = sqlite3_column_type(index.lastKey, 0) == SQLITE_NULL
            return isNull ? nil : sqlite3_column_int64(index.lastKey, 0)
        default: throw connection.lastError
        }
    }
}
