import ImportModel

/// Compares changes with what a store has.
///
/// It only reads. It is used within a transaction, by one thread.
final class ChangeComparison {
    let schema: PatchSchema
    let statements: PatchStatements
    private let options: PatchOptions
    /// Values that were put aside so that others may have theirs, by where they belong.
    var parked: [ParkedCell: StoredValue] = [:]

    /// A cell of an object.
    struct ParkedCell: Hashable {
        let entity: Int
        let key: [StoredValue]
        let column: Int
    }

    /// Whose part an object is.
    private struct Owner {
        let owned: PatchedEntity.Owned
        let key: [StoredValue]
    }

    init(_ schema: PatchSchema, _ statements: PatchStatements, _ options: PatchOptions) {
        self.schema = schema
        self.statements = statements
        self.options = options
    }

    /// What a change comes to.
    ///
    /// - Throws: `ImportError` with `.badInput` where the store does not have its entity.
    func plan(_ change: ObjectChange) throws -> ChangePlan {
        var plan = ChangePlan()
        try visit(change, nil, &plan)
        return plan
    }

    // MARK: Objects

    private func visit(_ change: ObjectChange, _ owner: Owner?, _ plan: inout ChangePlan) throws {
        let index = try schema.index(change.entity)
        let entity = schema.entities[index]
        let key = try key(of: change.identifier, entity)
        let stored = try read(index, key)
        switch change.kind {
        case .inserted: try insert(change, index, key, stored, owner, &plan)
        case .updated: try update(change, index, key, stored, owner, &plan)
        case .deleted: try delete(change, index, key, stored, owner, &plan)
        }
    }

