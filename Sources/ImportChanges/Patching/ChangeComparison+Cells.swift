import ImportEngine
import ImportModel
import ImportSources

/// The cells that a change is about.
extension ChangeComparison {
    /// The cells that a change gives on one of its sides, by column.
    package func cells(
        of change: ObjectChange,
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
            guard let column = entity.attributes[BytewiseString(attribute.name)] else {
                plan.note(.unknownKey, index, attribute.name)
                continue
            }
            cells[column] = value
        }
        for reference in change.references {
            guard case .toOne(let old, let new) = reference.content,
                let target = side == \AttributeChange.new ? new : old
            else { continue }
            guard let columns = columns(of: reference.name, entity) else {
                plan.note(.unknownKey, index, reference.name)
                continue
            }
            let values = try self.values(of: target, columns.count, reference.name, entity)
            for (column, value) in zip(columns, values) { cells[column] = value }
        }
        return cells
    }

    package func columns(of reference: String, _ entity: PatchedEntity) -> [Int]? {
        // Where the store does not know what a column refers to, it is a column all the same.
        entity.reference(reference)?.columns ?? entity.attributes[BytewiseString(reference)].map { [$0] }
    }

    package func values(
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
    package func written(
        _ change: ObjectChange,
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
            guard let column = entity.attributes[BytewiseString(attribute.name)] else {
                plan.note(.unknownKey, index, attribute.name)
                continue
            }
            guard !entity.identifier.contains(column) else { continue }
            let value = stored[column]
            if entity.local.contains(column) {
                if value != new { plan.note(.localKept, index, attribute.name) }
                continue
            }
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
                let conflict = change.conflict(
                    .changed,
                    first.name,
                    old: first.old.map { .stored($0) },
                    new: .stored(first.new),
                    stored: .stored(stored[first.column])
                )
                let decision = try decide(conflict, &plan)
                guard decision.policy == .take else { continue }
                if let value = decision.value, let place = places.first(where: { compared[$0].isInTheWay }) {
                    compared[place].new = value
                }
            }
            for other in places where stored[compared[other].column] != compared[other].new {
                written.append((compared[other].column, compared[other].new))
            }
        }
        for reference in change.references {
            guard case .toOne(let old, let new?) = reference.content else { continue }
            guard let columns = columns(of: reference.name, entity) else {
                plan.note(.unknownKey, index, reference.name)
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
            let isNulled = try nulled(change, index, stored).isSuperset(of: columns)
            if !isNulled, before.map({ !isSame($0) }) ?? !options.isUnchecked {
                let conflict = change.conflict(
                    .changed,
                    reference.name,
                    old: old.map(Self.shown),
                    new: Self.shown(new),
                    stored: now.contains(.null) ? .stored(.null) : Self.shown(new, now)
                )
                guard try decide(conflict, &plan).policy == .take else { continue }
            }
            for (column, value) in zip(columns, values) where !entity.identifier.contains(column) {
                written.append((column, value))
            }
        }
        return written
    }

    /// The columns that were what the change says until what they referred to was deleted by another change.
    package func nulled(_ change: ObjectChange, _ index: Int, _ stored: [StoredValue]) throws -> Set<Int> {
        guard !deleted.isEmpty else { return [] }
        var found: Set<Int> = []
        for reference in change.references {
            guard case .toOne(.object(let object)?, _) = reference.content,
                let known = schema.entities[index].reference(reference.name),
                known.columns.contains(where: { stored[$0] == .null })
            else { continue }
            let destination = try schema.index(known.destination)
            let target = DeletedObject(entity: destination, key: try key(of: object, schema.entities[destination]))
            if deleted.contains(target) { found.formUnion(known.columns) }
        }
        return found
    }

    package static func shown(_ target: ReferenceChange.Target) -> PatchConflict.Value {
        switch target {
        case .null: .stored(.null)
        case .object(let object): .object(object)
        }
    }

    /// What is stored, with the names of what the change refers to.
    package static func shown(_ target: ReferenceChange.Target, _ values: [StoredValue]) -> PatchConflict.Value {
        guard case .object(let object) = target, object.values.count == values.count else {
            return .stored(values.first ?? .null)
        }
        return .object(ObjectReference(zip(object.values, values).map { NamedValue($0.name, $1) }))
    }
}
