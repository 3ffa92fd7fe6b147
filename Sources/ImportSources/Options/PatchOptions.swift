/// How a change set is applied to a store.
public struct PatchOptions: Sendable, Hashable, Codable {
    /// How a conflict is handled: a difference between the store and the old state that a change expects.
    public enum Policy: String, Sendable, Hashable, Codable, CaseIterable {
        /// Writes nothing, and lists the conflicts.
        case stop
        /// Keeps the store's value; for an object, also all that it owns.
        case keep
        /// Writes the change's value.
        case take
        /// Writes nothing of the line, which becomes a reject.
        case reject
    }

    /// A policy for the conflicts of an entity or of one of its attributes.
    public struct Rule: Sendable, Hashable, Codable {
        /// The entity's name; nil for all.
        public var entity: String?
        /// The name of an attribute or relationship; nil for all, and for conflicts about an object as a whole.
        public var attribute: String?
        /// The policy.
        public var policy: Policy

        /// Creates a rule for all conflicts, for those of an entity, or for those of one of its attributes.
        public init(_ policy: Policy, entity: String? = nil, attribute: String? = nil) {
            self.policy = policy
            self.entity = entity
            self.attribute = attribute
        }
    }

    /// The rules for conflicts.
    ///
    /// The rule for the attribute is used, else that for the entity, else the one for all; of several, the last one. Without a rule,
    /// conflicts stop the patch.
    public var conflicts: [Rule] = []
    /// The identifiers by entity, for entities whose identifier the store does not have.
    public var identifiers: [String: [String]] = [:]
    /// True if all changes are applied in one transaction.
    public var isAtomic = false
    /// True if the job can be undone.
    public var keepsUndo = true
    /// True if the complete changes of a truncated change set are applied.
    public var isPartial = false
    /// True if changes without old values, which cannot be compared with the store, are applied.
    public var isUnchecked = false

    /// Creates options with the defaults of the command.
    public init() {}

    /// The rules for conflicts.
    ///
    /// - Parameters:
    ///   - entity: the object's entity.
    ///   - attribute: the attribute or relationship; nil for an object as a whole.
    public func policy(of entity: String, _ attribute: String?) -> Policy {
        func last(_ isMeant: (Rule) -> Bool) -> Policy? { conflicts.last(where: isMeant)?.policy }
        func isOf(_ rule: Rule) -> Bool { rule.entity.map { $0.hasSameBytes(as: entity) } ?? false }
        if let attribute,
            let own = last({ rule in isOf(rule) && rule.attribute.map { $0.hasSameBytes(as: attribute) } ?? false })
        {
            return own
        }
        return last { isOf($0) && $0.attribute == nil } ?? last { $0.entity == nil } ?? .stop
    }
}
