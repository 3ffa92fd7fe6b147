import ImportModel

extension EntityDescription {
    /// The entity with what an earlier model says of it beyond this one.
    package func continuing(_ earlier: EntityDescription) -> EntityDescription {
        let columns = Set(attributes.map { ExistingEntity.folded($0.column) })
        var entity = self
        if entity.identifier.isEmpty { entity.identifier = earlier.identifier }
        if entity.userInfo == nil { entity.userInfo = earlier.userInfo }
        if entity.indexes.isEmpty { entity.indexes = earlier.indexes }
        entity.attributes += earlier.attributes.filter { !columns.contains(ExistingEntity.folded($0.column)) }
        return entity
    }
}
