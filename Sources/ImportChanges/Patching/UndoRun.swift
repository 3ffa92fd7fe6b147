import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Takes back what a job has done, in one transaction.
final class UndoRun: ChangeRun {
    let job: StoredJob
    private let undone: Int64
    private let options: PatchOptions
    private let session: StoreSession
    private let context: RunContext
    private let secondsBefore: Double
    private let started = ContinuousClock.now

    var seconds: Double { secondsBefore + (ContinuousClock.now - started).inSeconds }

    init(_ session: StoreSession, _ job: StoredJob, _ context: RunContext) throws {
        guard let change = job.change, let undone = change.undoes else {
            throw ImportError(.fault, at: session.store, "an undo without a job")
        }
        self.session = session
        self.job = job
        self.context = context
        self.undone = undone
        options = change.options
        secondsBefore = try session.marker(of: job).seconds
    }

    static func schema(undoing job: Int64, store: String, _ database: Database) throws -> UndoSchema {
        try UndoSchema(undoing: job, ComparedSchema(store, database, identifiers: [:]), database)
    }

    func tables(_ database: Database) throws -> [String] {
        try Self.schema(undoing: undone, store: session.store, database).tables.map(\.name)
    }

    func apply() throws {
        try ImportError.explaining(session.store) {
            try session.database.inDatabase { database in
                // What they did then is in the log.
                try UntrustedStoreGuard.setTriggers(false, database)
                defer { try? UntrustedStoreGuard.setTriggers(true, database) }
                let log = try UndoLog(job: job.id, tellsRows: true, database)
                defer { try? log.end(database) }
                if let notification = try apply(log, database) { context.merges.enqueue(notification) }
            }
        }
    }

    private func apply(_ log: UndoLog, _ database: Database) throws -> MergeNotification? {
        var unchanged: UndoApplier.UnchangedRows = [:]
        while true {
            do {
                var notification: MergeNotification?
                try database.inTransaction(.immediate) {
                    notification = try commit(log, keeping: unchanged, database)
                    return .commit
                }
                return notification
            } catch let again as UndoApplier.MoreUnchangedRows {
                unchanged.merge(again.unchanged) { own, _ in own }
                let stops = again.unchanged.values.compactMap(\.self).filter {
                    options.policy(of: $0.entity, $0.attribute) == .stop
                }
                if !stops.isEmpty { throw ConflictStop(conflicts: stops) }
            }
        }
    }

    private func commit(
        _ log: UndoLog,
        keeping unchanged: UndoApplier.UnchangedRows,
        _ database: Database
    ) throws -> MergeNotification? {
        var marker = try Marker(database, job: job.id) ?? Marker()
        guard marker.source == 0 else { return nil }
        let schema = try Self.schema(undoing: undone, store: session.store, database)
        var records: Int64 = 0
        let applier = try UndoApplier(
            undone,
            keeping: unchanged,
            schema,
            try PatchStatements(database),
            options,
            store: session.store
        ) { [context] in
            try context.interruption.check()
            records += 1
            guard records % 1_024 == 0 else { return }
            context.progress.update { $0.importedRecords = records }
        }
        let result = try applier.apply(log, database)
        var counts = result.counts
        for (place, count) in result.lostRowIDs { counts.note(.rowIDLost, of: place, "", count) }
        var changes = schema.tables.enumerated().map {
            EntityChanges(entity: $1.entity, table: $1.name, position: $0)
        }
        let needsRefresh = try note(log, in: &changes, &counts) { _ in false }
        var errorGroups = try ErrorGroupTable(database, job: job.id)
        try counts.save(job, &errorGroups, database)
        try save(ChunkRange(firstByte: 0, endByte: 0, hash: ""), counts, firstOrdinal: 1, database)
        try UndoBookkeeping.follow(undone, database)
        marker.recordOrdinal = counts.lines.reduce(0, +)
        marker.source = 1
        let merge = try end(&marker, changes, needsRefresh: needsRefresh, database)
        context.progress.update {
            $0.importedRecords = marker.recordOrdinal
            $0.rejects = counts.rejectCount
        }
        return merge
    }
}
