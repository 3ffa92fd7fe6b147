/// A set of entities: what a model file holds (after `NSManagedObjectModel`).
public struct ModelDescription: Sendable, Hashable {
    /// In the file's order.
    public var entities: [EntityDescription]

    /// A model of these entities.
    public init(entities: [EntityDescription]) {
        self.entities = entities
    }

    /// Whether no entity relates to or inherits from another.
    package var isFlat: Bool {
        entities.allSatisfy { $0.relationships.isEmpty && $0.parent == nil && !$0.isAbstract && $0.subentity == nil }
    }
}
