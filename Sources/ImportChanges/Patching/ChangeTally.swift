import ImportEngine
import ImportModel

/// What changes come to, as far as can be said before any is made.
struct ChangeTally {
    private var entities: [String: ImportReport.Counts] = [:]
    private var deleted: Int64 = 0
    private var conflicts: Int64 = 0
    private var list: [PatchConflict] = []

    /// Counts a line of a change set.
    mutating func add(_ change: ObjectChange, _ plan: ChangePlan) {
        guard !change.isContinued else { return note(plan.conflicts) }
        add(change.entity, plan.isRejected ? .rejected : .done(plan.outcome(change.kind)), plan.conflicts)
    }

    mutating func add(_ entity: String, _ outcome: PatchCounts.Outcome, _ found: [PatchConflict]) {
        note(found)
        var counts = ImportReport.Counts()
        counts.recordsRead = 1
        switch outcome {
        case .rejected: counts.rejected = 1
        case .done(.inserted): counts.inserted = 1
        case .done(.updated): counts.updated = 1
        case .done(.deleted): deleted += 1
        case .done(.unchanged): counts.unchanged = 1
        case .done(.ignored): counts.ignored = 1
        }
        entities[entity, default: ImportReport.Counts()].add(counts)
    }

    private mutating func note(_ found: [PatchConflict]) {
        conflicts += Int64(found.count)
        if list.count < PatchConflict.mostListed { list += found.prefix(PatchConflict.mostListed - list.count) }
    }

    func report(_ source: String) -> ImportReport {
        var report = ImportReport(state: .failed, job: 0, entities: entities, sources: [source])
        report.deleted = deleted
        report.conflicts = conflicts
        report.conflictList = list
        return report
    }
}
