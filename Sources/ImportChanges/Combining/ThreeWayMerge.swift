import Foundation
import ImportEngine
import ImportModel
import ImportSources

/// Merges two states of a store with a common base, one object after the other.
///
/// The result consists of the changes from ours to the merged state, and of conflicts.
///
/// ```swift
/// var options = MergeOptions()
/// options.entities = ["people"]
/// let merge = try ThreeWayMerge(base: "people.sqlite", ours: "sunday.sqlite", theirs: "monday.sqlite", options: options)
/// while let step = try merge.next() {
///     switch step {
///     case .change(let change): print(change.kind, change.entity)
///     case .conflict(let conflict): print(conflict.kind, conflict.entity)
///     }
/// }
/// ```
///
/// A value that only one side has changed, or both in the same way, is the changed one, attribute by attribute. A value that they have
/// changed differently is a ``MergeConflict``. No store is written; memory depends only on the largest object. A merge is created and used
/// by one thread.
public final class ThreeWayMerge {
    /// A part of the result.
    public enum Step: Sendable, Hashable {
        /// A change from ours to the merged state.
        case change(ObjectChange)
        /// A conflict.
        case conflict(MergeConflict)
    }

    private let ours: any MergeSide
    private let theirs: any MergeSide
    private let entities: MergedEntities
    private let options: MergeOptions
    private let merge: ObjectMerge
    private let constraints: MergeConstraintCheck?
    private var heads: (ours: ObjectChange?, theirs: ObjectChange?)
    private var isOpen = false
    /// The last one first.
    private var pending: [Step] = []
    private var counts: [BytewiseString: ChangeCounts] = [:]
    private var conflictCount: Int64 = 0

    /// Opens the base and both sides.
    ///
    /// - Parameters:
    ///   - base: the path of the store that both sides started from.
    ///   - ours: the path of a store, or of a change set from the base to it.
    ///   - theirs: the path of the other store, or of a change set from the base to it.
    ///   - options: the options of the merge.
    /// - Throws: `ImportError` with `.noInput` when there is no such file; `.badInput` when one is neither, when an entity has no
    ///   identifier, when the models differ, or when a change set is not from this base.
    public init(base: String, ours: String, theirs: String, options: MergeOptions = MergeOptions()) throws {
        self.options = options
        var difference = DifferenceOptions()
        difference.identifiers = options.identifiers
        difference.entities = options.entities
        // Both sides are read at the same time.
        difference.workers = 1
        let same = try StoreDifference(base, base, difference, cacheSize: ComparedSide.cacheSize)
        let header = try same.headerAlone()
        func side(_ path: String) throws -> any MergeSide {
            let side = try Self.side(path, base, same, header, difference)
            try Self.check(side, path, header)
            return side
        }
        let sides = (ours: try side(ours), theirs: try side(theirs))
        (self.ours, self.theirs) = sides
        let entities = MergedEntities(header.entities) { same.inverse(of: $0) }
        self.entities = entities
        merge = ObjectMerge(entities, options.granularity, ours: sides.ours, theirs: sides.theirs)
        constraints = try (sides.ours as? ComparedSide).map {
            try MergeConstraintCheck($0.store, entities, ours: sides.ours, theirs: sides.theirs)
        }
    }

    /// The next part of the result; nil after the last.
    ///
    /// A conflict follows the change of its object.
    ///
    /// - Throws: `ImportError` when a store or change set cannot be read, or is not from the base.
    public func next() throws -> Step? {
        while pending.isEmpty {
            if !isOpen {
                heads = (try ours.next(), try theirs.next())
                isOpen = true
            }
            let order: Int
            switch heads {
            case (nil, nil):
                return nil
            case (_?, nil): order = -1
            case (nil, _?): order = 1
            case (let one?, let other?): order = compare(one, other)
            }
            let result = try merge.merge(order <= 0 ? heads.ours : nil, order >= 0 ? heads.theirs : nil)
            if order <= 0 { heads.ours = try ours.next() }
            if order >= 0 { heads.theirs = try theirs.next() }
            var conflicts = merge.takeConflicts()
            var merged = result.change
            if let change = merged, let constraints { merged = try constraints.checked(change, merge, &conflicts) }
            if let merged {
                counts.count(merged)
                pending.append(.change(merged))
            }
            for conflict in conflicts { add(conflict) }
            pending.reverse()
        }
        return pending.popLast()
    }

    private func add(_ found: MergeConflict) {
        conflictCount += 1
        var conflict = found
        conflict.number = conflictCount
        switch options.conflicts {
        case .stop, .mark: break
        case .ours: conflict.take = .ours
        case .theirs: conflict.take = .theirs
        }
        pending.append(.conflict(conflict))
    }

