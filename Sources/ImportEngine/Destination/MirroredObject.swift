/// An object that the sources of a mirror no longer have.
public struct MirroredObject: Sendable, Hashable, Codable {
    /// How many are listed at most.
    package static let mostListed = 20

    /// Its entity's name.
    public let entity: String
    /// The values of its identifier, by the names of their attributes.
    public let identifier: ObjectReference

    package init(entity: String, identifier: ObjectReference) {
        self.entity = entity
        self.identifier = identifier
    }
}
