/// A place in a model file.
struct ModelFileLocation {
    let text: String
    /// The numbers of the members and elements on the way, by which places are in the order of the file.
    let order: [Int]

    /// The member with this key, the object's `index`th.
    func key(_ key: String, at index: Int) -> ModelFileLocation {
        ModelFileLocation(text: text + RecordPath(steps: [.key(key)]).description.dropFirst(), order: order + [index])
    }

    /// The element with this number, from 0.
    func index(_ index: Int) -> ModelFileLocation {
        ModelFileLocation(text: "\(text)[\(index)]", order: order + [index])
    }

    /// What is at a path within a value of this position; in order it is the same.
    func inner(_ path: String) -> ModelFileLocation {
        ModelFileLocation(text: path.isEmpty || path.hasPrefix("[") ? text + path : "\(text).\(path)", order: order)
    }

    /// True if this precedes `other`; what holds it precedes it.
    func isBefore(_ other: ModelFileLocation) -> Bool { order.lexicographicallyPrecedes(other.order) }
}
