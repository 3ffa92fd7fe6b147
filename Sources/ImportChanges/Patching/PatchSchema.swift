import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// An entity that changes are of, and where the store keeps its objects.
package struct PatchedEntity {
    /// What it refers to by a relationship.
    package struct Reference {
        package let name: String
        /// Places among `columns`, in the order of the destination's identifier.
        package let columns: [Int]
        package let destination: String
    }

    /// What it owns by a relationship.
    package struct Owned {
        package let name: String
        package let child: String
        /// The child's columns that hold the owner's identifier, or the key of its row.
        package let columns: [String]
        /// The child's relationship that they are; nil where it has none of that name.
        package let inverse: String?
        package let isToMany: Bool
        package let position: String?
    }

    package let name: String
    package let table: String
    /// The columns that changes may be about.
    package let columns: [String]
    /// Places among `columns`; empty for a part of its owner.
    package let identifier: [Int]
    let identifierNames: [String]
    /// By name the index among `columns`.
    package let attributes: [BytewiseString: Int]
    /// The order of the attributes, for values that have no identifier.
    let attributeOrder: [BytewiseString]
    package let references: [Reference]
    package let owned: [Owned]
    package let joins: [ComparedSchema.Join]
    /// The relationships to what it does not own whose changes are nested in its own nevertheless.
    package let included: Set<BytewiseString>
    let together: [[String]]
    /// The columns whose values are the store's users' own once the object exists.
    package let local: Set<Int>
    /// The column by which parts of its parts refer to it, where it has no identifier.
    let rowKey: String
    /// The columns that an index makes unique, in lower case; of each whether it may be null.
    package let unique: [BytewiseString: Bool]
    /// What statements that write one object do where the table refuses it.
    let conflictClause: ConflictClause
    /// The statement that reads the columns of an object by its identifier.
    package let selection: String

    var isValue: Bool { identifier.isEmpty }

    package func reference(_ name: String) -> Reference? { references.first { $0.name.hasSameBytes(as: name) } }
    func ownership(_ name: String) -> Owned? { owned.first { $0.name.hasSameBytes(as: name) } }
    package func join(_ name: String) -> ComparedSchema.Join? { joins.first { $0.name.hasSameBytes(as: name) } }

    package var identifierColumns: [String] { identifier.map { columns[$0] } }
}

