import ImportModel

/// What undoing one row comes to.
struct UndoPlan {
    enum Step {
        case none
        case delete(RowKey)
        /// - Parameter places: the columns that get another value.
        case update(RowKey, cells: [StoredValue], places: [Int])
        /// The cells that are known; the others get their defaults.
        case insert(RowKey, cells: [StoredValue])
    }

    /// What an undo does to the object, when nothing is in the way.
    let kind: ObjectChange.Kind
    let identifier: ObjectReference
    var step = Step.none
    var conflicts: [PatchConflict] = []
    var policies: [PatchOptions.Policy] = []
    /// Whether it stays as what owns it does.
    var isKept = false
    /// What is said of it where it is rejected.
    var attributes: [AttributeChange] = []

    mutating func add(_ conflict: PatchConflict, _ options: PatchOptions) -> PatchOptions.Policy {
        let policy = options.policy(of: conflict.entity, conflict.attribute)
        conflicts.append(conflict)
        policies.append(policy)
        return policy
    }

    var stops: Bool { policies.contains(.stop) }
    var isRejected: Bool { policies.contains(.reject) }

    var deletesNothing: Bool {
        if case .delete = step { return isRejected }
        return true
    }

    /// What the row is counted as.
    var outcome: PatchCounts.Outcome {
        if isRejected { return .rejected }
        switch step {
        case .none: return .done(conflicts.isEmpty && !isKept ? .unchanged : .ignored)
        case .delete: return .done(.deleted)
        case .update: return .done(.updated)
        case .insert: return .done(.inserted)
        }
    }
}
