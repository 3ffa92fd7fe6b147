import GRDB
import ImportEngine
import ImportModel
import ImportSources

extension UndoLog {
    /// The tables of a job's log that were empty when it began, so that all of their rows are the job's; in lower case.
    package static func whole(of job: Int64, _ database: Database) throws -> Set<BytewiseString> {
        let names = try BookkeepingRow.all(database, "table_name", from: "_import_undo_table", of: job, "AND is_whole")
        return Set(try names.map { ExistingEntity.folded(try $0.text("table_name")) })
    }
}
