import GRDB
import ImportEngine
import ImportModel

/// Changes that wait for others, and are made together at the end.
extension ChangeApplier {
    struct Waiting {
        let ordinal: Int64
        let byteOffset: Int64
        let entity: Int
        let bytes: [UInt8]
    }

    func waiting(_ ordinal: Int64) throws -> Waiting? {
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
            } catch let failure as JointFailure {
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
    func line(
        _ waiting: Waiting,
        _ refusal: ChangeWriter.Refusal,
        _ records: ChangeRecords
    ) throws -> PatchCounts.Line {
        let change = try records.change(in: waiting.bytes)
        var conflict = PatchConflict(
            kind: refusal.takesAlong ? .changed : .constraint,
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
        var plan = ChangePlan()
        let policy = try comparison.decide(conflict, &plan).policy
        line.conflicts = [conflict]
        line.rejected = rejected.lines(waiting.bytes, [conflict])
        line.stops = plan.stops
        // What is to be kept is kept: the object, with all that would go with it.
        if refusal.takesAlong, policy == .keep {
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
    struct JointFailure: Error {
        let refused: [Int64: ChangeWriter.Refusal]
    }

    func together(
        _ ordinals: [Int64],
        _ records: ChangeRecords,
        _ check: () throws -> Void
    ) throws -> [PatchCounts.Line] {
        (comparison.parked, comparison.deleted, parkedBy) = ([:], [], [:])
        defer { (comparison.parked, comparison.deleted, parkedBy) = ([:], [], [:]) }
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
                    if isLast { noteDeleted() }
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
        if !refused.isEmpty {
            refused = [:]
            done += try atOnce(rest, records, &refused, check)
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
        guard refused.isEmpty else { throw JointFailure(refused: refused) }
        return done
    }

    /// Makes changes that wait for one another as if they were one.
    ///
    /// - Parameter refused: gets what the store's tables refuse.
    private func atOnce(
        _ ordinals: [Int64],
        _ records: ChangeRecords,
        _ refused: inout [Int64: ChangeWriter.Refusal],
        _ check: () throws -> Void
    ) throws -> [PatchCounts.Line] {
        var (lines, all): ([PatchCounts.Line], [ChangePlan.Step]) = ([], [])
        var owners: [Int64] = []
        for ordinal in ordinals {
            guard let waiting = try waiting(ordinal) else { continue }
            try check()
            let place = (waiting.ordinal, waiting.byteOffset, waiting.bytes)
            let change = try records.change(in: waiting.bytes)
            lines.append(try apply(change, place, waiting.entity, isLast: true, writes: false))
            all += steps
            owners += steps.map { _ in ordinal }
        }
        for (step, refusal) in try writer.refusals(of: all, isLast: true) where refused[owners[step]] == nil {
            refused[owners[step]] = refusal
        }
        steps = all
        forgetParked()
        return lines
    }

    /// Remembers what the last change has deleted though others refer to it.
    private func noteDeleted() {
        for step in steps {
            guard case .delete(let entity, let key, _) = step else { continue }
            comparison.deleted.insert(ChangeComparison.DeletedObject(entity: entity, key: key))
        }
    }

    // MARK: What leads nowhere

    /// The reference of a change that leads to an object that is not there, or the deletion of one that others refer to.
    func openReference(of change: ObjectChange) throws -> ChangeWriter.Refusal? {
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
            for referring in schema.referring[ExistingEntity.folded(entity.table)] ?? [] {
                let places = referring.parentColumns.compactMap { column in
                    entity.identifierColumns.firstIndex {
                        ExistingEntity.folded($0) == ExistingEntity.folded(column)
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
}
