/// A relationship of a model with its place in the store.
package struct RelationshipStorage: Sendable {
    /// How a relationship is stored.
    package enum Shape: Sendable {
        /// In columns of the owned destination; there is no inverse.
        case ownedDestination
        /// In columns of the source: a to-one without inverse.
        case source
        /// In columns of the to-one's side; the other side is a to-many.
        case oneToMany
        /// In columns of one side of two to-ones.
        case oneToOne
        /// In a table of its own.
        case join
    }

    /// The index of the entity that declares it.
    package let entity: Int
    package let description: RelationshipDescription
    /// The index of the entity that it leads to.
    package let destination: Int
    /// The index of the other side, among the model's relationships; nil for none.
    package let inverse: Int?
    package let shape: Shape
    /// The index of the relationship whose names its storage has: itself, or its inverse.
    package let owner: Int
    /// The index of the entity whose table has the columns; nil for a join table.
    package let holder: Int?
    /// What the names of its columns begin with; empty for a join table.
    package internal(set) var base: String
    /// True if a to-many keeps its order.
    package let isOrdered: Bool

    /// What happens to the destinations of an object that is deleted.
    package var deleteRule: RelationshipDescription.DeleteRule {
        description.deleteRule ?? (shape == .ownedDestination ? .cascade : .nullify)
    }

    /// True if the relationship, whose index is this, has its references in rows, and does not only name rows that have them.
    package func hasReferences(_ index: Int) -> Bool {
        switch shape {
        case .join, .source: true
        case .ownedDestination: false
        case .oneToMany, .oneToOne: owner == index
        }
    }
}
