import GRDB
import Synchronization

/// Brings a store's bookkeeping to the format that this program writes, in numbered steps.
///
/// The store's format is a number in `_import_meta`. GRDB's `DatabaseMigrator` is not used: it keeps a table of its own in
/// people's stores, by names and not by a number that a message can compare, and commits after each step.
///
/// Readers do not write: they read all formats from the first on. A step whose tables they cannot read in both forms has to
/// come with readers that can; `OlderStoreTests` runs them on stores of all formats.
final class Migrator: Sendable {
    struct Step: Sendable {
        /// The format that a store has after it.
        let format: Int64
        /// The texts of all tables that the step makes of nothing, by name; empty where they are not known.
        ///
        /// To have SQLite make the tables, to compare with, takes as long as all else that is read of a small store.
        let texts: [String: String]
        /// Must go by what the store holds in the format before, not by what later formats have.
        let change: @Sendable (Database) throws -> Void

        init(
            to format: Int64,
            texts: [String: String] = [:],
            _ change: @escaping @Sendable (Database) throws -> Void
        ) {
            self.format = format
            self.texts = texts
            self.change = change
        }
    }

    private let steps: [Step]
    /// What a store's tables are in each format; nil until it is asked for.
    private let known = Mutex<[Int64: [BookkeepingTable]]?>(nil)

    /// - Parameter steps: in order. The first makes the tables that are not there, and brings up all formats before.
    init(_ steps: [Step]) {
        self.steps = steps
    }

    /// The format that this program writes.
    var newestFormat: Int64 { steps.last?.format ?? 0 }

    /// Formats before this one were not frozen: a store of one may lack tables.
    private var firstFormat: Int64 { steps.first?.format ?? 0 }

    /// Makes the tables of the newest format, or brings those of an older format up, in the transaction that is open.
    ///
    /// - Throws: as `check` and the steps do; nothing is to be committed then.
    func bringUp(_ database: Database, store: String) throws {
        let format = try check(database, store: store)
        guard format < newestFormat else { return }
        for step in steps where step.format > format { try step.change(database) }
        try database.execute(
            sql: "INSERT OR REPLACE INTO _import_meta (key, value) VALUES ('format', ?)",
            arguments: [newestFormat]
        )
    }

    /// Makes sure that a store's tables are those of its format.
    ///
    /// - Returns: the format; 0 where the store has no bookkeeping.
    /// - Throws: `ImportError`: `.cannotCreate` when it is a newer one, `.badInput` when the tables are another's, `.io` when
    ///   the format is no number.
    @discardableResult
    func check(_ database: Database, store: String) throws -> Int64 {
        // Before anything is read: it may be a view, which never ends.
        let found = try BookkeepingTable.texts(database, store: store)
        guard !found.isEmpty else { return 0 }
        let format = try format(of: database, isThere: found["_import_meta"] != nil)
        guard format <= newestFormat else {
            throw ImportError(
                .formatTooNew,
                at: store,
                "has the format \(format), and this program knows formats up to \(newestFormat)",
                advice: "Use a newer version of the program."
            )
        }
        let expected = max(format, firstFormat)
        if let texts = steps.first(where: { $0.format == expected })?.texts, !texts.isEmpty,
            texts.allSatisfy({ found[$0.key] == $0.value })
        {
            return format
        }
        for table in try tables(of: expected) where found[table.name] != table.text {
            if format < firstFormat, found[table.name] == nil { continue }
            guard let text = found[table.name], try table.isLike(text, database) else {
                throw ImportError(
                    .storeForeign,
                    at: store,
                    "its table \(table.name) is not as this program makes it",
                    advice: "Import into another store."
                )
            }
        }
        return format
    }

    private func format(of database: Database, isThere: Bool) throws -> Int64 {
        guard isThere else { return 0 }
        let row = try BookkeepingRow.fetchOne(
            database,
            from: "_import_meta",
            sql: "SELECT value FROM _import_meta WHERE key = 'format'"
        )
        return try row?.number("value", in: 1...(.max)) ?? 0
    }

    /// The tables of a format; none for one that no step leads to.
    private func tables(of format: Int64) throws -> [BookkeepingTable] {
        try known.withLock { known in
            if known == nil { known = try madeTables() }
            return known?[format] ?? []
        }
    }

    /// What the steps make of nothing.
    private func madeTables() throws -> [Int64: [BookkeepingTable]] {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        return try DatabaseQueue(configuration: configuration).write { database in
            var tables: [Int64: [BookkeepingTable]] = [:]
            for step in steps {
                try step.change(database)
                tables[step.format] = try BookkeepingTable.all(database)
            }
            return tables
        }
    }
}
