import Importer

/// A check, a table, or a note of a job that is not finished, as `verify --json` prints it.
struct CheckJSON: Encodable {
    let name: String
    let holds: Bool
    let detail: String
    /// `true` for what is no failure but worth knowing, else left out.
    var note: Bool?
    /// Of a table: rows that others have deleted, added and changed since, and how many were compared.
    var deleted: Int64?
    var added: Int64?
    var changed: Int64?
    var compared: Int64?

    init(_ check: StoreInspection.Check) {
        name = check.name
        holds = check.holds
        detail = check.detail
    }

    /// - Parameter isStrict: whether what others have done is a failure.
    init(_ table: StoreInspection.TableComparison, isStrict: Bool) {
        name = "table \(table.table): has every row that was inserted, and no other"
        holds = table.isUntouched || !isStrict
        detail = CheckText.facts(table)
        note = table.isUntouched ? nil : true
        deleted = table.deleted
        added = table.added
        changed = table.changed
        compared = table.compared
    }

    init(unfinished job: ImportReport) {
        name = "job \(job.job): is not finished"
        holds = true
        detail = UnfinishedText.standing(job)
        note = true
    }
}
