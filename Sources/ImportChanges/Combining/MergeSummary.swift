import ImportEngine
import ImportModel
import ImportSources

/// The counts of changes and conflicts of a merge.
public struct MergeSummary: Sendable, Hashable {
    /// An entity.
    public struct Entity: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// The changes of the objects of ours.
        public var counts: ChangeCounts
    }

    /// The entities in the order of the model, owners first.
    public var entities: [Entity]
    /// The number of conflicts.
    public var conflicts: Int64

    /// True if anything in ours changes.
    public var hasChanges: Bool {
        entities.contains { $0.counts.inserted > 0 || $0.counts.updated > 0 || $0.counts.deleted > 0 }
    }
}

extension MergeSummary: Encodable {
    private enum Keys: String, CodingKey { case entities, conflicts }

    /// Writes `{"entities": {"person": {"inserted": 0, …}}, "conflicts": 1}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var all = container.nestedContainer(keyedBy: DataNameKey.self, forKey: .entities)
        for entity in entities { try all.encode(entity.counts, forKey: DataNameKey(entity.name)) }
        try container.encode(conflicts, forKey: .conflicts)
    }
}

extension ImportError {
    /// A merge has conflicts that nothing resolves.
    ///
    /// - Parameter isWritten: whether there is a change set with them.
    package static func openConflicts(_ count: Int64, isWritten: Bool) -> ImportError {
        ImportError(
            .changesConflict,
            "ours and theirs have \(count.grouped) \(count == 1 ? "conflict" : "conflicts")",
            advice: isWritten
                ? "Give each conflict in the change set a \"take\", or resolve all of them with \(.conflicts): ours, theirs or mark."
                : "Resolve all of them with \(.conflicts): ours, theirs or mark."
        )
    }
}
