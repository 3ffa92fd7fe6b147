import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Tables that a model describes.
extension ComparedSchema {
    /// Adds the entities of the store's models.
    ///
    /// - Returns: their tables, in lower case.
    mutating func addDescribed(
        _ graph: StoredGraph,
        _ database: Database,
        _ identifiers: [String: [String]]
    ) throws -> Set<BytewiseString> {
        var tables: Set<BytewiseString> = []
        // What shares a table is one entity here, with the name of each object's own among its attributes.
        for stored in graph.entities where stored.subentities == nil {
            tables.insert(ExistingEntity.folded(stored.description.table))
            entities.append(try described(stored, graph, database, identifiers))
        }
        guard let layout = graph.layout else { return tables }
        for index in layout.relationships.indices {
            let placement = layout.relationships[index]
            guard placement.shape == .join, placement.owner == index else { continue }
            let join = layout.join(of: index)
            let columns = (join.source.map(\.name), join.destination.map(\.name))
            guard graph.has(columns.0 + columns.1, of: join.table) else { continue }
            joins.append(
                Join(
                    name: placement.description.name,
                    table: join.table,
                    entity: layout.entities[layout.home(of: placement.entity)].name,
                    columns: columns.0,
                    destination: layout.entities[layout.home(of: placement.destination)].name,
                    destinationColumns: columns.1,
                    position: join.position.flatMap { graph.has([$0], of: join.table) ? $0 : nil }
                )
            )
        }
        return tables
    }

    private func described(
        _ stored: StoredGraph.Entity,
        _ graph: StoredGraph,
        _ database: Database,
        _ identifiers: [String: [String]]
    ) throws -> Entity {
        let description = stored.description
        var entity = Entity(
            name: description.name,
            lineage: stored.index.flatMap { index in
                graph.layout.map { layout in layout.hierarchy.chain(of: index).map { layout.entities[$0].name } }
            } ?? [description.name],
            table: description.table,
            fetched: FetchedEntity(stored, in: graph)
        )
        let table = try StoredTable(description.table, database)
        let all = description.attributes.filter { table.column($0.column)?.isComputed != true }
            .map { Attribute(name: $0.name, column: $0.column, description: $0) }
        entity.attributes = all
        let names: [String]
        if let given = identifiers[description.name] {
            names = given
        } else if !description.identifier.isEmpty {
            names = description.identifier
        } else if case .string(let name)? = description.userInfo?["id"] {
            names = [name]
        } else {
            names = []
        }
        if names.isEmpty, stored.index.map({ graph.layout?.hierarchy.isOwned($0) == false }) ?? true {
            entity.identifier = try Self.identifier(
                table.identifier ?? [],
                of: entity,
                store
            )
        } else {
            entity.identifier = try Self.identifier(names, of: entity, store)
        }
        guard let index = stored.index, let layout = graph.layout else {
            entity.together = description.together
            return entity
        }
        entity.together = Self.groups(of: index, layout)
        addLinks(of: index, layout, graph, to: &entity)
        let links = Set(stored.links.map { ExistingEntity.folded(description.attributes[$0].column) })
        let own = Set(entity.identifier.map { ExistingEntity.folded($0.column) })
        entity.attributes = all.filter { attribute in
            let column = ExistingEntity.folded(attribute.column)
            return !links.contains(column) || own.contains(column)
        }
        entity.rowKey = layout.rowIDColumn(of: index)
        return entity
    }

    /// The groups of an entity, of those that it inherits from, and of those that share its table.
    private static func groups(of index: Int, _ layout: ModelLayout) -> [[String]] {
        let related = layout.entities.indices.filter { layout.home(of: $0) == layout.home(of: index) }
        var seen: Set<Int> = []
        return (layout.hierarchy.chain(of: index).reversed() + related.flatMap { layout.hierarchy.chain(of: $0) })
            .filter { seen.insert($0).inserted }.flatMap { layout.entities[$0].together }
    }

    /// Adds the relationships whose columns the entity's table has.
    private func addLinks(of home: Int, _ layout: ModelLayout, _ graph: StoredGraph, to entity: inout Entity) {
        for index in layout.columnRelationships(of: home) {
            let placement = layout.relationships[index]
            let columns = layout.references(of: index).map(\.name)
            guard graph.has(columns, of: entity.table) else { continue }
            let target = layout.home(of: layout.target(of: index))
            let isShapeOne = placement.shape == .ownedDestination
            let name = isShapeOne ? placement.base : placement.description.name
            entity.toOnes.append(
                ToOne(name: name, columns: columns, destination: layout.entities[target].name)
            )
            let list = isShapeOne ? placement : placement.inverse.map { layout.relationships[$0] }
            guard placement.shape != .source, let list,
                isShapeOne || list.deleteRule == .cascade || layout.hierarchy.isOwned(home)
            else { continue }
            let position = layout.positionColumn(of: index).flatMap { graph.has([$0], of: entity.table) ? $0 : nil }
            entity.ownerships.append(
                Ownership(
                    name: list.description.name,
                    toOne: name,
                    isToMany: list.description.isToMany,
                    position: position
                )
            )
        }
    }
}
