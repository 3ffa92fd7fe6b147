import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// What undoing one row comes to.
package struct UndoPlan {
    package enum Step {
        case none
        case delete(RowKey)
        /// - Parameter places: the columns that get another value.
        case update(RowKey, cells: [StoredValue], places: [Int])
        /// The cells that are known; the others get their defaults.
        case insert(RowKey, cells: [StoredValue])
    }

    /// What an undo does to the object, when nothing is in the way.
    package let kind: ObjectChange.Kind
    package let identifier: ObjectReference
    package var step = Step.none
    package var conflicts: [PatchConflict] = []
    package var policies: [PatchOptions.Policy] = []
    /// True if it stays as what owns it does.
    package var isKept = false
    /// What is said of it where it is rejected.
    package var attributes: [AttributeChange] = []

    package mutating func add(_ conflict: PatchConflict, _ options: PatchOptions) -> PatchOptions.Policy {
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
    package var outcome: PatchCounts.Outcome {
        if isRejected { return .rejected }
        switch step {
        case .none: return .done(conflicts.isEmpty && !isKept ? .unchanged : .ignored)
        case .delete: return .done(.deleted)
        case .update: return .done(.updated)
        case .insert: return .done(.inserted)
        }
    }
}
