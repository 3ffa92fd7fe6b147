/// How two states of a store are merged.
public struct MergeOptions: Sendable, Hashable {
    /// What becomes of conflicts.
    public enum ConflictPolicy: String, Sendable, Hashable, Codable, CaseIterable {
        /// They stay open, and nothing is to be written to a store.
        case stop
        /// Ours stays.
        case ours
        /// Theirs counts.
        case theirs
        /// They stay open, ours stays until they are resolved, and all else is written.
        case mark
    }

    /// What two sides may change without a conflict.
    public enum Granularity: String, Sendable, Hashable, Codable, CaseIterable {
        /// Different attributes of the same object.
        case attribute
        /// Different objects.
        case object
    }

    /// What becomes of conflicts.
    public var conflicts = ConflictPolicy.stop
    /// What two sides may change without a conflict.
    public var granularity = Granularity.attribute
    /// The only entities that are merged, with what they own; empty for all.
    public var entities: [String] = []
    /// By entity, the attributes by which two objects are the same, where the stores do not say so themselves.
    public var identifiers: [String: [String]] = [:]

    /// As the command has it without options.
    public init() {}
}
