import ImportEngine
import ImportModel
import ImportSources

/// What a change comes to in a store: what is written, and what is in the way.
package struct ChangePlan {
    /// One thing that is written.
    package enum Step {
        case insert(entity: Int, columns: [Int], values: [StoredValue])
        case update(entity: Int, key: [StoredValue], columns: [Int], values: [StoredValue])
        /// - Parameter takesAlong: whether what the change does not name may go with it.
        case delete(entity: Int, key: [StoredValue], takesAlong: Bool)
        case link(ComparedSchema.Join, [StoredValue])
        case unlink(ComparedSchema.Join, [StoredValue])
        /// Makes these the parts of an owner.
        case replace(PatchedEntity.Owned, owner: [StoredValue], [OwnedValue])
        case reorder(PatchedEntity.Owned, [[StoredValue]])
        case reorderLinks(ComparedSchema.Join, owner: [StoredValue], [[StoredValue]])

        /// True if it is done by one statement.
        var isOneStatement: Bool {
            switch self {
            case .insert, .update, .delete, .link, .unlink: true
            case .replace, .reorder, .reorderLinks: false
            }
        }

        /// True if it puts what is there into an order.
        var isOrder: Bool {
            switch self {
            case .reorder, .reorderLinks: true
            case .insert, .update, .delete, .link, .unlink, .replace: false
            }
        }
    }

    /// What becomes of an object.
    package enum Effect {
        case inserted, updated, deleted, unchanged, ignored
    }

    package var steps: [Step] = []
    package private(set) var conflicts: [PatchConflict] = []
    package private(set) var policies: [PatchOptions.Policy] = []
    /// Of each object that the change is about, the line's own first.
    var effects: [(entity: Int, effect: Effect)] = []
    /// What goes into the ledger: attributes that the store does not have, and those that are its users' own.
    package private(set) var noted: [(kind: LedgerKind, entity: Int, name: String)] = []

    package mutating func note(_ kind: LedgerKind, _ entity: Int, _ name: String) { noted.append((kind, entity, name)) }

    @discardableResult
    package mutating func add(_ conflict: PatchConflict, _ options: PatchOptions) -> PatchOptions.Policy {
        let policy = options.policy(of: conflict.entity, conflict.attribute)
        add(conflict, policy)
        return policy
    }

    package mutating func add(_ conflict: PatchConflict, _ policy: PatchOptions.Policy) {
        conflicts.append(conflict)
        policies.append(policy)
    }

    /// Adds what was planned by itself.
    package mutating func append(_ other: ChangePlan) {
        steps += other.steps
        effects += other.effects
        noted += other.noted
        for (conflict, policy) in zip(other.conflicts, other.policies) { add(conflict, policy) }
    }

    var stops: Bool { policies.contains(.stop) }
    var isRejected: Bool { policies.contains(.reject) }

    /// What the line is counted as.
    package func outcome(_ kind: ObjectChange.Kind) -> Effect {
        guard steps.isEmpty else {
            switch kind {
            case .inserted: return .inserted
            case .updated: return .updated
            case .deleted: return .deleted
            }
        }
        // A delegate may have left it out.
        return conflicts.isEmpty && effects.first?.effect != .ignored ? .unchanged : .ignored
    }
}
