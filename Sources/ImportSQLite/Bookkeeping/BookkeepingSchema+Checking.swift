import GRDB
import ImportSources

extension BookkeepingSchema {
    /// True if a table has any rows.
    package static func hasRows(_ table: String, _ database: Database) throws -> Bool {
        try database.exists("SELECT 1 FROM \(table.quotedIdentifier)")
    }

    /// Makes the bookkeeping tables that are not there, in the transaction that is open.
    ///
    /// - Parameter all: for a job that is more than an import; else those that each store has.
    /// - Throws: `ImportError` as `checkFormat` does.
    package static func prepareBookkeeping(_ database: Database, store: String, all: Bool = false) throws {
        let isNew = try checkFormat(database, store: store) == nil
        try all ? makeAll(database) : make(lasting, database)
        if isNew {
            try database.execute(
                sql: "INSERT INTO _import_meta (key, value) VALUES ('format', ?)",
                arguments: [BookkeepingSchema.format]
            )
        }
        try MergeLog.prepare(database)
    }

    /// Makes sure that a store's bookkeeping is what this program makes.
    ///
    /// - Returns: the format; nil where the store has no bookkeeping.
    /// - Throws: `ImportError`: `.cannotCreate` when the store is of another format, `.badInput` when its tables are another's,
    ///   `.io` when its format is no number.
    @discardableResult
    package static func checkFormat(_ database: Database, store: String) throws -> Int64? {
        // Before anything is read: it may be a view, which never ends.
        let found = try BookkeepingTable.texts(database, store: store)
        guard found.keys.contains(where: { BookkeepingSchema.texts[$0] != nil }) else { return nil }
        if found["_import_meta"] != nil, case let format = try format(database), format != BookkeepingSchema.format {
            throw ImportError(
                .formatUnknown,
                at: store,
                "its bookkeeping has the format \(format), and this program knows the format \(BookkeepingSchema.format)",
                advice: "Use the version of the program that made it, or import the sources into another store."
            )
        }
        for (name, text) in BookkeepingSchema.texts.sorted(by: { $0.key < $1.key }) {
            guard found[name] != text, found[name] != nil || BookkeepingSchema.lasting.contains(name) else { continue }
            throw ImportError(
                .storeForeign,
                at: store,
                "its table \(name) is not as this program makes it",
                advice: "Import into another store."
            )
        }
        return BookkeepingSchema.format
    }

    /// The format of the bookkeeping; 0 where it says none.
    private static func format(_ database: Database) throws -> Int64 {
        try BookkeepingRow.fetchOne(
            database,
            from: "_import_meta",
            sql: "SELECT value FROM _import_meta WHERE key = 'format'"
        )?.number("value", in: 1...(.max)) ?? 0
    }
}
