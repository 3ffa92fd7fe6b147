/// A model: the entities of a model file (after `NSManagedObjectModel`).
public struct ModelDescription: Sendable, Hashable {
    /// The entities, in the file's order.
    public var entities: [EntityDescription]

    /// Creates a model of entities.
    public init(entities: [EntityDescription]) {
        self.entities = entities
    }

    /// True if no entity relates to or inherits from another.
    package var isFlat: Bool {
        entities.allSatisfy { $0.relationships.isEmpty && $0.parent == nil && !$0.isAbstract && $0.subentity == nil }
    }
}
