import ImportModel

extension EntityDescription {
    /// The columns of the identifier, in its order.
    package var identifierColumns: [String] {
        identifier.compactMap { name in attributes.first { $0.name == name }?.column }
    }
}
