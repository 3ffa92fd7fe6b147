import GRDB
import ImportModel

/// Applies single changes, and at the end those that had to wait for others.
///
/// A change waits whose row a table refuses, that refers to an object that is not there yet, or that deletes what others still
/// refer to. What counts is the end: changes that wait are made together, with what must be unique put aside first.
final class ChangeApplier {
    /// Foreign keys would lead nowhere.
    private struct OpenForeignKeys: Error {}

    private let schema: PatchSchema
    private let statements: PatchStatements
    private let options: PatchOptions
    private let job: Int64
    private let comparison: ChangeComparison
    private let writer: ChangeWriter
    /// What the last change came to.
    private var steps: [ChangePlan.Step] = []
    /// Which change has put a value aside.
    private var parkedBy: [ChangeComparison.ParkedCell: Int64] = [:]

    init(_ schema: PatchSchema, _ statements: PatchStatements, _ options: PatchOptions, _ job: Int64) {
        self.schema = schema
        self.statements = statements
        self.options = options
        self.job = job
        comparison = ChangeComparison(schema, statements, options)
        writer = ChangeWriter(schema, statements)
    }

    /// Whether a line has a conflict that stops.
    func hasStopped(_ line: PatchCounts.Line) -> Bool {
        line.conflicts.contains { options.policy(of: $0.entity, $0.attribute) == .stop }
    }

    /// Applies a change.
    ///
    /// - Returns: what it has come to; nil where it waits for others.
    func apply(_ record: ChangeRecords.Record, _ entity: Int) throws -> PatchCounts.Line? {
        do {
            return try statements.savepoint("import_line") {
                let line = try apply(
                    record.change,
                    (record.ordinal, record.byteOffset, record.bytes),
                    entity,
                    isLast: false
                )
                if statements.hasOpenForeignKeys { throw OpenForeignKeys() }
                return line
            }
        } catch is ChangeWriter.Refusal {
        } catch is OpenForeignKeys {
        }
        try statements.run(
            """
            INSERT OR REPLACE INTO _import_waiting_change (job, ordinal, position, byte_offset, lines)
            VALUES (?, ?, ?, ?, ?)
            """,
            [
                .integer(job), .integer(record.ordinal), .integer(Int64(entity)), .integer(record.byteOffset),
                .blob(record.bytes),
            ]
        )
        return nil
    }

    private func apply(
        _ change: ObjectChange,
        _ place: (ordinal: Int64, byteOffset: Int64, bytes: [UInt8]),
        _ entity: Int,
        isLast: Bool
    ) throws -> PatchCounts.Line {
        let plan = try comparison.plan(change)
        steps = []
        var line = PatchCounts.Line(
            ordinal: place.ordinal,
            byteOffset: place.byteOffset,
            entity: entity,
            kind: change.kind,
            outcome: plan.isRejected ? .rejected : .done(plan.outcome(change.kind))
        )
        line.conflicts = plan.conflicts
        if plan.stops { return line }
        if plan.isRejected {
            line.rejected = place.bytes
            return line
        }
        line.effects = plan.effects
        line.unknown = plan.unknown
        steps = plan.steps
        try writer.write(plan, isLast: isLast)
        return line
    }

    // MARK: Changes that wait

    private struct Waiting {
        let ordinal: Int64
        let byteOffset: Int64
        let entity: Int
        let bytes: [UInt8]
    }

    private func waiting(_ ordinal: Int64) throws -> Waiting? {
        var found: Waiting?
        try statements.run(
            "SELECT byte_offset, position, lines FROM _import_waiting_change WHERE job = ? AND ordinal = ?",
            [.integer(job), .integer(ordinal)]
        ) { row in
            guard case .integer(let offset) = row.value(0), case .integer(let entity) = row.value(1),
                case .blob(let bytes) = row.value(2), schema.entities.indices.contains(Int(clamping: entity))
            else { return }
            found = Waiting(ordinal: ordinal, byteOffset: offset, entity: Int(clamping: entity), bytes: bytes)
        }
        return found
    }

    /// Applies all changes that wait, together.
    ///
    /// - Parameters:
    ///   - records: read the lines that were kept.
    ///   - check: ends it by throwing.
    /// - Returns: what they have come to, in their order.
    func finish(_ records: ChangeRecords, check: () throws -> Void) throws -> [PatchCounts.Line] {
        var ordinals: [Int64] = []
        try statements.run(
            "SELECT ordinal FROM _import_waiting_change WHERE job = ? ORDER BY ordinal",
            [.integer(job)]
        ) { if case .integer(let ordinal) = $0.value(0) { ordinals.append(ordinal) } }
        guard !ordinals.isEmpty else { return [] }
        var refused: [Int64: ChangeWriter.Refusal] = [:]
        var done: [PatchCounts.Line] = []
        while true {
            let rest = ordinals.filter { refused[$0] == nil }
            do {
                done = try statements.savepoint("import_together") {
                    try together(rest, records, check)
                }
                break
            } catch let failure as Together {
                for (ordinal, refusal) in failure.refused { refused[ordinal] = refusal }
            }
        }
        for (ordinal, refusal) in refused {
            guard let waiting = try waiting(ordinal) else { continue }
            done.append(try line(waiting, refusal, records))
        }
        try statements.run("DELETE FROM _import_waiting_change WHERE job = ?", [.integer(job)])
        return done.sorted { $0.ordinal < $1.ordinal }
    }

