import ImportModel

/// An entity that a migration has removed, as the jobs that imported it have it in their models.
///
/// What they counted and rejected of it stays. It has a name that no other entity has, and a table that nobody can have.
package enum RemovedEntity {
    private static let table = "_import_gone"

    /// A model with entities that are gone.
    package static func add(_ names: [String], to model: ModelDescription) -> ModelDescription {
        var model = model
        for (index, name) in names.enumerated() {
            var entity = EntityDescription(name: name, attributes: [])
            entity.table = "\(table)_\(index)"
            model.entities.append(entity)
        }
        return model
    }

    /// True if a job's model has an entity of this name that is gone.
    package static func isIn(_ model: ModelDescription, _ name: String) -> Bool {
        model.entities.contains { $0.table.hasPrefix(table) && $0.name.hasSameBytes(as: name) }
    }

    /// A job's model without what is gone: what its rejects are retried with.
    package static func remove(from model: ModelDescription) -> ModelDescription {
        var model = model
        model.entities.removeAll { $0.table.hasPrefix(table) }
        return model
    }
}
