/// A set of entities: what a model file holds (after `NSManagedObjectModel`).
public struct ModelDescription: Sendable, Hashable {
    /// In the file's order.
    public var entities: [EntityDescription]

    /// A model of these entities.
    public init(entities: [EntityDescription]) {
        self.entities = entities
    }
}
