import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Finds what of theirs would break a unique index or a foreign key beside what ours has, judged by the merged state.
///
/// Such parts of a change are left out of it, and are conflicts.
package final class MergeConstraintCheck {
    /// A unique index.
    private struct Key {
        /// Of each column the attribute or reference that it holds, and the place in that one's identifier.
        let parts: [(name: String, place: Int)]
        let columns: [String]
        /// Finds the objects that have these values.
        let rows: ComparisonCursor

        /// The values after a change; nil where they are not known.
        func values(after change: ObjectChange, _ stored: [StoredValue]?, _ names: [String]) -> [StoredValue]? {
            var values: [StoredValue] = []
            for (part, column) in zip(parts, columns) {
                let known = names.firstIndex(of: column).flatMap { place in stored.map { $0[place] } }
                guard let value = change.value(part.name, part.place) ?? known else { return nil }
                values.append(value)
            }
            return values
        }
    }

    /// A relationship of an entity that leads to another one.
    private struct Referring {
        let entity: String
        let name: String
        let isToMany: Bool
        /// Finds the objects that refer to one.
        let rows: ComparisonCursor
    }

    private struct Entity {
        let identifier: [String]
        var keys: [Key] = []
        var referring: [Referring] = []
        /// Of references and many-to-many, the entity that each leads to.
        var destinations: [BytewiseString: String] = [:]
        /// The relationship to what its objects belong to.
        var inverse: String?
        /// Finds an object by its identifier.
        let rows: ComparisonCursor
        /// Reads the columns of all keys of an object.
        let values: ComparisonCursor
        let valueNames: [String]
        /// Finds what an object belongs to: the owner's entity, and the owner's identifier by that of the object.
        var owner: (entity: String, rows: ComparisonCursor)?
    }

    private let ours: any MergeSide
    private let theirs: any MergeSide
    private var entities: [BytewiseString: Entity] = [:]
    /// After the statements, which must be gone before it is.
    private let store: ComparedStore

    package init(
        _ store: ComparedStore,
        _ merged: MergedEntities,
        ours: any MergeSide,
        theirs: any MergeSide
    ) throws {
        self.ours = ours
        self.theirs = theirs
        self.store = store
        try store.read { database in
            let connection = try database.handle
            func rows(_ sql: String) throws -> ComparisonCursor {
                try ComparisonCursor(connection, SQLFragment(sql), path: 0, isUTF8: store.isUTF8)
            }
            for schema in store.schema.entities where !schema.identifier.isEmpty {
                entities[BytewiseString(schema.name)] = try Self.entity(
                    schema,
                    merged.inverse(of: schema.name),
                    database,
                    rows
                )
            }
            try addReferring(store.schema, rows)
        }
    }

    // MARK: Statements

    private static func entity(
        _ schema: ComparedSchema.Entity,
        _ inverse: String?,
        _ database: Database,
        _ rows: (String) throws -> ComparisonCursor
    ) throws -> Entity {
        let table = "main.\(schema.table.quotedIdentifier)"
        let identifier = schema.identifier.map(\.column.quotedIdentifier)
        let key = identifier.joined(separator: ", ")
        var places: [BytewiseString: (name: String, place: Int)] = [:]
        for attribute in schema.attributes + schema.identifier {
            places[ExistingEntity.folded(attribute.column)] = (attribute.name, 0)
        }
        for toOne in schema.toOnes {
            for (place, column) in toOne.columns.enumerated() where places[ExistingEntity.folded(column)] == nil {
                places[ExistingEntity.folded(column)] = (toOne.name, place)
            }
        }
        var names: [String] = []
        var keys: [Key] = []
        for columns in try StoredTable(schema.table, database).keys {
            let parts = columns.compactMap { places[ExistingEntity.folded($0.name)] }
            guard parts.count == columns.count else { continue }
            let isIdentifier =
                Set(columns.map { ExistingEntity.folded($0.name) })
                == Set(schema.identifier.map { ExistingEntity.folded($0.column) })
            // By bytes, identifiers are different ones.
            if isIdentifier, columns.allSatisfy({ $0.collation.uppercased() == "BINARY" }) { continue }
            let condition = columns.enumerated().map { place, column in
                "\(column.name.quotedIdentifier) = ?\(place + 1) COLLATE \(column.collation.quotedIdentifier)"
            }
            keys.append(
                Key(
                    parts: parts,
                    columns: columns.map(\.name),
                    rows: try rows("SELECT \(key) FROM \(table) WHERE \(condition.joined(separator: " AND "))")
                )
            )
            for column in columns where !names.contains(column.name) { names.append(column.name) }
        }
        let condition = identifier.enumerated().map {
            "\($1) = ?\($0 + 1) AND \($1) = ?\($0 + 1) COLLATE BINARY AND typeof(\($1)) = typeof(?\($0 + 1))"
        }.joined(separator: " AND ")
        let columns = names.isEmpty ? "1" : names.map(\.quotedIdentifier).joined(separator: ", ")
        var entity = Entity(
            identifier: schema.identifier.map(\.name),
            inverse: inverse,
            rows: try rows("SELECT 1 FROM \(table) WHERE \(condition)"),
            values: try rows("SELECT \(columns) FROM \(table) WHERE \(condition)"),
            valueNames: names
        )
        entity.keys = keys
        if let toOne = schema.toOnes.first(where: { $0.name.hasSameBytes(as: inverse ?? "") }) {
            let columns = toOne.columns.map(\.quotedIdentifier).joined(separator: ", ")
            entity.owner = (toOne.destination, try rows("SELECT \(columns) FROM \(table) WHERE \(condition)"))
        }
        for toOne in schema.toOnes { entity.destinations[BytewiseString(toOne.name)] = toOne.destination }
        return entity
    }

    private func addReferring(_ schema: ComparedSchema, _ rows: (String) throws -> ComparisonCursor) throws {
        func condition(_ columns: [String]) -> String {
            columns.enumerated().map { "\($1.quotedIdentifier) = ?\($0 + 1)" }.joined(separator: " AND ")
        }
        for entity in schema.entities where !entity.identifier.isEmpty {
            let key = entity.identifier.map(\.column.quotedIdentifier).joined(separator: ", ")
            for toOne in entity.toOnes {
                let sql =
                    "SELECT \(key) FROM main.\(entity.table.quotedIdentifier) WHERE \(condition(toOne.columns))"
                entities[BytewiseString(toOne.destination)]?.referring.append(
                    Referring(entity: entity.name, name: toOne.name, isToMany: false, rows: try rows(sql))
                )
            }
        }
        for join in schema.joins {
            entities[BytewiseString(join.entity)]?.destinations[BytewiseString(join.name)] = join.destination
            let key = join.columns.map(\.quotedIdentifier).joined(separator: ", ")
            let sql =
                "SELECT \(key) FROM main.\(join.table.quotedIdentifier) WHERE \(condition(join.destinationColumns))"
            entities[BytewiseString(join.destination)]?.referring.append(
                Referring(entity: join.entity, name: join.name, isToMany: true, rows: try rows(sql))
            )
        }
    }

    /// The identifiers that a statement finds, as far as `isWanted` wants them.
    private func first(
        _ rows: ComparisonCursor,
        _ key: [StoredValue],
        _ identifier: [String],
        _ isWanted: (ObjectReference) throws -> Bool
    ) throws -> ObjectReference? {
        // What is wanted may ask the same statement.
        var found: [ObjectReference] = []
        rows.reset()
        for (place, value) in key.enumerated() { try rows.bind(value.bound, at: place) }
        try rows.advance()
        while rows.hasRow {
            let object = ObjectReference(identifier.indices.map { NamedValue(identifier[$0], rows.value($0)) })
            found.append(object)
            // In parts, so that memory does not depend on how many there are.
            if found.count == 1000 {
                for object in found where try isWanted(object) {
                    rows.reset()
                    return object
                }
                found = []
            }
            try rows.advance()
        }
        rows.reset()
        return try found.first(where: isWanted)
    }

    private func has(_ entity: String, _ object: ObjectReference) throws -> Bool {
        guard let own = entities[BytewiseString(entity)] else { return true }
        let rows = own.rows
        defer { rows.reset() }
        rows.reset()
        for (place, value) in object.values.enumerated() where place < rows.argumentCount {
            try rows.bind(value.value.bound, at: place)
        }
        try rows.advance()
        return rows.hasRow
    }

    /// What becomes of an object of ours.
    private func merged(_ entity: String, _ object: ObjectReference, _ merge: ObjectMerge) throws -> ObjectChange? {
        try merge.quietly {
            try merge.merge(try ours.change(of: entity, object), try theirs.change(of: entity, object)).change
        }
    }

    // MARK: Changes

    /// What is left of a change without what breaks a constraint; nil where nothing is.
    package func checked(
        _ change: ObjectChange,
        _ merge: ObjectMerge,
        _ conflicts: inout [MergeConflict],
        _ owners: [ObjectMerge.Owner] = []
    ) throws -> ObjectChange? {
        var left = change
        switch change.kind {
        case .deleted:
            var asked: Set<ObjectReference> = []
            guard try isReferred(change, merge, &asked) else { return change }
            let all = change.properties(\.old)
            var conflict = MergeConflict(
                kind: .constraint,
                entity: change.entity,
                identifier: change.identifier,
                base: all,
                ours: all,
                theirs: nil
            )
            conflict.toTheirs = change
            conflicts.append(conflict)
            return nil
        case .inserted:
            if try !brokenKeys(change, merge).isEmpty || !danglingNames(change).isEmpty {
                var conflict = MergeConflict(
                    kind: .constraint,
                    entity: change.entity,
                    identifier: change.identifier,
                    base: nil,
                    ours: nil,
                    theirs: change.properties(\.new)
                )
                conflict.toTheirs = change.wrapped(in: owners)
                conflicts.append(conflict)
                return nil
            }
        case .updated:
            for names in try brokenKeys(change, merge) + danglingNames(change).map({ [$0] }) {
                leaveOut(names, merge, &left, &conflicts)
            }
        }
        left.relationships = try left.relationships.compactMap { owned in
            guard case .objects(let changes) = owned.content else { return owned }
            let inside =
                owners
                + [.init(entity: change.entity, identifier: change.identifier, relationship: owned.name)]
            let rest = try changes.compactMap { try checked($0, merge, &conflicts, inside) }
            return rest.isEmpty ? nil : OwnedChange(owned.name, .objects(rest))
        }
        return left.saysNothing ? nil : left
    }

    /// Takes attributes and references out of an update.
    private func leaveOut(
        _ names: [String],
        _ merge: ObjectMerge,
        _ change: inout ObjectChange,
        _ conflicts: inout [MergeConflict]
    ) {
        let all = names.flatMap { merge.entities.group(of: $0, change.entity) ?? [$0] }
        func isMeant(_ name: String) -> Bool { all.contains { $0.hasSameBytes(as: name) } }
        var part = ObjectChange(.updated, entity: change.entity, identifier: change.identifier)
        part.attributes = change.attributes.filter { isMeant($0.name) }
        part.references = change.references.filter { isMeant($0.name) }
        guard !part.saysNothing else { return }
        change.attributes.removeAll { isMeant($0.name) }
        change.references.removeAll { isMeant($0.name) }
        let old = part.properties(\.old)
        var conflict = MergeConflict(
            kind: .constraint,
            entity: change.entity,
            identifier: change.identifier,
            base: old,
            ours: old,
            theirs: part.properties(\.new)
        )
        for reference in part.references {
            guard case .toMany(let added, let removed) = reference.content else { continue }
            conflict.theirs?.append(.init(reference.name, .links(added: added, removed: removed)))
        }
        conflict.toTheirs = part
        conflicts.append(conflict)
    }

    /// The unique indexes, by the names of what they are of that changes, whose new values another object has.
    private func brokenKeys(_ change: ObjectChange, _ merge: ObjectMerge) throws -> [[String]] {
        guard let entity = entities[BytewiseString(change.entity)] else { return [] }
        var broken: [[String]] = []
        for key in entity.keys {
            let changed = key.parts.map(\.name).filter { change.says($0) }
            guard change.kind == .inserted || !changed.isEmpty else { continue }
            guard let values = try values(key, change, entity), !values.contains(.null) else { continue }
            let other = try first(key.rows, values, entity.identifier) { object in
                if object == change.identifier { return false }
                guard let other = try merged(change.entity, object, merge) else { return true }
                if other.kind == .deleted { return false }
                return !key.parts.contains { other.says($0.name) }
            }
            if other != nil { broken.append(changed) }
        }
        return broken
    }

    /// The values of a key after a change; nil where they are not known.
    private func values(_ key: Key, _ change: ObjectChange, _ entity: Entity) throws -> [StoredValue]? {
        var stored: [StoredValue]?
        if change.kind == .updated {
            let rows = entity.values
            rows.reset()
            for (place, value) in change.identifier.values.enumerated() where place < rows.argumentCount {
                try rows.bind(value.value.bound, at: place)
            }
            try rows.advance()
            if rows.hasRow { stored = entity.valueNames.indices.map(rows.value) }
            rows.reset()
        }
        return key.values(after: change, stored, entity.valueNames)
    }

    /// The references that lead to what ours has deleted.
    private func danglingNames(_ change: ObjectChange) throws -> [String] {
        var asked: Set<ObjectReference> = []
        return try danglingNames(change, &asked)
    }

    private func danglingNames(_ change: ObjectChange, _ asked: inout Set<ObjectReference>) throws -> [String] {
        guard let entity = entities[BytewiseString(change.entity)] else { return [] }
        return try change.references.compactMap { reference in
            guard let destination = entity.destinations[BytewiseString(reference.name)] else { return nil }
            var targets: [ObjectReference] = []
            switch reference.content {
            case .toOne(_, .object(let object)?): targets = [object]
            case .toMany(let added, _): targets = added
            case .toOne: break
            }
            let isDangling = try targets.contains { try !willExist(destination, $0, &asked) }
            return isDangling ? reference.name : nil
        }
    }

    /// True if an object is in the merged state, or in no state that could tell.
    private func willExist(
        _ entity: String,
        _ object: ObjectReference,
        _ asked: inout Set<ObjectReference>
    ) throws -> Bool {
        if try has(entity, object) { return true }
        if try ours.change(of: entity, object)?.kind == .deleted { return false }
        // New objects may refer to each other.
        guard asked.count < 1000, asked.insert(object).inserted,
            let change = try theirs.change(of: entity, object), change.kind == .inserted
        else { return true }
        return try danglingNames(change, &asked).isEmpty
    }

    /// True if something refers to an object that theirs has deleted, or to what that owns, in the merged state, too.
    private func isReferred(
        _ change: ObjectChange,
        _ merge: ObjectMerge,
        _ asked: inout Set<ObjectReference>
    ) throws -> Bool {
        for referring in entities[BytewiseString(change.entity)]?.referring ?? [] {
            guard let identifier = entities[BytewiseString(referring.entity)]?.identifier else { continue }
            let key = change.identifier.values.map(\.value)
            guard referring.rows.argumentCount == key.count else { continue }
            // What belongs to it has been merged with it.
            if let inverse = entities[BytewiseString(referring.entity)]?.inverse,
                inverse.hasSameBytes(as: referring.name)
            {
                continue
            }
            let found = try first(referring.rows, key, identifier) { object in
                if try isKept(referring.entity, object) { return true }
                guard let after = try merged(referring.entity, object, merge) else { return true }
                if after.kind == .deleted {
                    // Which may have to stay, too.
                    return try asked.count < 1000 && asked.insert(object).inserted && isReferred(after, merge, &asked)
                }
                return referring.isToMany
                    ? !after.links(referring.name).removed.contains(change.identifier) : !after.says(referring.name)
            }
            if found != nil { return true }
        }
        for owned in change.relationships {
            guard case .objects(let changes) = owned.content else { continue }
            for inner in changes where inner.kind == .deleted {
                if try isReferred(inner, merge, &asked) { return true }
            }
        }
        return false
    }

    /// True if an object stays as ours has it because the sides contradict each other about what it belongs to.
    private func isKept(_ entity: String, _ object: ObjectReference) throws -> Bool {
        var (entity, object) = (entity, object)
        // Nothing belongs to itself in the end; a store that says so is not followed for ever.
        for _ in 0..<1000 {
            guard let (owner, rows) = entities[BytewiseString(entity)]?.owner,
                let identifier = entities[BytewiseString(owner)]?.identifier
            else { return false }
            rows.reset()
            defer { rows.reset() }
            for (place, value) in object.values.enumerated() where place < rows.argumentCount {
                try rows.bind(value.value.bound, at: place)
            }
            try rows.advance()
            guard rows.hasRow, !identifier.indices.contains(where: rows.isNull) else { return false }
            object = ObjectReference(identifier.indices.map { NamedValue(identifier[$0], rows.value($0)) })
            entity = owner
            if try theirs.change(of: entity, object)?.kind == .deleted,
                try ours.change(of: entity, object)?.kind == .updated
            {
                return true
            }
        }
        return false
    }
}