    /// The values of an identifier in the entity's order.
    private func key(of reference: ObjectReference, _ entity: PatchedEntity) throws -> [StoredValue] {
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
    func read(_ index: Int, _ key: [StoredValue]) throws -> [StoredValue]? {
        let entity = schema.entities[index]
        var cells: [StoredValue]?
        try statements.run(PatchSQL.select(entity), key) { row in
            cells = entity.columns.indices.map(row.value)
        }
        if !parked.isEmpty, let found = cells {
            for column in found.indices {
                if let value = parked[ParkedCell(entity: index, key: key, column: column)] { cells?[column] = value }
            }
        }
        return cells
    }

    private func insert(
        _ change: ObjectChange,
        _ index: Int,
        _ key: [StoredValue],
        _ stored: [StoredValue]?,
        _ owner: Owner?,
        _ plan: inout ChangePlan
    ) throws {
        let cells = try given(change, index, \.new, owner, &plan)
        guard let stored else {
            var all = cells
            for (place, column) in schema.entities[index].identifier.enumerated() { all[column] = key[place] }
            let columns = all.keys.sorted()
            plan.steps.append(
                .insert(entity: index, columns: columns, values: columns.compactMap { all[$0] })
            )
            plan.effects.append((index, .inserted))
            return try addParts(of: change, index, key, &plan)
        }
        let differing = cells.keys.sorted().filter { cells[$0] != stored[$0] }
        guard !differing.isEmpty else {
            let (place, steps) = (plan.effects.count, plan.steps.count)
            plan.effects.append((index, .unchanged))
            try addParts(of: change, index, key, &plan)
            if plan.steps.count > steps, plan.steps[steps...].contains(where: \.isOfOwner) {
                plan.effects[place].effect = .updated
            }
            return
        }
        let policy = plan.add(PatchConflict(.exists, entity: change.entity, identifier: change.identifier), options)
        guard policy == .take else {
            plan.effects.append((index, .ignored))
            return
        }
        plan.steps.append(
            .update(entity: index, key: key, columns: differing, values: differing.compactMap { cells[$0] })
        )
        plan.effects.append((index, .updated))
        try addParts(of: change, index, key, &plan)
    }

    private func delete(
        _ change: ObjectChange,
        _ index: Int,
        _ key: [StoredValue],
        _ stored: [StoredValue]?,
        _ owner: Owner?,
        _ plan: inout ChangePlan
    ) throws {
        guard let stored else {
            plan.effects.append((index, .unchanged))
            return
        }
        // All of it, or nothing: what stays keeps what it owns.
        var own = ChangePlan()
        var isTaken = false
        let cells = try given(change, index, \.old, owner, &own)
        let differs = cells.contains { stored[$0.key] != $0.value }
        if try differs || ownsMore(than: change, index, key) {
            isTaken =
                own.add(PatchConflict(.changed, entity: change.entity, identifier: change.identifier), options) == .take
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
                    let conflict = PatchConflict(
                        .changed,
                        entity: change.entity,
                        identifier: change.identifier,
                        attribute: part.name
                    )
                    isTaken = own.add(conflict, options) == .take || isTaken
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
    }

    /// Whether an object owns what a deletion of it does not name.
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

    private func update(
        _ change: ObjectChange,
        _ index: Int,
        _ key: [StoredValue],
        _ stored: [StoredValue]?,
        _ owner: Owner?,
        _ plan: inout ChangePlan
    ) throws {
        guard let stored else { return try updateMissing(change, index, key, owner, &plan) }
        let place = plan.effects.count
        plan.effects.append((index, .unchanged))
        let before = plan.conflicts.count
        var columns: [Int] = []
        var values: [StoredValue] = []
        for cell in try cells(of: change, index, stored, &plan) {
            columns.append(cell.column)
            values.append(cell.value)
        }
        if !columns.isEmpty {
            plan.steps.append(.update(entity: index, key: key, columns: columns, values: values))
        }
        let steps = plan.steps.count
        try addParts(of: change, index, key, &plan)
        if !columns.isEmpty || plan.steps[steps...].contains(where: \.isOfOwner) {
            plan.effects[place].effect = .updated
        } else if plan.conflicts.count > before {
            plan.effects[place].effect = .ignored
        }
    }

    private func updateMissing(
        _ change: ObjectChange,
        _ index: Int,
        _ key: [StoredValue],
        _ owner: Owner?,
        _ plan: inout ChangePlan
    ) throws {
        let policy = plan.add(PatchConflict(.missing, entity: change.entity, identifier: change.identifier), options)
        guard policy == .take else {
            plan.effects.append((index, .ignored))
            return
        }
        // What the change has of it; the table refuses it where something is missing that it asks for.
        var cells = try given(change, index, \.new, owner, &plan)
        for (place, column) in schema.entities[index].identifier.enumerated() { cells[column] = key[place] }
        let columns = cells.keys.sorted()
        plan.steps.append(.insert(entity: index, columns: columns, values: columns.compactMap { cells[$0] }))
        plan.effects.append((index, .inserted))
        try addParts(of: change, index, key, &plan)
    }

    // MARK: Cells

    /// The cells that a change gives on one of its sides, by column.
    private func given(
        _ change: ObjectChange,
        _ index: Int,
        _ side: KeyPath<AttributeChange, StoredValue?>,
        _ owner: Owner?,
        _ plan: inout ChangePlan
    ) throws -> [Int: StoredValue] {
        let entity = schema.entities[index]
        var cells: [Int: StoredValue] = [:]
        if let owner {
            for (place, name) in owner.owned.columns.enumerated() {
                if let column = entity.column(name), owner.key.indices.contains(place) {
                    cells[column] = owner.key[place]
                }
            }
        }
        for attribute in change.attributes {
            guard let value = attribute[keyPath: side] else { continue }
            guard let column = entity.attributes[ExactText(attribute.name)] else {
                plan.unknown.append((index, attribute.name))
                continue
            }
            cells[column] = value
        }
        for reference in change.references {
            guard case .toOne(let old, let new) = reference.content,
                let target = side == \AttributeChange.new ? new : old
            else { continue }
            guard let columns = columns(of: reference.name, entity) else {
                plan.unknown.append((index, reference.name))
                continue
            }
            let values = try self.values(of: target, columns.count, reference.name, entity)
            for (column, value) in zip(columns, values) { cells[column] = value }
        }
        return cells
    }

    private func columns(of reference: String, _ entity: PatchedEntity) -> [Int]? {
        // Where the store does not know what a column refers to, it is a column all the same.
        entity.reference(reference)?.columns ?? entity.attributes[ExactText(reference)].map { [$0] }
    }

    private func values(
        of target: ReferenceChange.Target,
        _ count: Int,
        _ name: String,
        _ entity: PatchedEntity
    ) throws -> [StoredValue] {
        switch target {
        case .null: return Array(repeating: .null, count: count)
        case .object(let object):
            guard object.values.count == count else {
                throw ImportError(
                    .changeSetInvalid,
                    "\(entity.name.printable).\(name.printable) refers to an object by other attributes than the store does",
                    advice: "Make the change set again."
                )
            }
            return object.values.map(\.value)
        }
    }

    /// The cells of an object that are to be written.
    private func cells(
        of change: ObjectChange,
        _ index: Int,
        _ stored: [StoredValue],
        _ plan: inout ChangePlan
    ) throws -> [(column: Int, value: StoredValue)] {
        let entity = schema.entities[index]
        var written: [(column: Int, value: StoredValue)] = []
        var compared: [(name: String, column: Int, old: StoredValue?, new: StoredValue, isInTheWay: Bool)] = []
        for attribute in change.attributes {
            // An attribute with its old value alone has not changed.
            guard let new = attribute.new else { continue }
            guard let column = entity.attributes[ExactText(attribute.name)] else {
                plan.unknown.append((index, attribute.name))
                continue
            }
            guard !entity.identifier.contains(column) else { continue }
            let value = stored[column]
            let isInTheWay = value != new && (attribute.old.map { value != $0 } ?? !options.isUnchecked)
            compared.append((attribute.name, column, attribute.old, new, isInTheWay))
        }
        var done: Set<Int> = []
        for (place, attribute) in compared.enumerated() where !done.contains(place) {
            let group = entity.together.first { $0.contains { $0.hasSameBytes(as: attribute.name) } }
            let places = compared.indices.filter { other in
                other == place || group?.contains { $0.hasSameBytes(as: compared[other].name) } ?? false
            }
            done.formUnion(places)
            if places.contains(where: { compared[$0].isInTheWay }) {
                let first = compared[places.first { compared[$0].isInTheWay } ?? place]
                let conflict = PatchConflict(
                    .changed,
                    entity: change.entity,
                    identifier: change.identifier,
                    attribute: first.name,
                    old: first.old.map { .stored($0) },
                    new: .stored(first.new),
                    stored: .stored(stored[first.column])
                )
                guard plan.add(conflict, options) == .take else { continue }
            }
            for other in places where stored[compared[other].column] != compared[other].new {
                written.append((compared[other].column, compared[other].new))
            }
        }
        for reference in change.references {
            guard case .toOne(let old, let new?) = reference.content else { continue }
            guard let columns = columns(of: reference.name, entity) else {
                plan.unknown.append((index, reference.name))
                continue
            }
            let values = try self.values(of: new, columns.count, reference.name, entity)
            let before = try old.map { try self.values(of: $0, columns.count, reference.name, entity) }
            let now = columns.map { stored[$0] }
            // Of several columns a null in one of them leads nowhere.
            func isSame(_ other: [StoredValue]) -> Bool {
                now == other || now.contains(.null) && other.contains(.null)
            }
            if isSame(values) { continue }
            if before.map({ !isSame($0) }) ?? !options.isUnchecked {
                let conflict = PatchConflict(
                    .changed,
                    entity: change.entity,
                    identifier: change.identifier,
                    attribute: reference.name,
                    old: old.map(Self.shown),
                    new: Self.shown(new),
                    stored: now.contains(.null) ? .stored(.null) : Self.shown(new, now)
                )
                guard plan.add(conflict, options) == .take else { continue }
            }
            for (column, value) in zip(columns, values) where !entity.identifier.contains(column) {
                written.append((column, value))
            }
        }
        return written
    }

    private static func shown(_ target: ReferenceChange.Target) -> PatchConflict.Value {
        switch target {
        case .null: .stored(.null)
        case .object(let object): .object(object)
        }
    }

    /// What is stored, with the names of what the change refers to.
    private static func shown(_ target: ReferenceChange.Target, _ values: [StoredValue]) -> PatchConflict.Value {
        guard case .object(let object) = target, object.values.count == values.count else {
            return .stored(values.first ?? .null)
        }
        return .object(ObjectReference(zip(object.values, values).map { NamedValue($0.name, $1) }))
    }

    // MARK: What belongs to it

    private func addParts(of change: ObjectChange, _ index: Int, _ key: [StoredValue], _ plan: inout ChangePlan) throws
    {
        let entity = schema.entities[index]
        for reference in change.references {
            guard case .toMany(let added, let removed) = reference.content else { continue }
            guard let join = entity.join(reference.name) else {
                plan.unknown.append((index, reference.name))
                continue
            }
            for object in removed {
                let values = key + object.values.map(\.value)
                if try isLinked(join, values) { plan.steps.append(.unlink(join, values)) }
            }
            for object in added {
                let values = key + object.values.map(\.value)
                if try !isLinked(join, values) { plan.steps.append(.link(join, values)) }
            }
        }
        for part in change.relationships {
            guard let owned = entity.ownership(part.name) else {
                plan.unknown.append((index, part.name))
                continue
            }
            switch part.content {
            case .objects(let changes):
                // What goes makes room for what comes.
                for inner in changes where inner.kind == .deleted {
                    try visit(inner, Owner(owned: owned, key: key), &plan)
                }
                for inner in changes where inner.kind != .deleted {
                    try visit(inner, Owner(owned: owned, key: key), &plan)
                }
            case .values(let old, let new):
                try addValues(change, owned, key, old, new ?? [], part.name, &plan)
            }
        }
        for order in change.order { try addOrder(change, entity, key, order, &plan) }
    }

    private func isLinked(_ join: PatchedEntity.Join, _ values: [StoredValue]) throws -> Bool {
        guard values.count == join.columns.count + join.destinationColumns.count else {
            throw ImportError(
                .changeSetInvalid,
                "a link of \(join.name.printable) is by other attributes than the store's",
                advice: "Make the change set again."
            )
        }
        return try statements.exists(PatchSQL.link(join), values)
    }

    private func addOrder(
        _ change: ObjectChange,
        _ entity: PatchedEntity,
        _ key: [StoredValue],
        _ order: OrderChange,
        _ plan: inout ChangePlan
    ) throws {
        guard let new = order.new else { return }
        let wanted = new.map { $0.values.map(\.value) }
        let before = order.old?.map { $0.values.map(\.value) }
        var stored: [[StoredValue]] = []
        let step: ChangePlan.Step
        if let owned = entity.ownership(order.name), let position = owned.position {
            let child = schema.entities[try schema.index(owned.child)]
            try statements.run(PatchSQL.owned(child, owned, position: position), key) { row in
                stored.append(child.identifier.indices.map(row.value))
            }
            step = .reorder(owned, wanted)
        } else if let join = entity.join(order.name), let position = join.position {
            try statements.run(PatchSQL.links(join, position: position), key) { row in
                stored.append(join.destinationColumns.indices.map(row.value))
            }
            step = .reorderLinks(join, owner: key, wanted)
        } else {
            return
        }
        if stored == wanted { return }
        if stored != before ?? [], change.kind == .updated, !options.isUnchecked {
            let conflict = PatchConflict(
                .changed,
                entity: change.entity,
                identifier: change.identifier,
                attribute: order.name
            )
            guard plan.add(conflict, options) == .take else { return }
        }
        plan.steps.append(step)
    }

    // MARK: Parts without identifier

    private func addValues(
        _ change: ObjectChange,
        _ owned: PatchedEntity.Owned,
        _ key: [StoredValue],
        _ old: [OwnedValue]?,
        _ new: [OwnedValue],
        _ name: String,
        _ plan: inout ChangePlan
    ) throws {
        let child = try schema.index(owned.child)
        let stored = try values(of: owned, child, key)
        let wanted = normalized(new, child, owned)
        if stored == wanted { return }
        let isInTheWay = change.kind == .updated && (old.map { stored != normalized($0, child, owned) } ?? true)
        if isInTheWay, !(old == nil && options.isUnchecked) {
            let conflict = PatchConflict(
                .changed,
                entity: change.entity,
                identifier: change.identifier,
                attribute: name
            )
            guard plan.add(conflict, options) == .take else { return }
        }
        plan.steps.append(.replace(owned, owner: key, wanted))
    }

    /// The parts of an owner as the store has them, in their order, or by what they are.
    private func values(of owned: PatchedEntity.Owned, _ index: Int, _ owner: [StoredValue]) throws -> [OwnedValue] {
        let child = schema.entities[index]
        var rows: [(key: StoredValue, cells: [StoredValue])] = []
        try statements.run(PatchSQL.values(child, owned), owner) { row in
            rows.append((row.value(0), child.columns.indices.map { row.value($0 + 1) }))
        }
        var list: [OwnedValue] = []
        for row in rows {
            var value = OwnedValue([])
            for name in child.attributeOrder {
                if let column = child.attributes[name] {
                    value.attributes.append(NamedValue(name.text, row.cells[column]))
                }
            }
            for reference in child.references where !reference.name.hasSameBytes(as: owned.inverse ?? "") {
                guard let destination = try? schema.entities[schema.index(reference.destination)], !destination.isValue
                else { continue }
                let cells = reference.columns.map { row.cells[$0] }
                value.references.append(
                    .init(
                        reference.name,
                        cells.contains(.null)
                            ? nil
                            : ObjectReference(
                                zip(destination.identifierNames, cells).map { NamedValue($0, $1) }
                            )
                    )
                )
            }
            for inner in child.owned {
                value.owned.append(.init(inner.name, try values(of: inner, schema.index(inner.child), [row.key])))
            }
            list.append(value)
        }
        return owned.position == nil ? list.sortedByContents : list
    }

    /// The parts that a change gives, as `values` has those of the store.
    private func normalized(_ given: [OwnedValue], _ index: Int, _ owned: PatchedEntity.Owned) -> [OwnedValue] {
        let child = schema.entities[index]
        let list = given.map { given in
            var value = OwnedValue([])
            for name in child.attributeOrder where child.attributes[name] != nil {
                let found = given.attributes.first { ExactText($0.name) == name }
                value.attributes.append(NamedValue(name.text, found?.value ?? .null))
            }
            for reference in child.references where !reference.name.hasSameBytes(as: owned.inverse ?? "") {
                guard let destination = try? schema.entities[schema.index(reference.destination)], !destination.isValue
                else { continue }
                let found = given.references.first { $0.name.hasSameBytes(as: reference.name) }
                value.references.append(.init(reference.name, found?.target))
            }
            for inner in child.owned {
                let found = given.owned.first { $0.name.hasSameBytes(as: inner.name) }?.values ?? []
                let place = (try? schema.index(inner.child)) ?? index
                value.owned.append(.init(inner.name, normalized(found, place, inner)))
            }
            return value
        }
        return owned.position == nil ? list.sortedByContents : list
    }
}

extension PatchedEntity {
    /// The place of a column among those that changes may be about.
    func column(_ name: String) -> Int? {
        columns.firstIndex { ContinuedEntity.folded($0) == ContinuedEntity.folded(name) }
    }
}

extension ChangePlan.Step {
    /// Whether it writes what is a value of the object itself, beside its columns.
    var isOfOwner: Bool {
        switch self {
        case .replace, .reorder, .reorderLinks, .link, .unlink: true
        case .insert, .update, .delete: false
        }
    }
}

extension ChangePlan {
    /// Adds what was planned by itself.
    mutating func append(_ other: ChangePlan) {
        steps += other.steps
        effects += other.effects
        unknown += other.unknown
        for (conflict, policy) in zip(other.conflicts, other.policies) { add(conflict, policy) }
    }
}
