import ImportEngine
import ImportModel
import ImportSources

/// Compares changes with what a store has.
///
/// It only reads. It is used within a transaction, by one thread.
package final class ChangeComparison {
    package let schema: PatchSchema
    package let statements: PatchStatements
    package let options: PatchOptions
    private let delegate: (any PatchDelegate)?
    /// Values that were put aside so that others may have theirs, by where they belong.
    var parked: [ParkedCell: StoredValue] = [:]
    /// What was deleted while others still referred to it, so that the delete rules have changed these.
    package var deleted: Set<DeletedObject> = []

    /// An object that is gone.
    package struct DeletedObject: Hashable {
        package let entity: Int
        package let key: [StoredValue]
    }

    /// A cell of an object.
    struct ParkedCell: Hashable {
        let entity: Int
        let key: [StoredValue]
        let column: Int
    }

    /// Whose part an object is.
    package struct Owner {
        package let owned: PatchedEntity.Owned
        package let key: [StoredValue]
    }

    /// The object that a change is about.
    struct Subject {
        let change: ObjectChange
        /// The index of its entity.
        let index: Int
        /// The values of its identifier.
        let key: [StoredValue]
        /// Its cells, by column; nil where it is not there.
        let stored: [StoredValue]?
        let owner: Owner?
    }

    package init(
        _ schema: PatchSchema,
        _ statements: PatchStatements,
        _ options: PatchOptions,
        _ delegate: (any PatchDelegate)? = nil
    ) {
        self.delegate = delegate
        self.schema = schema
        self.statements = statements
        self.options = options
    }

    /// What a change comes to.
    ///
    /// - Throws: `ImportError` with `.badInput` where the store does not have its entity.
    package func plan(_ change: ObjectChange) throws -> ChangePlan {
        var plan = ChangePlan()
        try visit(change, nil, &plan)
        return plan
    }

    // MARK: Objects

    func visit(_ change: ObjectChange, _ owner: Owner?, _ plan: inout ChangePlan) throws {
        let index = try schema.index(change.entity)
        let entity = schema.entities[index]
        let key = try key(of: change.identifier, entity)
        let stored = try read(index, key)
        var change = change
        if let delegate {
            let object = stored.map { cells in
                entity.attributeOrder.compactMap { name in
                    entity.attributes[name].map { NamedValue(name.text, cells[$0]) }
                }
            }
            switch try delegate.patch(change, object) {
            case .standard: break
            case .skip: return plan.effects.append((index, .ignored))
            case .attributes(let values):
                let subject = Subject(change: change, index: index, key: key, stored: stored, owner: owner)
                return try write(values, subject, &plan)
            }
            if change.kind == .inserted, stored == nil { change.add(try delegate.attributesForInserted(change)) }
        }
        let subject = Subject(change: change, index: index, key: key, stored: stored, owner: owner)
        switch change.kind {
        case .inserted: try insert(subject, &plan)
        case .updated: try update(subject, &plan)
        case .deleted: try delete(subject, &plan)
        }
    }

    /// Writes the values that a delegate gives, whatever the store has.
    private func write(_ values: [NamedValue], _ subject: Subject, _ plan: inout ChangePlan) throws {
        var given = subject.change
        given.references = subject.stored == nil ? given.references : []
        given.attributes = values.map { AttributeChange($0.name, new: $0.value) }
        var cells = try cells(of: given, subject.index, \.new, subject.stored == nil ? subject.owner : nil, &plan)
        for column in schema.entities[subject.index].identifier { cells[column] = nil }
        guard let stored = subject.stored else { return try insert(cells, of: subject, &plan) }
        let columns = cells.keys.sorted().filter { cells[$0] != stored[$0] }
        plan.effects.append((subject.index, columns.isEmpty ? .unchanged : .updated))
        if !columns.isEmpty { plan.steps.append(subject.update(columns, cells)) }
        if subject.change.kind != .deleted { try addParts(of: subject.change, subject.index, subject.key, &plan) }
    }

    /// Makes the object with what is given of it, and with what belongs to it.
    private func insert(_ cells: [Int: StoredValue], of subject: Subject, _ plan: inout ChangePlan) throws {
        var cells = cells
        for (place, column) in schema.entities[subject.index].identifier.enumerated() {
            cells[column] = subject.key[place]
        }
        let columns = cells.keys.sorted()
        plan.steps.append(.insert(entity: subject.index, columns: columns, values: columns.compactMap { cells[$0] }))
        plan.effects.append((subject.index, .inserted))
        try addParts(of: subject.change, subject.index, subject.key, &plan)
    }

    /// What is done in a conflict: as the delegate says, else as the options do.
    ///
    /// - Returns: with `take`, the value that is written instead of the change's, if the delegate gives one.
    package func decide(
        _ conflict: PatchConflict,
        _ plan: inout ChangePlan
    ) throws -> (policy: PatchOptions.Policy, value: StoredValue?) {
        guard let resolution = try delegate?.resolve(conflict) else { return (plan.add(conflict, options), nil) }
        let (policy, value): (PatchOptions.Policy, StoredValue?) =
            switch resolution {
            case .keep: (.keep, nil)
            case .take: (.take, nil)
            case .value(let value): (.take, value)
            case .reject: (.reject, nil)
            }
        plan.add(conflict, policy)
        return (policy, value)
    }

    /// The values of an identifier in the entity's order.
    package func key(of reference: ObjectReference, _ entity: PatchedEntity) throws -> [StoredValue] {
        let values = entity.identifierNames.compactMap { name in
            reference.values.first { $0.name.hasSameBytes(as: name) }?.value
        }
        guard values.count == entity.identifierNames.count, reference.values.count == values.count else {
            throw ImportError(
                .changeSetInvalid,
                "a change of \(entity.name.printable) has an identifier of \(reference.values.map(\.name).joined(separator: ", ").printable), "
                    + "and \(entity.identifierNames.joined(separator: ", ").printable) identifies it",
                advice: "Make the change set again."
            )
        }
        return values
    }

    /// The cells of an object, by column; nil where it is not there.
    package func read(_ index: Int, _ key: [StoredValue]) throws -> [StoredValue]? {
        let entity = schema.entities[index]
        var cells: [StoredValue]?
        try statements.run(entity.selection, key) { row in
            cells = entity.columns.indices.map(row.value)
        }
        if !parked.isEmpty, let found = cells {
            for column in found.indices {
                if let value = parked[ParkedCell(entity: index, key: key, column: column)] { cells?[column] = value }
            }
        }
        return cells
    }

    private func insert(_ subject: Subject, _ plan: inout ChangePlan) throws {
        let (change, index, key) = (subject.change, subject.index, subject.key)
        let cells = try cells(of: change, index, \.new, subject.owner, &plan)
        guard let stored = subject.stored else { return try insert(cells, of: subject, &plan) }
        let differing = cells.keys.sorted().filter {
            cells[$0] != stored[$0] && !schema.entities[index].local.contains($0)
        }
        guard !differing.isEmpty else {
            let (place, steps) = (plan.effects.count, plan.steps.count)
            plan.effects.append((index, .unchanged))
            try addParts(of: change, index, key, &plan)
            if plan.steps.count > steps, plan.steps[steps...].contains(where: \.isOfOwner) {
                plan.effects[place].effect = .updated
            }
            return
        }
        guard try decide(change.conflict(.exists), &plan).policy == .take else {
            plan.effects.append((index, .ignored))
            return
        }
        plan.steps.append(subject.update(differing, cells))
        plan.effects.append((index, .updated))
        try addParts(of: change, index, key, &plan)
    }

    private func delete(_ subject: Subject, _ plan: inout ChangePlan) throws {
        let (change, index, key) = (subject.change, subject.index, subject.key)
        guard let stored = subject.stored else {
            plan.effects.append((index, .unchanged))
            return
        }
        // All of it, or nothing: what stays keeps what it owns.
        var own = ChangePlan()
        var isTaken = false
        let cells = try cells(of: change, index, \.old, subject.owner, &own)
        let nulled = try nulled(change, index, stored)
        let differs = cells.contains { stored[$0.key] != $0.value && !nulled.contains($0.key) }
        if try differs || ownsMore(than: change, index, key) {
            isTaken = try decide(change.conflict(.changed), &own).policy == .take
        }
        own.effects.append((index, .deleted))
        let entity = schema.entities[index]
        for part in change.relationships {
            guard let owned = entity.ownership(part.name) else { continue }
            switch part.content {
            case .objects(let changes):
                for change in changes where change.kind == .deleted {
                    try visit(change, Owner(owned: owned, key: key), &own)
                }
            case .values(let old, _):
                let child = try schema.index(owned.child)
                if !options.isUnchecked, try values(of: owned, child, key) != normalized(old ?? [], child, owned) {
                    isTaken = try decide(change.conflict(.changed, part.name), &own).policy == .take || isTaken
                }
                own.steps.append(.replace(owned, owner: key, []))
            }
        }
        own.steps.append(.delete(entity: index, key: key, takesAlong: isTaken))
        let stays = own.policies.contains { $0 != .take }
        if stays {
            own.steps = []
            own.effects = own.effects.map { ($0.entity, .ignored) }
        }
        plan.append(own)
        // These are not the object's, and do not stay with it.
        for part in change.relationships { _ = try addIncluded(part, entity, &plan) }
    }

    /// True if an object owns what a deletion of it does not name.
    private func ownsMore(than change: ObjectChange, _ index: Int, _ key: [StoredValue]) throws -> Bool {
        for owned in schema.entities[index].owned {
            let child = schema.entities[try schema.index(owned.child)]
            guard !child.isValue else { continue }
            var named: Set<[StoredValue]> = []
            for part in change.relationships where part.name.hasSameBytes(as: owned.name) {
                guard case .objects(let changes) = part.content else { continue }
                for change in changes { named.insert(try self.key(of: change.identifier, child)) }
            }
            for part in change.moved where part.name.hasSameBytes(as: owned.name) {
                for object in part.objects { named.insert(try self.key(of: object, child)) }
            }
            var isMore = false
            try statements.run(PatchSQL.owned(child, owned), key) { row in
                if !named.contains(child.identifier.indices.map(row.value)) { isMore = true }
            }
            if isMore { return true }
        }
        return false
    }

    private func update(_ subject: Subject, _ plan: inout ChangePlan) throws {
        let (change, index) = (subject.change, subject.index)
        guard let stored = subject.stored else { return try updateMissing(subject, &plan) }
        let place = plan.effects.count
        plan.effects.append((index, .unchanged))
        let before = plan.conflicts.count
        let cells = try written(change, index, stored, &plan)
        if !cells.isEmpty {
            plan.steps.append(
                .update(entity: index, key: subject.key, columns: cells.map(\.column), values: cells.map(\.value))
            )
        }
        let steps = plan.steps.count
        try addParts(of: change, index, subject.key, &plan)
        if !cells.isEmpty || plan.steps[steps...].contains(where: \.isOfOwner) {
            plan.effects[place].effect = .updated
        } else if plan.conflicts.count > before {
            plan.effects[place].effect = .ignored
        }
    }

    private func updateMissing(_ subject: Subject, _ plan: inout ChangePlan) throws {
        if subject.change.saysNothing {
            // A conflict that is resolved as the store has it.
            plan.effects.append((subject.index, .unchanged))
            return
        }
        guard try decide(subject.change.conflict(.missing), &plan).policy == .take else {
            plan.effects.append((subject.index, .ignored))
            return
        }
        // What the change has of it; the table refuses it where something is missing that it asks for.
        let cells = try cells(of: subject.change, subject.index, \.new, subject.owner, &plan)
        try insert(cells, of: subject, &plan)
    }
}

