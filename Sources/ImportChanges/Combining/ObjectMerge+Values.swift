import ImportEngine
import ImportModel
import ImportSources

/// What an object has itself: attributes, references to one object, and parts without identifier.
extension ObjectMerge {
    /// One of these in both states of a side.
    package struct Cell {
        package let name: String
        package let old: MergeConflict.Value?
        package let new: MergeConflict.Value
    }

    /// Merges per attribute, or per group of attributes that belong together.
    func mergeValues(_ ours: ObjectChange, _ theirs: ObjectChange, _ merged: inout ObjectChange) {
        let (own, other) = (ours.cells, theirs.cells)
        var ownPlaces: [BytewiseString: Int] = [:]
        for (place, cell) in own.enumerated() { ownPlaces[BytewiseString(cell.name)] = place }
        var otherPlaces: [BytewiseString: Int] = [:]
        for (place, cell) in other.enumerated() { otherPlaces[BytewiseString(cell.name)] = place }
        var done: Set<BytewiseString> = []
        for cell in other where !done.contains(BytewiseString(cell.name)) {
            let names = entities.group(of: cell.name, ours.entity) ?? [cell.name]
            done.formUnion(names.map(BytewiseString.init))
            let all = names.compactMap { name -> (name: String, own: Cell?, other: Cell?)? in
                let (first, second) = (ownPlaces[BytewiseString(name)], otherPlaces[BytewiseString(name)])
                if first == nil, second == nil { return nil }
                return (name, first.map { own[$0] }, second.map { other[$0] })
            }
            if all.allSatisfy({ $0.own == nil }) {
                for case (let name, _, let cell?) in all { merged.add(name, cell.old, cell.new) }
                continue
            }
            func values(_ value: ((name: String, own: Cell?, other: Cell?)) -> MergeConflict.Value?)
                -> [MergeConflict.Property]
            {
                all.compactMap { part in value(part).map { .init(part.name, $0) } }
            }
            let base = values { $0.own?.old ?? $0.other?.old }
            let one = values { $0.own?.new ?? $0.other?.old }
            let another = values { $0.other?.new ?? $0.own?.old }
            if one == another { continue }
            let isInserted = ours.kind == .inserted
            // Of what both have inserted, a group is concerned as a whole, too.
            var conflict = MergeConflict(
                kind: isInserted ? .bothInserted : .bothChanged,
                entity: ours.entity,
                identifier: ours.identifier,
                base: isInserted ? nil : base,
                ours: one,
                theirs: another
            )
            if isInserted { conflict.toBase = ours.leadingBack }
            add(conflict)
        }
    }

    /// Merges the links of many-to-many, member by member.
    func mergeLinks(_ ours: ObjectChange, _ theirs: ObjectChange, _ merged: inout ObjectChange) {
        for name in entities.linkNames(theirs) {
            let (own, other) = (ours.links(name), theirs.links(name))
            let (isAdded, isRemoved) = (Set(own.added), Set(own.removed))
            let added = other.added.filter { !isAdded.contains($0) }
            let removed = other.removed.filter { !isRemoved.contains($0) }
            guard !added.isEmpty || !removed.isEmpty else { continue }
            merged.references.append(ReferenceChange(name, .toMany(added: added, removed: removed)))
        }
    }

