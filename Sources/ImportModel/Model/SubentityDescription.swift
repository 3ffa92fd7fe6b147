/// The value that names an object's subentity.
public struct SubentityDescription: Sendable, Hashable {
    /// The key paths of the value that names it; the first one that the object has is used.
    public var from: [AttributePath]
    /// True if it is the key that tells, of which an object has one (`{"Created": {…}}`), and not a value: `"from": "*"`.
    public var isByKey = false
    /// The values with their entities, in the model file's order; a number or boolean is compared as it is written.
    public var values: [Value]

    /// A value, and the entity that it names.
    public struct Value: Sendable, Hashable {
        /// The value in the JSON.
        public var value: String
        /// The entity's name; nil where records with this value are left out.
        public var entity: String?

        /// Creates a value that names an entity, or leaves records out.
        public init(_ value: String, entity: String?) {
            self.value = value
            self.entity = entity
        }
    }

    /// Creates a choice by the value at the given key paths.
    public init(from: [AttributePath], values: [Value]) {
        self.from = from
        self.values = values
    }
}