    private func compare(_ one: ObjectChange, _ other: ObjectChange) -> Int {
        let ranks = (entities.rank(one.entity) ?? .max, entities.rank(other.entity) ?? .max)
        return ranks.0 == ranks.1 ? IdentifierOrder.compare(one.identifier, other.identifier) : ranks.0 - ranks.1
    }

    /// The counts of changes to ours and of conflicts so far; complete after `next()` has returned nil.
    ///
    /// Conflicts are not counted as changes, even if they are resolved.
    public var summary: MergeSummary {
        MergeSummary(
            entities: ours.header.new.objects.map { state in
                var counts = counts[BytewiseString(state.entity)] ?? ChangeCounts()
                counts.unchanged = max(0, state.count - counts.updated - counts.deleted)
                return MergeSummary.Entity(name: state.entity, counts: counts)
            },
            conflicts: conflictCount
        )
    }

    /// The header of a change set of the result.
    ///
    /// The numbers of objects of the merged state are known only at the end.
    public var header: ChangeSetHeader {
        ChangeSetHeader(
            old: ours.header.new,
            new: ChangeSetHeader.State(name: "\(ours.header.new.name)+\(theirs.header.new.name)"),
            entities: entities.described
        )
    }

    /// Writes all of the result as a change set, to its end.
    ///
    /// - Parameters:
    ///   - writer: the writer.
    ///   - found: called with each conflict.
    /// - Throws: as `next()` does, and what the writer or `found` throws.
    public func write(to writer: ChangeSetWriter, conflict found: (MergeConflict) throws -> Void = { _ in }) throws {
        try writer.begin(header)
        while let step = try next() {
            switch step {
            case .change(let change): try writer.write(change)
            case .conflict(let conflict):
                try writer.write(conflict)
                try found(conflict)
            }
        }
        try writer.end(summary.entities.map { .init($0.name, $0.counts) })
    }

    // MARK: Sides

    private static func side(
        _ path: String,
        _ base: String,
        _ same: StoreDifference,
        _ header: ChangeSetHeader,
        _ options: DifferenceOptions
    ) throws -> any MergeSide {
        if path.hasSuffix(".ndjson") { return try ChangeSetSide(path, same, header) }
        do {
            return try ComparedSide(base, path, options)
        } catch let error as ImportError where error.reason == .notSQLite {
            do {
                return try ChangeSetSide(path, same, header)
            } catch let other as ImportError where other.reason == .changeSetInvalid {
                throw error
            }
        }
    }

    private static func check(_ side: any MergeSide, _ path: String, _ base: ChangeSetHeader) throws {
        var names = side.differences
        for entity in base.entities {
            guard let other = side.header.entities.first(where: { $0.name.hasSameBytes(as: entity.name) }) else {
                names.append(entity.name)
                continue
            }
            names += entity.differences(from: other).map { "\(entity.name).\($0)" }
        }
        for entity in side.header.entities
        where !base.entities.contains(where: { $0.name.hasSameBytes(as: entity.name) }) {
            names.append(entity.name)
        }
        var seen: Set<BytewiseString> = []
        names = names.filter { seen.insert(BytewiseString($0)).inserted }
        guard !names.isEmpty else { return }
        let list = names.prefix(20).map(\.printable).joined(separator: ", ") + (names.count > 20 ? ", …" : "")
        throw ImportError(
            .storesIncomparable,
            at: path,
            "its model is not that of the base; they differ in \(list)",
            advice: "Migrate the stores to the same model first."
        )
    }
}

extension ChangedEntity {
    /// The attributes and relationships that an entity of the same name does not have, or has otherwise.
    fileprivate func differences(from other: ChangedEntity) -> [String] {
        var names: [String] = []
        func add(_ name: String) { if !names.contains(where: { $0.hasSameBytes(as: name) }) { names.append(name) } }
        if identifier.map(BytewiseString.init) != other.identifier.map(BytewiseString.init) {
            for name in identifier + other.identifier { add(name) }
        }
        func attribute(_ name: String, _ entity: ChangedEntity) -> Attribute? {
            entity.attributes.first { $0.name.hasSameBytes(as: name) }
        }
        for name in attributes.map(\.name) + other.attributes.map(\.name) {
            let (one, another) = (attribute(name, self), attribute(name, other))
            let isSame =
                one != nil && another != nil && one?.description?.type == another?.description?.type
                && one?.description?.ownForm == another?.description?.ownForm
                && one?.description?.bits == another?.description?.bits
            if !isSame { add(name) }
        }
        for name in relationships.map(\.name) + other.relationships.map(\.name) {
            func own(_ entity: ChangedEntity) -> Relationship? {
                entity.relationships.first { $0.name.hasSameBytes(as: name) }
            }
            if own(self) != own(other) { add(name) }
        }
        return names
    }
}