    /// The conflict of an object that both have changed in any way; nil where they have changed it alike.
    func wholeConflict(_ ours: ObjectChange, _ theirs: ObjectChange) -> MergeConflict? {
        let (own, other) = (ours.cells, theirs.cells)
        var base: [MergeConflict.Property] = []
        var one: [MergeConflict.Property] = []
        var another: [MergeConflict.Property] = []
        var isSame = true
        var names: [String] = []
        for cell in own + other where !names.contains(where: { $0.hasSameBytes(as: cell.name) }) {
            names.append(cell.name)
            let first = own.first { $0.name.hasSameBytes(as: cell.name) }
            let second = other.first { $0.name.hasSameBytes(as: cell.name) }
            let (left, right) = (first?.new ?? second?.old, second?.new ?? first?.old)
            // Of what both have inserted, only what differs is concerned.
            if left == right {
                if ours.kind == .inserted { continue }
            } else {
                isSame = false
            }
            if let old = first?.old ?? second?.old { base.append(.init(cell.name, old)) }
            if let left { one.append(.init(cell.name, left)) }
            if let right { another.append(.init(cell.name, right)) }
        }
        var forth = ObjectChange(.updated, entity: ours.entity, identifier: ours.identifier)
        for (left, right) in zip(one, another) where left != right { forth.add(left.name, left.value, right.value) }
        for name in entities.linkNames(ours, theirs) {
            let (left, right) = (ours.links(name), theirs.links(name))
            guard left.added != right.added || left.removed != right.removed else { continue }
            isSame = false
            one.append(.init(name, .links(added: left.added, removed: left.removed)))
            another.append(.init(name, .links(added: right.added, removed: right.removed)))
            let (ownAdded, ownRemoved) = (Set(left.added), Set(left.removed))
            let (otherAdded, otherRemoved) = (Set(right.added), Set(right.removed))
            let added = Set(
                right.added.filter { !ownAdded.contains($0) } + left.removed.filter { !otherRemoved.contains($0) }
            )
            let removed = Set(
                right.removed.filter { !ownRemoved.contains($0) } + left.added.filter { !otherAdded.contains($0) }
            )
            func sorted(_ objects: Set<ObjectReference>) -> [ObjectReference] {
                objects.sorted { IdentifierOrder.compare($0, $1) < 0 }
            }
            forth.references.append(
                ReferenceChange(name, .toMany(added: sorted(added), removed: sorted(removed)))
            )
        }
        for name in entities.orderNames(ours, theirs) {
            let (left, right) = (ours.list(name), theirs.list(name))
            let (own, other) = (left?.new ?? right?.old ?? [], right?.new ?? left?.old ?? [])
            guard own != other else { continue }
            isSame = false
            if let old = left?.old ?? right?.old { base.append(.init(name, .objects(old))) }
            one.append(.init(name, .objects(own)))
            another.append(.init(name, .objects(other)))
            forth.order.append(OrderChange(name, old: own, new: other))
        }
        if isSame { return nil }
        var conflict = MergeConflict(
            kind: ours.kind == .inserted ? .bothInserted : .bothChanged,
            entity: ours.entity,
            identifier: ours.identifier,
            base: ours.kind == .inserted ? nil : base,
            ours: one,
            theirs: another
        )
        var back = ours.leadingBack
        if ours.kind != .inserted { back.relationships.removeAll(where: \.isOfObjects) }
        conflict.toBase = back
        conflict.toTheirs = forth
        return conflict
    }
}

extension ObjectChange {
    /// The values that changed, or that are there.
    fileprivate var cells: [ObjectMerge.Cell] {
        var cells: [ObjectMerge.Cell] = []
        for attribute in attributes {
            // An attribute with its old value alone has not changed; one with the same new value is in a group that has.
            guard let new = attribute.new else { continue }
            cells.append(.init(name: attribute.name, old: attribute.old.map { .stored($0) }, new: .stored(new)))
        }
        for reference in references {
            guard case .toOne(let old, let new?) = reference.content else { continue }
            cells.append(.init(name: reference.name, old: old.map(\.value), new: new.value))
        }
        for owned in relationships {
            guard case .values(let old, let new) = owned.content else { continue }
            cells.append(.init(name: owned.name, old: old.map { .values($0) }, new: .values(new ?? [])))
        }
        return cells
    }

    /// The links of a many-to-many that were added and removed.
    package func links(_ name: String) -> (added: [ObjectReference], removed: [ObjectReference]) {
        for reference in references where reference.name.hasSameBytes(as: name) {
            if case .toMany(let added, let removed) = reference.content { return (added, removed) }
        }
        return ([], [])
    }

    /// A list in both of its orders; nil where nothing is said of it.
    package func list(_ name: String) -> OrderChange? { order.first { $0.name.hasSameBytes(as: name) } }

    /// The values of a deleted or inserted object.
    package func properties(_ side: KeyPath<AttributeChange, StoredValue?>) -> [MergeConflict.Property] {
        var properties: [MergeConflict.Property] = attributes.compactMap { attribute in
            attribute[keyPath: side].map { .init(attribute.name, .stored($0)) }
        }
        for reference in references {
            guard case .toOne(let old, let new) = reference.content,
                let target = side == \AttributeChange.old ? old : new
            else { continue }
            properties.append(.init(reference.name, target.value))
        }
        return properties
    }
}

extension ReferenceChange.Target {
    /// The target as a value of a conflict.
    package var value: MergeConflict.Value {
        switch self {
        case .null: .stored(.null)
        case .object(let object): .object(object)
        }
    }
}

extension [MergeConflict.Property] {
    /// The values after an update.
    package func following(_ update: ObjectChange) -> [MergeConflict.Property] {
        var values = self
        for value in update.properties(\.new) {
            if let place = values.firstIndex(where: { $0.name.hasSameBytes(as: value.name) }) {
                values[place] = value
            } else {
                values.append(value)
            }
        }
        return values
    }
}

extension ObjectReference {
    /// The identifier for messages.
    package var shown: String { values.map { "\($0.name.printable) \($0.value.shown)" }.joined(separator: " ") }
}
