/// Why no tables can be made of a model.
package struct LayoutError: Error, Sendable {
    /// The index of the entity that is the reason.
    package let entity: Int
    package let message: String
}
