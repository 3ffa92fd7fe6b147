import GRDB
import ImportEngine
import ImportModel
import ImportSources

extension StoredEntities {
    /// The model of a store: the entities that all of its imports together have; nil where it has none.
    ///
    /// Those that relate to one another come first, as their layout has them.
    package static func model(_ database: Database) throws -> ModelDescription? {
        let described = try described(database)
        guard !described.isEmpty else { return nil }
        let layout = try layout(database)
        var entities = layout?.entities ?? []
        for index in entities.indices {
            let name = BytewiseString(entities[index].name)
            guard let layout, let other = described.first(where: { BytewiseString($0.entity.name) == name }) else {
                continue
            }
            let known = Set(
                layout.tables.first { $0.name.hasSameBytes(as: layout.table(of: index)) }?.columns
                    .map { ExistingEntity.folded($0.name) } ?? []
            )
            if !other.isGiven { entities[index] = other.demanded(entities[index]) }
            // What an earlier model had, and the latest does not mention.
            entities[index].attributes += other.entity.attributes.filter {
                !known.contains(ExistingEntity.folded($0.column))
            }
        }
        var names = Set(entities.map { BytewiseString($0.name) })
        for var other in described where names.insert(BytewiseString(other.entity.name)).inserted {
            if other.entity.identifier.isEmpty { other.entity.identifier = other.identifier }
            entities.append(other.demanded(other.entity))
        }
        return ModelDescription(entities: entities)
    }
}

extension StoredEntities.DescribedEntity {
    /// An entity with optional attributes where a model that was inferred has only observed that each record has a value.
    fileprivate func demanded(_ entity: EntityDescription) -> EntityDescription {
        var entity = entity
        for (place, attribute) in entity.attributes.enumerated() {
            let isDemanded =
                required.contains(ExistingEntity.folded(attribute.column)) || attribute.defaultValue != nil
                || attribute.isGenerated || entity.identifier.contains(attribute.name)
            if !isDemanded { entity.attributes[place].isOptional = true }
        }
        return entity
    }
}