    /// What a change comes to that the store's tables refuse.
    private func line(
        _ waiting: Waiting,
        _ refusal: ChangeWriter.Refusal,
        _ records: ChangeRecords
    ) throws -> PatchCounts.Line {
        let change = try records.change(in: waiting.bytes)
        var conflict = PatchConflict(
            refusal.takesAlong ? .changed : .constraint,
            entity: change.entity,
            identifier: change.identifier,
            attribute: refusal.attribute
        )
        if let index = refusal.entity, schema.entities[index].identifierNames.count == refusal.key.count {
            let entity = schema.entities[index]
            conflict.entity = entity.name
            conflict.identifier = ObjectReference(
                zip(entity.identifierNames, refusal.key).map { NamedValue($0, $1) }
            )
        }
        var line = PatchCounts.Line(
            ordinal: waiting.ordinal,
            byteOffset: waiting.byteOffset,
            entity: waiting.entity,
            kind: change.kind,
            outcome: .rejected
        )
        line.conflicts = [conflict]
        line.rejected = waiting.bytes
        // What is to be kept is kept: the object, with all that would go with it.
        if refusal.takesAlong, options.policy(of: conflict.entity, nil) == .keep {
            return PatchCounts.Line(
                ordinal: waiting.ordinal,
                byteOffset: waiting.byteOffset,
                entity: waiting.entity,
                kind: change.kind,
                outcome: .done(.ignored),
                conflicts: [conflict]
            )
        }
        return line
    }

    /// Some of the changes cannot be made with the others.
    private struct Together: Error {
        let refused: [Int64: ChangeWriter.Refusal]
    }

    private func together(
        _ ordinals: [Int64],
        _ records: ChangeRecords,
        _ check: () throws -> Void
    ) throws -> [PatchCounts.Line] {
        (comparison.parked, parkedBy) = ([:], [:])
        defer { (comparison.parked, parkedBy) = ([:], [:]) }
        for ordinal in ordinals {
            guard let waiting = try waiting(ordinal) else { continue }
            try check()
            try park(try records.change(in: waiting.bytes), ordinal)
        }
        var done: [PatchCounts.Line] = []
        var rest = ordinals
        var refused: [Int64: ChangeWriter.Refusal] = [:]
        var isLast = false
        while !rest.isEmpty {
            refused = [:]
            for ordinal in rest {
                guard let waiting = try waiting(ordinal) else { continue }
                try check()
                let change = try records.change(in: waiting.bytes)
                do {
                    done.append(
                        try statements.savepoint("import_line") {
                            try apply(
                                change,
                                (waiting.ordinal, waiting.byteOffset, waiting.bytes),
                                waiting.entity,
                                isLast: isLast
                            )
                        }
                    )
                    forgetParked()
                } catch let refusal as ChangeWriter.Refusal {
                    refused[ordinal] = refusal
                }
            }
            if refused.count == rest.count {
                if isLast { break }
                isLast = true
            }
            // What is deleted most often waits for what comes after it.
            rest = rest.filter { refused[$0] != nil }.reversed()
        }
        if refused.isEmpty { refused = try restoreParked() }
        if refused.isEmpty, statements.hasOpenForeignKeys {
            for ordinal in ordinals {
                guard let waiting = try waiting(ordinal) else { continue }
                if let open = try openReference(of: records.change(in: waiting.bytes)) { refused[ordinal] = open }
            }
            if refused.isEmpty {
                for ordinal in ordinals {
                    refused[ordinal] = ChangeWriter.Refusal(entity: nil, key: [], attribute: nil)
                }
            }
        }
        guard refused.isEmpty else { throw Together(refused: refused) }
        return done
    }

    // MARK: What leads nowhere

    /// The reference of a change that leads to an object that is not there, or the deletion of one that others refer to.
    private func openReference(of change: ObjectChange) throws -> ChangeWriter.Refusal? {
        let index = try schema.index(change.entity)
        let entity = schema.entities[index]
        let key = change.identifier.values.map(\.value)
        for reference in change.references where change.kind != .deleted {
            var targets: [ObjectReference] = []
            switch reference.content {
            case .toOne(_, .object(let object)?): targets = [object]
            case .toMany(let added, _): targets = added
            case .toOne: break
            }
            let name = entity.reference(reference.name)?.destination ?? entity.join(reference.name)?.destination
            guard let name, let destination = try? schema.index(name) else { continue }
            for target in targets where try comparison.read(destination, target.values.map(\.value)) == nil {
                return ChangeWriter.Refusal(entity: index, key: key, attribute: reference.name)
            }
        }
        if change.kind == .deleted, try comparison.read(index, key) == nil {
            for referring in schema.referring[ContinuedEntity.folded(entity.table)] ?? [] {
                let places = referring.parentColumns.compactMap { column in
                    entity.identifierColumns.firstIndex {
                        ContinuedEntity.folded($0) == ContinuedEntity.folded(column)
                    }
                }
                guard places.count == referring.columns.count else { continue }
                let condition = referring.columns.enumerated().map { "\($1.quotedIdentifier) = ?\($0 + 1)" }
                let sql =
                    "SELECT 1 FROM main.\(referring.table.quotedIdentifier) WHERE \(condition.joined(separator: " AND ")) LIMIT 1"
                if try statements.exists(sql, places.map { key[$0] }) {
                    return ChangeWriter.Refusal(entity: index, key: key, attribute: nil)
                }
            }
        }
        for part in change.relationships {
            guard case .objects(let changes) = part.content else { continue }
            for inner in changes {
                if let open = try openReference(of: inner) { return open }
            }
        }
        return nil
    }

