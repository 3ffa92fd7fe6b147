import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// What the changes of a commit have come to, and how the store keeps it.
package struct PatchCounts {
    /// A line that is done.
    package struct Line {
        package let ordinal: Int64
        package let byteOffset: Int64
        /// The index of its entity in the job.
        package let entity: Int
        package let kind: ObjectChange.Kind
        package let outcome: Outcome
        var effects: [(entity: Int, effect: ChangePlan.Effect)] = []
        package var conflicts: [PatchConflict] = []
        package var noted: [(kind: LedgerKind, entity: Int, name: String)] = []
        /// True if a conflict of it stops the patch.
        var stops = false
        /// Its bytes, where it is a reject.
        package var rejected: [UInt8]?
    }

    private struct LedgerEntry: Hashable {
        let entity: Int
        let attribute: BytewiseString
        let kind: LedgerKind
    }

    package enum Outcome {
        case done(ChangePlan.Effect)
        case rejected
    }

    private struct Counts {
        var read: Int64 = 0
        var inserted: Int64 = 0
        var updated: Int64 = 0
        var deleted: Int64 = 0
        var unchanged: Int64 = 0
        var ignored: Int64 = 0
        var rejected: Int64 = 0
        var nested = NestedCounts()
    }

    private var counts: [Counts]
    /// How many lines were read by entity, those that wait too.
    package private(set) var lines: [Int64]
    /// The ordinals of the lines that are done.
    package private(set) var ordinals: [Int64] = []
    private var conflicts: [PatchConflict] = []
    private var conflictCount: Int64 = 0
    private var rejects: [(reject: RowBatch.Reject, entity: String)] = []
    private var ledger: [LedgerEntry: Int64] = [:]
    private let names: [String]

    package init(_ names: [String]) {
        self.names = names
        counts = names.map { _ in Counts() }
        lines = names.map { _ in 0 }
    }

    package mutating func read(_ entity: Int) { lines[entity] += 1 }

    var rejectCount: Int64 { Int64(rejects.count) }

    package mutating func add(_ line: Line) {
        counts[line.entity].read += 1
        ordinals.append(line.ordinal)
        conflictCount += Int64(line.conflicts.count)
        if conflicts.count < PatchConflict.mostListed {
            conflicts += line.conflicts.prefix(PatchConflict.mostListed - conflicts.count)
        }
        switch line.outcome {
        case .rejected:
            counts[line.entity].rejected += 1
            let errors = line.conflicts.map { conflict in
                RecordError(
                    entity: conflict.entity,
                    keyPath: conflict.attribute ?? "",
                    code: .conflict,
                    expected: Self.expected(conflict.kind),
                    found: Self.found(conflict.kind),
                    byteOffset: line.byteOffset
                )
            }
            let bytes = line.rejected ?? []
            rejects.append(
                (
                    RowBatch.Reject(
                        entity: Int32(clamping: line.entity),
                        ordinal: line.ordinal,
                        byteOffset: line.byteOffset,
                        length: Int64(bytes.count),
                        errors: errors,
                        bytes: bytes
                    ), names[line.entity]
                )
            )
            return
        case .done(.inserted): counts[line.entity].inserted += 1
        case .done(.updated): counts[line.entity].updated += 1
        case .done(.deleted): counts[line.entity].deleted += 1
        case .done(.unchanged): counts[line.entity].unchanged += 1
        case .done(.ignored): counts[line.entity].ignored += 1
        }
        for (place, (entity, effect)) in line.effects.enumerated() {
            // An object that goes is counted wherever it was told.
            if effect == .deleted { counts[entity].nested.deleted += 1 }
            guard place != line.rootPlace else { continue }
            switch effect {
            case .inserted: counts[entity].nested.inserted += 1
            case .updated: counts[entity].nested.updated += 1
            case .unchanged: counts[entity].nested.unchanged += 1
            case .ignored: counts[entity].nested.ignored += 1
            case .deleted: continue
            }
            counts[entity].nested.nested += 1
        }
        for (kind, entity, name) in line.noted { note(kind, of: entity, name, 1) }
    }

    /// Counts something that is in the ledger.
    package mutating func note(_ kind: LedgerKind, of entity: Int, _ attribute: String, _ count: Int64) {
        ledger[LedgerEntry(entity: entity, attribute: BytewiseString(attribute), kind: kind), default: 0] += count
    }

    /// Counts objects that go with one that is deleted.
    mutating func takeAlong(_ entity: Int, _ count: Int64) { counts[entity].nested.deleted += count }

    /// Counts rows that have come or gone beside what the changes name: parts without identifier, and what a trigger or a delete rule
    /// of the store has done.
    ///
    /// - Parameters:
    ///   - entities: those of one table.
    ///   - gain: how many rows it has more than before.
    mutating func balance(_ entities: [Int], gain: Int64) {
        guard let first = entities.first else { return }
        let known = entities.reduce(Int64(0)) { sum, entity in
            sum + counts[entity].inserted + counts[entity].nested.inserted - counts[entity].nested.deleted
        }
        if gain > known {
            counts[first].nested.inserted += gain - known
            counts[first].nested.nested += gain - known
        } else {
            counts[first].nested.deleted += known - gain
        }
    }

    private static func expected(_ kind: PatchConflict.Kind) -> String {
        switch kind {
        case .changed: "the value before the change, or the one after it"
        case .missing: "the object that is to be updated"
        case .exists: "no object with this identifier"
        case .constraint: "what the store's table accepts"
        }
    }

    private static func found(_ kind: PatchConflict.Kind) -> String {
        switch kind {
        case .changed: "another value"
        case .missing: "no object"
        case .exists: "an object with other values"
        case .constraint: "something that it refuses"
        }
    }

    // MARK: Keeping

    /// Begins to count the entities of a job.
    ///
    /// - Parameter header: of the change set that its rejects are lines of.
    package static func begin(
        _ job: StoredJob,
        _ entities: [(name: String, table: String)],
        header: ChangeSetHeader,
        _ database: Database
    ) throws {
        for (position, entity) in entities.enumerated() {
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO _import_entity (
                        job, position, entity, table_name, made_table, rows_before, last_rowid_before
                    ) SELECT ?, ?, ?, ?, 0, (SELECT count(*) FROM \(entity.table.quotedIdentifier)), 0
                    """,
                arguments: [job.id, position, entity.name, entity.table]
            )
        }
        var line: [UInt8] = []
        ChangeLineWriter.append(header, to: &line)
        try database.execute(
            sql: """
                INSERT INTO _import_change (job, has_log, header) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET has_log = excluded.has_log, header = excluded.header
                """,
            arguments: [job.id, job.change?.options.keepsUndo ?? false, Data(line)]
        )
    }

    /// Adds them to what the store has counted, in the transaction of the rows.
    package func save(_ job: StoredJob, _ errorGroups: inout ErrorGroupTable, _ database: Database) throws {
        let table = RejectTable(of: job)
        var errors = ErrorCounts()
        for (reject, entity) in rejects {
            try table.insert(reject, entity: entity, source: 0, database)
            for error in reject.errors { errors.add(error, ordinal: reject.ordinal) }
        }
        try errorGroups.add(errors, source: 0, database)
        for (position, counts) in counts.enumerated() where counts.read > 0 || !counts.nested.isEmpty {
            try counts.nested.save(job: job.id, position: position, database)
            try database.cachedStatement(
                sql: """
                    UPDATE _import_entity SET records_read = records_read + ?, inserted = inserted + ?,
                        updated = updated + ?, unchanged = unchanged + ?, ignored = ignored + ?, rejected = rejected + ?,
                        deletions = deletions + ?
                    WHERE job = ? AND position = ?
                    """
            ).execute(arguments: [
                counts.read, counts.inserted, counts.updated, counts.unchanged, counts.ignored, counts.rejected,
                counts.deleted, job.id, position,
            ])
        }
        for (entry, count) in ledger {
            try database.cachedStatement(
                sql: """
                    INSERT INTO _import_ledger (job, entity, attribute, kind, count) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT DO UPDATE SET count = count + excluded.count
                    """
            ).execute(arguments: [job.id, names[entry.entity], entry.attribute.text, entry.kind.rawValue, count])
        }
        try saveConflicts(job, database)
    }

    private func saveConflicts(_ job: StoredJob, _ database: Database) throws {
        guard conflictCount > 0 else { return }
        let before =
            try Int64.fetchOne(
                database,
                sql: "SELECT conflicts FROM _import_change WHERE job = ?",
                arguments: [job.id]
            ) ?? 0
        try database.execute(
            sql: "UPDATE _import_change SET conflicts = conflicts + ? WHERE job = ?",
            arguments: [conflictCount, job.id]
        )
        let room = max(0, Int64(PatchConflict.mostListed) - before)
        for (number, conflict) in conflicts.prefix(Int(room)).enumerated() {
            try database.execute(
                sql: "INSERT OR REPLACE INTO _import_found_conflict (job, number, content) VALUES (?, ?, ?)",
                arguments: [job.id, before + Int64(number), try BookkeepingJSON.encode(conflict)]
            )
        }
    }

    /// What of the commit is about the entities, without the row ids.
    package func note(in changes: inout [EntityChanges]) {
        for (position, counts) in counts.enumerated() where position < changes.count {
            changes[position].unchanged = counts.unchanged
            changes[position].ignored = counts.ignored
            changes[position].rejected = counts.rejected
            changes[position].nested = counts.nested
        }
    }
}

extension PatchCounts.Line {
    /// A change of a retry whose reject is not open any more.
    package static func ignored(_ record: ChangeRecords.Record, _ entity: Int) -> PatchCounts.Line {
        PatchCounts.Line(
            ordinal: record.ordinal,
            byteOffset: record.byteOffset,
            entity: entity,
            kind: record.change.kind,
            outcome: .done(.ignored)
        )
    }

    /// Which of the effects is that of the line's own object.
    fileprivate var rootPlace: Int { 0 }
}
