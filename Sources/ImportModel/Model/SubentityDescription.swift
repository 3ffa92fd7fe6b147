/// How an object says which subentity of its entity it is.
public struct SubentityDescription: Sendable, Hashable {
    /// The key paths of the value that names it; the first one that the object has is used.
    public var from: [AttributePath]
    /// The entities that values name, in the model file's order; a number or boolean is compared as it is written.
    public var values: [Value]

    /// A value, and the entity that it names.
    public struct Value: Sendable, Hashable {
        /// The value in the JSON.
        public var value: String
        /// The entity's name.
        public var entity: String

        /// A value that names an entity.
        public init(_ value: String, entity: String) {
            self.value = value
            self.entity = entity
        }
    }

    /// A choice by the value at these key paths.
    public init(from: [AttributePath], values: [Value]) {
        self.from = from
        self.values = values
    }
}
