/// Options of a merge of two states of a store.
public struct MergeOptions: Sendable, Hashable {
    /// How conflicts are handled.
    public enum ConflictPolicy: String, Sendable, Hashable, Codable, CaseIterable {
        /// Conflicts stay open, and nothing is written to a store.
        case stop
        /// The values of ours are kept.
        case ours
        /// The values of theirs are written.
        case theirs
        /// Conflicts stay open, with the values of ours until they are resolved; all other changes are written.
        case mark
    }

    /// The smallest parts that the two sides may change independently without a conflict.
    public enum Granularity: String, Sendable, Hashable, Codable, CaseIterable {
        /// Different attributes of the same object.
        case attribute
        /// Different objects.
        case object
    }

    /// How conflicts are handled.
    public var conflicts = ConflictPolicy.stop
    /// The smallest parts that the two sides may change independently without a conflict.
    public var granularity = Granularity.attribute
    /// The only entities that are merged, with what they own; empty for all.
    public var entities: [String] = []
    /// The identifiers by entity, for entities whose identifier the stores do not have.
    public var identifiers: [String: [String]] = [:]

    /// Creates options with the defaults of the command.
    public init() {}
}
