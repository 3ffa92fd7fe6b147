/// How a change set is applied to a store.
public struct PatchOptions: Sendable, Hashable, Codable {
    /// What is done where the store is not what a change leads from.
    public enum Policy: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing is written, and the conflicts are listed.
        case stop
        /// The store's value stays; of an object, all that it owns does.
        case keep
        /// The change's value is written.
        case take
        /// Nothing of the line is written, and it is a reject.
        case reject
    }

    /// A policy for the conflicts of an entity or of one of its attributes.
    public struct Rule: Sendable, Hashable, Codable {
        /// The entity's name; nil for all.
        public var entity: String?
        /// The name of an attribute or relationship; nil for all, and for conflicts that are about an object as a whole.
        public var attribute: String?
        /// What is done.
        public var policy: Policy

        /// A policy for all conflicts, for those of an entity, or for those of one of its attributes.
        public init(_ policy: Policy, entity: String? = nil, attribute: String? = nil) {
            self.policy = policy
            self.entity = entity
            self.attribute = attribute
        }
    }

    /// What is done in a conflict.
    ///
    /// The rule of the attribute counts, else that of the entity, else the one for all; of several the last one. Without any,
    /// conflicts stop the patch.
    public var conflicts: [Rule] = []
    /// By entity, the attributes by which two objects are the same, where the store does not say so itself.
    public var identifiers: [String: [String]] = [:]
    /// Whether all is one transaction.
    public var isAtomic = false
    /// Whether what undo needs is kept.
    public var keepsUndo = true
    /// Whether the changes that are whole are applied of a change set that breaks off.
    public var isPartial = false
    /// Whether changes without old values are applied, which cannot be compared with what the store has.
    public var isUnchecked = false

    /// As the command has it without options.
    public init() {}

    /// What is done in a conflict.
    ///
    /// - Parameters:
    ///   - entity: the object's entity.
    ///   - attribute: nil for an object as a whole.
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