/// The entities of a change set as a store has them.
package struct PatchSchema {
    package private(set) var entities: [PatchedEntity] = []
    private var places: [BytewiseString: Int] = [:]
    /// Why entities of the change set cannot be changed in this store.
    private var faults: [BytewiseString: ImportError] = [:]
    /// By table, in lower case.
    private(set) var referring: [BytewiseString: [StoredForeignKey]] = [:]
    /// The entities with the descriptions by which values are read.
    package private(set) var described: [ChangedEntity] = []
    /// True if the store has triggers of its own.
    let hasTriggers: Bool
    /// True if a statement changes nothing but what it names: the store has neither triggers nor foreign keys.
    let statementsStandAlone: Bool

    package init(_ header: ChangeSetHeader, _ side: ComparedSchema, _ database: Database) throws {
        hasTriggers = try database.hasTriggers()
        for described in header.entities {
            guard let stored = side.entity(described.name) else {
                faults[BytewiseString(described.name)] = ImportError(
                    .storesIncomparable,
                    at: side.store,
                    "has no entity \(described.name), which the change set is about",
                    advice: "Leave the entity out of the comparison, or bring the store to the same model first."
                )
                self.described.append(described)
                continue
            }
            self.described.append(Self.described(described, stored))
            do {
                let entity = try Self.entity(described, stored, side, hasTriggers: hasTriggers, database)
                places[BytewiseString(described.name)] = entities.count
                entities.append(entity)
            } catch let error as ImportError {
                faults[BytewiseString(described.name)] = error
            }
        }
        let joins = Set(entities.flatMap { $0.joins.map { ExistingEntity.folded($0.table) } })
        let foreignKeys = try StoredForeignKey.all(database)
        statementsStandAlone = !hasTriggers && foreignKeys.isEmpty
        for key in foreignKeys where !joins.contains(ExistingEntity.folded(key.table)) {
            referring[ExistingEntity.folded(key.parent), default: []].append(key)
        }
    }

    /// The index of an entity.
    ///
    /// - Throws: `ImportError` where the store does not have it, or has other identifiers.
    package func index(_ name: String) throws -> Int {
        if let place = places[BytewiseString(name)] { return place }
        throw faults[BytewiseString(name)]
            ?? ImportError(
                .changeSetInvalid,
                "a change is of the entity \(name), which the header does not have",
                advice: "Make the change set again."
            )
    }

    // MARK: Entities

    /// The header's entity, read as the store keeps its values where the types are the same.
    private static func described(_ entity: ChangedEntity, _ stored: ComparedSchema.Entity) -> ChangedEntity {
        var entity = entity
        let known = Dictionary(stored.attributes.map { (BytewiseString($0.name), $0) }) { first, _ in first }
        for (place, attribute) in entity.attributes.enumerated() {
            guard let own = known[BytewiseString(attribute.name)]?.description,
                own.type == attribute.description?.type
            else { continue }
            entity.attributes[place].description = own
        }
        return entity
    }

    private static func entity(
        _ described: ChangedEntity,
        _ stored: ComparedSchema.Entity,
        _ side: ComparedSchema,
        hasTriggers: Bool,
        _ database: Database
    ) throws -> PatchedEntity {
        guard described.identifier.map(BytewiseString.init) == stored.identifier.map({ BytewiseString($0.name) }) else {
            func text(_ names: [String]) -> String {
                names.isEmpty ? "nothing" : names.joined(separator: ", ").printable
            }
            throw ImportError(
                .storesIncomparable,
                at: side.store,
                "\(described.name) is identified by \(text(described.identifier)) in the change set, and by "
                    + "\(text(stored.identifier.map(\.name))) in the store",
                advice: "Say which attributes identify it (\(.identifier)), or make the change set again."
            )
        }
        var columns: [String] = []
        var known: [BytewiseString: Int] = [:]
        func place(_ column: String) -> Int {
            if let place = known[ExistingEntity.folded(column)] { return place }
            known[ExistingEntity.folded(column)] = columns.count
            columns.append(column)
            return columns.count - 1
        }
        let identifier = stored.identifier.map { place($0.column) }
        var attributes: [BytewiseString: Int] = [:]
        for attribute in stored.attributes { attributes[BytewiseString(attribute.name)] = place(attribute.column) }
        for attribute in stored.identifier { attributes[BytewiseString(attribute.name)] = place(attribute.column) }
        let references = stored.toOnes.map { toOne in
            PatchedEntity.Reference(
                name: toOne.name,
                columns: toOne.columns.map(place),
                destination: toOne.destination
            )
        }
        // What only this store takes for a reference is an attribute in the change set.
        for toOne in stored.toOnes where described.relationships.allSatisfy({ !$0.name.hasSameBytes(as: toOne.name) }) {
            for column in toOne.columns where attributes[BytewiseString(column)] == nil {
                attributes[BytewiseString(column)] = place(column)
            }
        }
        var unique: [BytewiseString: Bool] = [:]
        let table = try StoredTable(stored.table, database)
        for column in table.keys.joined() {
            unique[ExistingEntity.folded(column.name)] = !table.isNeverNull(column.name)
        }
        return PatchedEntity(
            name: described.name,
            table: stored.table,
            columns: columns,
            identifier: identifier,
            identifierNames: described.identifier,
            attributes: attributes,
            attributeOrder: described.attributes.map { BytewiseString($0.name) },
            references: references,
            owned: described.relationships.filter(\.isOwned).compactMap { owned($0, of: stored, side) },
            joins: described.relationships.filter { $0.isToMany && !$0.isOwned }.compactMap { relationship in
                side.joins.first {
                    $0.name.hasSameBytes(as: relationship.name) && $0.entity.hasSameBytes(as: described.name)
                }
            },
            included: Set(described.relationships.filter(\.isIncluded).map { BytewiseString($0.name) }),
            together: stored.together.isEmpty ? described.together : stored.together,
            local: Set(
                stored.attributes.filter { $0.description?.owner == .local }.compactMap {
                    attributes[BytewiseString($0.name)]
                }
            ),
            rowKey: stored.rowKey ?? "rowid",
            unique: unique,
            conflictClause: hasTriggers ? .abort : .fail,
            selection: PatchSQL.select(columns, of: stored.table, by: identifier.map { columns[$0] })
        )
    }

    private static func owned(
        _ relationship: ChangedEntity.Relationship,
        of owner: ComparedSchema.Entity,
        _ side: ComparedSchema
    ) -> PatchedEntity.Owned? {
        guard let child = side.entity(relationship.entity) else { return nil }
        let leading = child.toOnes.filter { $0.destination.hasSameBytes(as: owner.name) }
        let ownership = child.ownerships.first { ownership in
            ownership.name.hasSameBytes(as: relationship.name)
                && leading.contains { $0.name.hasSameBytes(as: ownership.toOne) }
        }
        // A store whose foreign key does not cascade has the reference all the same.
        guard
            let toOne = ownership.flatMap({ own in leading.first { $0.name.hasSameBytes(as: own.toOne) } })
                ?? (leading.count == 1 ? leading[0] : nil)
        else { return nil }
        return PatchedEntity.Owned(
            name: relationship.name,
            child: child.name,
            columns: toOne.columns,
            inverse: toOne.name,
            isToMany: relationship.isToMany,
            position: ownership?.position
        )
    }
}
