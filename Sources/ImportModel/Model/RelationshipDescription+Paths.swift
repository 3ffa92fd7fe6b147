extension RelationshipDescription.Source {
    /// Where it is read in a record.
    package var paths: [AttributePath] {
        switch self {
        case .value(let path), .members(let path): [path]
        case .identifier(let paths): paths
        }
    }
}
