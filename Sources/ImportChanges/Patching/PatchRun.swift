import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// One run of a patch: applies what is left of its change set, commit by commit.
final class PatchRun: ChangeRun {
    private let session: StoreSession
    let job: StoredJob
    private let change: StoredJob.Change
    private let path: String
    private let header: ChangeSetHeader
    private let context: RunContext
    private let delegate: (any PatchDelegate)?
    private let secondsBefore: Double
    private let started = ContinuousClock.now

    var seconds: Double { secondsBefore + (ContinuousClock.now - started).inSeconds }

    init(
        _ session: StoreSession,
        _ job: StoredJob,
        _ header: ChangeSetHeader,
        _ context: RunContext,
        _ delegate: (any PatchDelegate)?
    ) throws {
        self.delegate = delegate
        guard let change = job.change, let path = job.sources.first?.description.path else {
            throw ImportError(.fault, at: session.store, "a patch without a change set")
        }
        self.session = session
        self.job = job
        self.change = change
        self.path = path
        self.header = header
        self.context = context
        secondsBefore = try session.marker(of: job).seconds
    }

    func tables(_ database: Database) throws -> [String] {
        let side = try ComparedSchema(session.store, database, identifiers: change.options.identifiers)
        return try PatchSchema(header, side, database).entities.map(\.table)
    }

    /// Applies all that is left.
    ///
    /// - Throws: `ImportError`; `ConflictStop` where conflicts are to stop it. What was committed before stays.
    func apply() throws {
        try ImportError.explaining(session.store) {
            try session.database.inDatabase { database in
                try withForeignKeys(database) { try apply(database) }
            }
        }
    }

    /// Foreign keys are looked at where the store's can be: a key that leads to no table makes all statements fail.
    private func withForeignKeys(_ database: Database, _ body: () throws -> Void) throws {
        try database.execute(sql: "PRAGMA foreign_keys = ON")
        defer { try? database.execute(sql: "PRAGMA foreign_keys = OFF") }
        do {
            for name in try TrackedTable.names(database) {
                let table = "main.\(name.quotedIdentifier)"
                _ = try database.makeStatement(sql: "DELETE FROM \(table)")
                let columns = try StoredTable(name, database).ownColumns
                guard let column = columns.first?.name.quotedIdentifier else { continue }
                _ = try database.makeStatement(sql: "UPDATE \(table) SET \(column) = \(column)")
            }
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_ERROR {
            try database.execute(sql: "PRAGMA foreign_keys = OFF")
            context.announce([
                "foreign keys are not checked: \((error.message ?? "one of them is invalid").printable)"
            ])
        }
        try body()
    }

    private func apply(_ database: Database) throws {
        let schema = try PatchSchema(
            header,
            ComparedSchema(session.store, database, identifiers: change.options.identifiers),
            database
        )
        let statements = try PatchStatements(database)
        let log = change.options.keepsUndo ? try UndoLog(job: job.id, tellsRows: true, database) : nil
        defer { try? log?.end(database) }
        let marker = try Marker(database, job: job.id) ?? Marker()
        var state = State(
            marker: marker,
            records: try ChangeRecords(
                path,
                ChangeLineReader(schema.described, delegate?.reading),
                after: marker,
                upTo: change.endOffset,
                isRepairFile: job.retry != nil
            ),
            errorGroups: try ErrorGroupTable(database, job: job.id)
        )
        let applier = ChangeApplier(schema, statements, change.options, job.id, delegate)
        if schema.hasTriggers, change.options.keepsUndo, marker.commits == 0 {
            context.announce(["the store's own triggers run; undoing takes back what they do to its tables"])
        }
        guard marker.source == 0 else { return }
        var isAtEnd = false
        while !isAtEnd {
            try context.interruption.check()
            var notification: MergeNotification?
            try database.inTransaction(.immediate) {
                try database.execute(sql: "PRAGMA defer_foreign_keys = ON")
                (notification, isAtEnd) = try commit(&state, schema, applier, log, database)
                return .commit
            }
            if let notification { context.merges.enqueue(notification) }
            context.progress.update { [marker = state.marker, rejects = state.rejects] in
                $0.importedBytes = marker.bytes
                $0.importedRecords = marker.recordOrdinal
                $0.rejects = rejects
            }
        }
    }

    private struct State {
        var marker: Marker
        var records: ChangeRecords
        var errorGroups: ErrorGroupTable
        var rejects: Int64 = 0
    }

    /// Applies the changes of one commit, within its transaction.
    private func commit(
        _ state: inout State,
        _ schema: PatchSchema,
        _ applier: ChangeApplier,
        _ log: UndoLog?,
        _ database: Database
    ) throws -> (MergeNotification, isAtEnd: Bool) {
        let most = change.options.isAtomic ? Int.max : context.options.commitEvery
        var counts = PatchCounts(schema.entities.map(\.name))
        let firstByte = state.marker.source == 0 ? state.marker.byteOffset : 0
        let firstOrdinal = state.marker.recordOrdinal + 1
        var read = 0
        while read < most, let record = try state.records.next() {
            try context.interruption.check()
            read += 1
            let entity = try schema.index(record.change.entity)
            counts.read(entity)
            state.marker.recordOrdinal = record.ordinal
            if job.retry != nil, try !RetryOutcome.isOpen(record.ordinal, of: job.id, database) {
                counts.add(.ignored(record, entity))
                continue
            }
            if let line = try applier.apply(record, entity) {
                if line.stops { throw ConflictStop(conflicts: line.conflicts) }
                counts.add(line)
            }
        }
        let isAtEnd = try state.records.isAtEnd()
        if isAtEnd {
            let lines = try applier.finish(state.records) { try context.interruption.check() }
            let stopped = lines.filter(\.stops)
            if !stopped.isEmpty { throw ConflictStop(conflicts: stopped.flatMap(\.conflicts)) }
            for line in lines { counts.add(line) }
        }
        let range = try state.records.range()
        var changes = schema.entities.enumerated().map {
            EntityChanges(entity: $1.name, table: $1.table, position: $0)
        }
        let needsRefresh = try note(log, in: &changes, &counts) { schema.isJoin($0) }
        try counts.save(job, &state.errorGroups, database)
        if job.retry != nil {
            for ordinal in counts.ordinals { try RetryOutcome.settle(ordinal...ordinal, of: job.id, database) }
        }
        let chunk = ChunkRange(firstByte: firstByte, endByte: range.endOffset, hash: range.hash)
        try save(chunk, counts, firstOrdinal: firstOrdinal, database)
        state.marker.byteOffset = isAtEnd ? 0 : range.endOffset
        state.marker.bytes = range.endOffset
        state.marker.source = isAtEnd ? 1 : 0
        state.rejects += counts.rejectCount
        return (try end(&state.marker, changes, needsRefresh: needsRefresh, database), isAtEnd)
    }
}

extension PatchSchema {
    /// True if a table has nothing but links.
    package func isJoin(_ table: String) -> Bool {
        entities.contains { entity in
            entity.joins.contains { ExistingEntity.folded($0.table) == ExistingEntity.folded(table) }
        }
    }
}