extension ChangeComparison.Subject {
    /// The step that writes some of the cells.
    fileprivate func update(_ columns: [Int], _ cells: [Int: StoredValue]) -> ChangePlan.Step {
        .update(entity: index, key: key, columns: columns, values: columns.compactMap { cells[$0] })
    }
}

extension ObjectChange {
    /// A conflict about the object, or about one of its attributes.
    package func conflict(
        _ kind: PatchConflict.Kind,
        _ attribute: String? = nil,
        old: PatchConflict.Value? = nil,
        new: PatchConflict.Value? = nil,
        stored: PatchConflict.Value? = nil
    ) -> PatchConflict {
        PatchConflict(
            kind: kind,
            entity: entity,
            identifier: identifier,
            attribute: attribute,
            old: old,
            new: new,
            stored: stored
        )
    }
}

extension PatchedEntity {
    /// The index of a column among those that changes may be about.
    package func column(_ name: String) -> Int? {
        columns.firstIndex { ExistingEntity.folded($0) == ExistingEntity.folded(name) }
    }
}

extension ChangePlan.Step {
    /// True if it writes what is a value of the object itself, beside its columns.
    var isOfOwner: Bool {
        switch self {
        case .replace, .reorder, .reorderLinks, .link, .unlink: true
        case .insert, .update, .delete: false
        }
    }
}
