import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// The tables that an undo may touch: those of the log, and those whose rows may go with rows of these.
package struct UndoSchema {
    /// Those that are in the log first.
    package private(set) var tables: [UndoTable] = []
    private var places: [BytewiseString: Int] = [:]
    /// How many tables the log has.
    let loggedCount: Int
    /// The tables of which all rows are the job's.
    package let whole: Set<BytewiseString>

    /// - Parameter job: the one that is undone.
    /// - Throws: `ImportError` where a table of the log is not as it was.
    package init(undoing job: Int64, _ side: ComparedSchema, _ database: Database) throws {
        let keys = try StoredForeignKey.all(database)
        let partial = try UndoLog.tables(of: job, isWhole: false, database)
        let whole = try UndoLog.tables(of: job, isWhole: true, database)
        self.whole = Set(whole.map { ExistingEntity.folded($0.name) })
        let touched = try Self.touched(by: job, database)
        let logged = (partial + whole).filter { touched.contains(BytewiseString($0.name)) }
        loggedCount = logged.count
        for table in logged { try add(table, side, keys, database) }
        var next = 0
        while next < tables.count {
            for key in tables[next].referring where places[ExistingEntity.folded(key.table)] == nil {
                try add(TrackedTable(key.table, database), side, keys, database)
            }
            next += 1
        }
    }

    private mutating func add(
        _ table: TrackedTable,
        _ side: ComparedSchema,
        _ keys: [StoredForeignKey],
        _ database: Database
    ) throws {
        places[ExistingEntity.folded(table.name)] = tables.count
        tables.append(try UndoTable(table, side, keys, database))
    }

    package func place(of table: String) -> Int? { places[ExistingEntity.folded(table)] }

    /// The tables of which a log has anything.
    private static func touched(by job: Int64, _ database: Database) throws -> Set<BytewiseString> {
        let names = try BookkeepingRow.fetchAll(
            database,
            from: "_import_undo_table",
            sql: """
                SELECT table_name FROM _import_undo_table AS own WHERE job = :job AND (
                    is_whole OR EXISTS (SELECT 1 FROM _import_undo WHERE job = :job AND table_name = own.table_name)
                    OR EXISTS (SELECT 1 FROM _import_undo_range WHERE job = :job AND table_name = own.table_name)
                )
                """,
            arguments: ["job": job]
        )
        return Set(try names.map { BytewiseString(try $0.text("table_name")) })
    }
}