    // MARK: Putting aside

    /// Puts aside what a change is about to replace and what must be unique, so that another object may have it meanwhile.
    private func park(_ change: ObjectChange, _ ordinal: Int64) throws {
        guard let index = try? schema.index(change.entity) else { return }
        let entity = schema.entities[index]
        let key = change.identifier.values.map(\.value)
        if change.kind == .updated, let stored = try comparison.read(index, key) {
            var columns: [Int] = []
            for attribute in change.attributes where attribute.new != nil {
                if let column = entity.attributes[ExactText(attribute.name)] { columns.append(column) }
            }
            for reference in change.references {
                guard case .toOne = reference.content else { continue }
                columns += entity.reference(reference.name)?.columns ?? []
            }
            for column in columns where !entity.identifier.contains(column) {
                guard let mayBeNull = entity.unique[ContinuedEntity.folded(entity.columns[column])] else { continue }
                try park(index, key, column, stored[column], mayBeNull: mayBeNull, ordinal)
            }
        }
        if change.kind == .deleted {
            for part in change.moved {
                guard let owned = entity.ownership(part.name), let child = try? schema.index(owned.child) else {
                    continue
                }
                for object in part.objects {
                    let own = object.values.map(\.value)
                    guard let stored = try comparison.read(child, own) else { continue }
                    let columns = owned.columns.compactMap { schema.entities[child].column($0) }
                    // One that has another owner by now is left where it is.
                    guard columns.map({ stored[$0] }) == key else { continue }
                    for column in columns { try park(child, own, column, stored[column], mayBeNull: true, ordinal) }
                }
            }
        }
        for part in change.relationships {
            guard case .objects(let changes) = part.content else { continue }
            for inner in changes { try park(inner, ordinal) }
        }
    }

    /// What the last change has written is where it belongs.
    private func forgetParked() {
        guard !comparison.parked.isEmpty else { return }
        for case .update(let entity, let key, let columns, _) in steps {
            for column in columns {
                let cell = ChangeComparison.ParkedCell(entity: entity, key: key, column: column)
                comparison.parked[cell] = nil
            }
        }
    }

    /// Puts back what was put aside and not replaced.
    ///
    /// - Returns: the changes for which there is no place any more.
    private func restoreParked() throws -> [Int64: ChangeWriter.Refusal] {
        var refused: [Int64: ChangeWriter.Refusal] = [:]
        for (cell, value) in comparison.parked {
            let entity = schema.entities[cell.entity]
            do {
                _ = try statements.savepoint("import_park") {
                    try statements.run(
                        PatchSQL.update(entity, column: entity.columns[cell.column]),
                        [value] + cell.key
                    )
                }
            } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CONSTRAINT {
                guard let ordinal = parkedBy[cell] else { throw error }
                refused[ordinal] = ChangeWriter.Refusal(
                    entity: cell.entity,
                    key: cell.key,
                    attribute: entity.attributes.first { $0.value == cell.column }?.key.text
                )
            }
        }
        return refused
    }

    private func park(
        _ index: Int,
        _ key: [StoredValue],
        _ column: Int,
        _ value: StoredValue,
        mayBeNull: Bool,
        _ ordinal: Int64
    ) throws {
        let entity = schema.entities[index]
        let cell = ChangeComparison.ParkedCell(entity: index, key: key, column: column)
        guard comparison.parked[cell] == nil, value != .null, !entity.identifier.contains(column) else { return }
        let sql = PatchSQL.update(entity, column: entity.columns[column])
        let number = comparison.parked.count
        let placeholder: StoredValue =
            switch value {
            case .null: .null
            case .integer: .integer(.min &+ Int64(number))
            case .real: .real(-Double.greatestFiniteMagnitude / Double(number + 2))
            case .text, .textBytes: .text("\u{1}import \(number)")
            case .blob: .blob(Array("\u{1}import \(number)".utf8))
            }
        for other in mayBeNull ? [.null, placeholder] : [placeholder] {
            do {
                _ = try statements.savepoint("import_park") { try statements.run(sql, [other] + key) }
                comparison.parked[cell] = value
                parkedBy[cell] = ordinal
                return
            } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CONSTRAINT {
                continue
            }
        }
    }
}
