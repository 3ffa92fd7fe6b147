import ImportEngine
import ImportModel
import ImportSources

/// Merges what two sides have made of one object; what cannot be merged is a conflict, and stays as ours has it.
///
/// An object may have got another owner, so that the sides report it at different ones. Then it is merged where ours reports it if
/// ours has moved it, else where theirs does; what the other side has made of it is looked up.
package final class ObjectMerge {
    /// An owner around an object.
    package struct Owner {
        package let entity: String
        package let identifier: ObjectReference
        package let relationship: String
    }

    /// What has come of an object.
    package struct Result {
        /// What leads from ours to the merged state; nil where nothing does.
        package var change: ObjectChange?
        /// True if theirs has removed or added the object, and that was not followed.
        package var isLeftOut = false
        /// True if it is merged at another owner.
        var isElsewhere = false

        package init(_ change: ObjectChange?, isLeftOut: Bool = false, isElsewhere: Bool = false) {
            self.change = change
            self.isLeftOut = isLeftOut
            self.isElsewhere = isElsewhere
        }
    }

    package let entities: MergedEntities
    package let granularity: MergeOptions.Granularity
    private let ours: any MergeSide
    private let theirs: any MergeSide
    package private(set) var conflicts: [MergeConflict] = []

    package init(
        _ entities: MergedEntities,
        _ granularity: MergeOptions.Granularity,
        ours: any MergeSide,
        theirs: any MergeSide
    ) {
        self.entities = entities
        self.granularity = granularity
        self.ours = ours
        self.theirs = theirs
    }

    /// The conflicts since the last call.
    func takeConflicts() -> [MergeConflict] {
        defer { conflicts = [] }
        return conflicts
    }

    /// Calls `body`, and keeps no conflicts that it finds.
    func quietly<Result>(_ body: () throws -> Result) rethrows -> Result {
        let before = conflicts
        defer { conflicts = before }
        return try body()
    }

    /// Adds a conflict of the object that is merged.
    package func add(_ conflict: MergeConflict) { conflicts.append(conflict) }

    // MARK: Objects

    /// Merges what the sides say of an object in the same line, or at the same owner.
    package func merge(_ ours: ObjectChange?, _ theirs: ObjectChange?, _ owners: [Owner] = []) throws -> Result {
        switch (ours, theirs) {
        case (nil, nil): return Result(nil)
        case (let ours?, nil): return try alone(ours: ours, owners)
        case (nil, let theirs?): return try alone(theirs: theirs, owners)
        case (let ours?, let theirs?): return try both(ours, theirs, owners)
        }
    }

    private func alone(ours change: ObjectChange, _ owners: [Owner]) throws -> Result {
        if entities.inverse(of: change.entity) != nil,
            let other = try theirs.change(of: change.entity, change.identifier)
        {
            return isMoved(change) ? try both(change, other, owners) : Result(nil, isElsewhere: true)
        }
        // What belongs to it may have been moved there, and changed where it was.
        return Result(try partsAlone(of: change, owners).wrapped(change))
    }

    private func alone(theirs change: ObjectChange, _ owners: [Owner]) throws -> Result {
        if entities.inverse(of: change.entity) != nil, let other = try ours.change(of: change.entity, change.identifier)
        {
            if isMoved(other) { return Result(nil, isElsewhere: true) }
            return try both(other, located(change, other, owners), owners)
        }
        guard change.relationships.contains(where: \.isOfObjects) else { return Result(change) }
        let parts = try parts(ours: nil, theirs: change, owners)
        var merged = change
        merged.relationships = change.relationships.compactMap { owned in
            guard owned.isOfObjects else { return owned }
            return parts.relationships.first { $0.name.hasSameBytes(as: owned.name) }
        }
        for (name, objects) in parts.elsewhere where change.kind == .deleted {
            merged.addMoved(name, objects)
        }
        // What stays, against theirs, stays in its list.
        merged.order = try change.order.compactMap { order in
            let keeps = parts.leftOut.contains { $0.relationship.hasSameBytes(as: order.name) }
            guard keeps, change.kind == .updated else { return order }
            return try self.order(order.name, ours: nil, theirs: change, parts)
        }
        return Result(merged.saysNothing ? nil : merged)
    }

    /// A new object of theirs that ours has at another owner: both owners are to be compared.
    private func located(_ change: ObjectChange, _ other: ObjectChange, _ owners: [Owner]) -> ObjectChange {
        guard change.kind == .inserted, other.kind == .inserted, let inverse = entities.inverse(of: change.entity),
            let owner = owners.last,
            !change.references.contains(where: { $0.name.hasSameBytes(as: inverse) })
        else { return change }
        var change = change
        change.references.append(ReferenceChange(inverse, .toOne(old: nil, new: .object(owner.identifier))))
        return change
    }

    private func partsAlone(of change: ObjectChange, _ owners: [Owner]) throws -> Parts {
        guard change.kind != .deleted, change.relationships.contains(where: \.isOfObjects) else { return Parts() }
        return try parts(ours: change, theirs: nil, owners)
    }

    /// True if a change says that the object belongs to another one than before.
    package func isMoved(_ change: ObjectChange) -> Bool {
        guard change.kind == .updated, let inverse = entities.inverse(of: change.entity) else { return false }
        return change.references.contains { $0.name.hasSameBytes(as: inverse) }
    }

    /// True if ours has given another owner to an object.
    private func hasMoved(_ change: ObjectChange) throws -> Bool {
        try ours.change(of: change.entity, change.identifier).map(isMoved) ?? false
    }

    private func both(_ ours: ObjectChange, _ theirs: ObjectChange, _ owners: [Owner]) throws -> Result {
        switch (ours.kind, theirs.kind) {
        case (.deleted, .deleted): return Result(nil)
        case (.updated, .updated), (.inserted, .inserted): return try updated(ours, theirs, owners)
        case (.updated, .deleted):
            var conflict = MergeConflict(
                kind: .changedDeleted,
                entity: ours.entity,
                identifier: ours.identifier,
                base: theirs.properties(\.old),
                ours: theirs.properties(\.old).following(ours),
                theirs: nil
            )
            conflict.toBase = ours.leadingBack
            conflict.toTheirs = try theirs.following(ours, hasMoved: hasMoved)
            conflicts.append(conflict)
            return Result(nil, isLeftOut: true)
        case (.deleted, .updated):
            var conflict = MergeConflict(
                kind: .deletedChanged,
                entity: ours.entity,
                identifier: ours.identifier,
                base: ours.properties(\.old),
                ours: nil,
                theirs: ours.properties(\.old).following(theirs)
            )
            conflict.toBase = ours.leadingBack.wrapped(in: owners)
            conflict.toTheirs = try ours.following(
                theirs,
                hasMoved: { change in
                    try self.theirs.change(of: change.entity, change.identifier).map(isMoved) ?? false
                },
                arriving: arriving
            ).leadingBack.wrapped(in: owners)
            conflicts.append(conflict)
            return Result(nil, isLeftOut: true)
        case (.inserted, _), (_, .inserted):
            throw ImportError(
                .storesIncomparable,
                "\(ours.entity.printable) \(ours.identifier.shown) was in the base for one side and not for the other",
                advice: "Merge again while nothing writes to the base; change sets must lead from it."
            )
        }
    }

    /// What leads back from theirs to ours, of an object that theirs has moved to one that ours has deleted.
    ///
    /// - Returns: nil where ours has moved it, too: then it is merged there.
    private func arriving(_ change: ObjectChange) throws -> ObjectChange? {
        guard let own = try ours.change(of: change.entity, change.identifier) else { return change.leadingBack }
        switch own.kind {
        case .deleted: return try own.following(change, hasMoved: { _ in false }, arriving: arriving)
        case .updated where !isMoved(own): return change.startingFrom(own).leadingBack
        case .updated, .inserted: return nil
        }
    }

    /// What both have updated or inserted.
    private func updated(_ ours: ObjectChange, _ theirs: ObjectChange, _ owners: [Owner]) throws -> Result {
        var merged = ObjectChange(.updated, entity: ours.entity, identifier: ours.identifier)
        let first = conflicts.count
        let parts = try parts(ours: ours, theirs: theirs, owners)
        let nested = conflicts[first...]
        conflicts.removeSubrange(first...)
        if granularity == .object, ours.changesObject, theirs.changesObject {
            if let conflict = wholeConflict(ours, theirs) { conflicts.append(conflict) }
        } else {
            mergeValues(ours, theirs, &merged)
            mergeLinks(ours, theirs, &merged)
            for name in entities.orderNames(ours, theirs) {
                if let order = try order(name, ours: ours, theirs: theirs, parts) { merged.order.append(order) }
            }
        }
        conflicts += nested
        merged.relationships += parts.relationships
        merged.relationships.sort { entities.rank($0.name, of: ours.entity) < entities.rank($1.name, of: ours.entity) }
        return Result(merged.saysNothing ? nil : merged)
    }

    // MARK: What belongs to an object

    /// What has come of the objects that an object owns.
    package struct Parts {
        package var relationships: [OwnedChange] = []
        /// Objects that theirs has added or removed, which was not followed.
        package var leftOut: [(relationship: String, object: ObjectReference)] = []
        /// Objects that are merged at another owner.
        var elsewhere: [(relationship: String, objects: [ObjectReference])] = []

        /// The change of an owner that says nothing but this.
        func wrapped(_ owner: ObjectChange) -> ObjectChange? {
            guard !relationships.isEmpty else { return nil }
            var change = ObjectChange(.updated, entity: owner.entity, identifier: owner.identifier)
            change.relationships = relationships
            return change
        }
    }

    private func parts(ours: ObjectChange?, theirs: ObjectChange?, _ owners: [Owner]) throws -> Parts {
        guard let any = ours ?? theirs else { return Parts() }
        var parts = Parts()
        for relationship in entities.ownedNames(ours, theirs) {
            let (own, other) = (ours?.nested(relationship) ?? [:], theirs?.nested(relationship) ?? [:])
            guard !own.isEmpty || !other.isEmpty else { continue }
            let inside = owners + [Owner(entity: any.entity, identifier: any.identifier, relationship: relationship)]
            if !own.isEmpty, !other.isEmpty, !entities.isToMany(relationship, of: any.entity),
                try replaceBoth(any, relationship, own, other, inside, &parts)
            {
                continue
            }
            var changes: [ObjectChange] = []
            var elsewhere: [ObjectReference] = []
            let all = own.keys + other.keys.filter { own[$0] == nil }
            for object in all.sorted(by: { IdentifierOrder.compare($0, $1) < 0 }) {
                let result = try merge(own[object], other[object], inside)
                if let change = result.change { changes.append(change) }
                if result.isLeftOut || result.isElsewhere { parts.leftOut.append((relationship, object)) }
                if result.isElsewhere { elsewhere.append(object) }
            }
            if !changes.isEmpty { parts.relationships.append(OwnedChange(relationship, .objects(changes))) }
            if !elsewhere.isEmpty { parts.elsewhere.append((relationship, elsewhere)) }
        }
        return parts
    }

    /// Where both sides have given an object another part, and not the same one, a conflict.
    private func replaceBoth(
        _ owner: ObjectChange,
        _ relationship: String,
        _ own: [ObjectReference: ObjectChange],
        _ other: [ObjectReference: ObjectChange],
        _ inside: [Owner],
        _ parts: inout Parts
    ) throws -> Bool {
        func arriving(_ changes: [ObjectReference: ObjectChange]) -> ObjectReference? {
            changes.values.first { $0.kind == .inserted || isMoved($0) }?.identifier
        }
        guard let one = arriving(own), let another = arriving(other), one != another else { return false }
        let before = own.values.first { $0.kind == .deleted } ?? other.values.first { $0.kind == .deleted }
        var conflict = MergeConflict(
            kind: .bothChanged,
            entity: owner.entity,
            identifier: owner.identifier,
            base: [.init(relationship, before.map { .object($0.identifier) } ?? .stored(.null))],
            ours: [.init(relationship, .object(one))],
            theirs: [.init(relationship, .object(another))]
        )
        func change(_ changes: [ObjectChange]) -> ObjectChange {
            var change = ObjectChange(.updated, entity: owner.entity, identifier: owner.identifier)
            let sorted = changes.sorted { IdentifierOrder.compare($0.identifier, $1.identifier) < 0 }
            change.relationships = [OwnedChange(relationship, .objects(sorted))]
            return change.wrapped(in: Array(inside.dropLast()))
        }
        let back = own.values.map(\.leadingBack)
        conflict.toBase = change(back)
        // Both have taken away what was there before.
        let forth = other.values.filter { own[$0.identifier] == nil }
        conflict.toTheirs = change(own.values.filter { $0.kind == .inserted }.map(\.leadingBack) + forth)
        conflicts.append(conflict)
        for object in other.keys { parts.leftOut.append((relationship, object)) }
        return true
    }
}
