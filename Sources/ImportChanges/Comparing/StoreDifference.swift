import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Compares two states of a store, and returns the changes one object after the other.
///
/// ```swift
/// var options = DifferenceOptions()
/// options.entities = ["people"]
/// let difference = try StoreDifference(from: "sunday.sqlite", to: "monday.sqlite", options: options)
/// while let change = try difference.next() {
///     print(change.kind, change.entity, change.identifier)
/// }
/// ```
///
/// Objects are matched by their identifiers, never by row ids. Each store is read in one transaction, and neither is written; memory does
/// not depend on their size. Any SQLite file can be compared: a table that no model describes is an entity, and its columns are attributes.
/// The same states give the same changes, in the same order. A difference is created and used by one thread.
public final class StoreDifference {
    package let comparison: ObjectComparison
    let stores: StatePair<ComparedStore>
    package let plan: ComparisonPlan
    private let options: DifferenceOptions
    private var isOver = false
    private var leftOut: [DifferenceSummary.LeftOut] = []

    /// Opens both stores, and determines the entities to compare.
    ///
    /// - Parameters:
    ///   - old: the path of the old store.
    ///   - new: the path of the new store.
    ///   - options: the options of the comparison.
    /// - Throws: `ImportError` with `.noInput` when there is no such store; `.badInput` when one is not an SQLite database, when an
    ///   entity has no identifier, or when the stores have different identifiers; `.usage` for names that neither has.
    public convenience init(
        from old: any FileLocation,
        to new: any FileLocation,
        options: DifferenceOptions = DifferenceOptions()
    ) throws {
        try self.init(old.filePath, new.filePath, options, cacheSize: ComparedStore.cacheSize)
    }

    /// - Parameter cacheSize: how much of each store SQLite keeps in memory, in KiB.
    package init(_ old: String, _ new: String, _ options: DifferenceOptions, cacheSize: Int) throws {
        let (from, to) = options.isReversed ? (new, old) : (old, new)
        let stores = StatePair(
            try ComparedStore(from, identifiers: options.identifiers, cacheSize: cacheSize),
            try ComparedStore(to, identifiers: options.identifiers, cacheSize: cacheSize)
        )
        let plan = try ComparisonPlan(stores.old.schema, stores.new.schema, options)
        let begun = plan.sections.filter { plan.entities[$0].owner == nil && plan.entities[$0].isOpened }
        if options.predicate != nil, begun.count > 1 {
            throw ImportError(
                .entityUnnamed,
                "the predicate could be about several entities",
                advice: "Name the entity that it is about."
            )
        }
        self.stores = stores
        self.plan = plan
        self.options = options
        comparison = try ObjectComparison(plan, stores, options)
    }

    /// The next object that changed, or that owns a changed one; nil after the last.
    ///
    /// - Throws: `ImportError` when a store cannot be read, or an identifier is null or repeated; `RecordPredicateError` when the predicate
    ///   does not fit the entity.
    public func next() throws -> ObjectChange? {
        do {
            if let change = try comparison.next() { return change }
            guard !isOver else { return nil }
            isOver = true
            leftOut = try comparison.leftOut()
            // Whoever goes on to write to one of them need not wait until this is gone.
            for side in StoreState.allCases { try stores[side].end() }
            return nil
        } catch let error as DatabaseError {
            throw ImportError(store: "\(stores.old.store) or \(stores.new.store)", error)
        }
    }

    /// The numbers of objects that differ so far; complete after `next()` has returned nil.
    public var summary: DifferenceSummary {
        DifferenceSummary(
            entities: plan.sections.map { index in
                let entity = plan.entities[index]
                let attributes = zip(entity.attributes, comparison.attributeCounts[index]).filter { $0.1 > 0 }
                return DifferenceSummary.Entity(
                    name: entity.name,
                    counts: comparison.counts[index],
                    attributes: attributes.map { .init(name: $0.0.name, count: $0.1) },
                    onlyOld: plan.only[index].old,
                    onlyNew: plan.only[index].new
                )
            },
            leftOut: leftOut
        )
    }

    /// The header of a change set.
    ///
    /// - Throws: `ImportError` when a store cannot be read.
    public func header() throws -> ChangeSetHeader { try header(counting: comparison.count) }

    /// The header, if nothing is compared afterwards.
    func headerAlone() throws -> ChangeSetHeader { try header(counting: comparison.counted) }

    private func header(counting count: (Int, StoreState) throws -> Int64?) throws -> ChangeSetHeader {
        var states: [ChangeSetHeader.State] = []
        for side in StoreState.allCases {
            let objects = try plan.sections.map { index in
                (entity: plan.entities[index].name, count: try count(index, side) ?? 0)
            }
            states.append(.init(name: URL(fileURLWithPath: stores[side].store).lastPathComponent, objects: objects))
        }
        return ChangeSetHeader(
            old: states[0],
            new: states[1],
            entities: plan.allDescribed,
            options: options.named
        )
    }

    /// Writes all changes as a change set, to its end.
    ///
    /// - Throws: as `next()` does, and what the writer throws.
    public func write(to writer: ChangeSetWriter) throws {
        try writer.begin(header())
        while let change = try next() { try writer.write(change) }
        try writer.end(summary.entities.map { .init($0.name, $0.counts) })
    }
}

extension ComparisonPlan {
    /// The entities in the header of a change set.
    var allDescribed: [ChangedEntity] {
        (sections + entities.indices.filter { entities[$0].isValue && entities[$0].owner != nil }).map(described)
    }

    /// An entity as the header of a change set has it.
    fileprivate func described(_ index: Int) -> ChangedEntity {
        let entity = entities[index]
        let inverse = entity.owner.map { entities[$0.entity].owned[$0.place].reference }
        let references = entity.references.enumerated().filter { place, reference in
            entities[reference.destination].identifier.isEmpty == false && !(place == inverse && entity.isValue)
        }.map {
            var relationship = ChangedEntity.Relationship($0.element.name, to: entities[$0.element.destination].name)
            relationship.isIncluded = $0.element.isIncluded
            return relationship
        }
        let joins = entity.joins.map {
            var relationship = ChangedEntity.Relationship(
                $0.name,
                to: entities[$0.destination].name,
                isToMany: true,
                isOrdered: $0.isOrdered
            )
            relationship.isIncluded = $0.isIncluded
            return relationship
        }
        let owned = entity.owned.map {
            ChangedEntity.Relationship(
                $0.name,
                to: entities[$0.child].name,
                isToMany: $0.isToMany,
                isOwned: true,
                isOrdered: $0.isOrdered
            )
        }
        return ChangedEntity(
            entity.name,
            identifier: entity.identifier,
            attributes: entity.attributes.map { .init($0.name, $0.description) },
            relationships: references + joins + owned,
            together: entity.together,
            onlyOld: only[index].old,
            onlyNew: only[index].new
        )
    }
}

extension DifferenceOptions {
    /// Those that are not at their default, by name.
    fileprivate var named: [ChangeSetHeader.NamedOption] {
        func texts(_ properties: [Property]) -> JSONValue {
            .array(properties.map { .string("\($0.entity ?? "*").\($0.name)") })
        }
        var named: [ChangeSetHeader.NamedOption] = []
        if !entities.isEmpty { named.append(.init("entity", .strings(entities))) }
        if let predicate { named.append(.init("where", .string(predicate.text))) }
        if !roots.isEmpty {
            let values = roots.map { root -> JSONValue in
                guard let identifier = root.identifier else { return .string(root.entity) }
                return JSONValue([(root.entity, .strings(identifier))])
            }
            named.append(.init("root", .array(values)))
        }
        if !included.isEmpty { named.append(.init("include", texts(included))) }
        if !excluded.isEmpty { named.append(.init("exclude", texts(excluded))) }
        if !only.isEmpty { named.append(.init("only", texts(only))) }
        if !identifiers.isEmpty {
            let members = identifiers.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.strings($0.value)) }
            named.append(.init("identifier", JSONValue(members)))
        }
        if old != .changed { named.append(.init("old", .string(old.rawValue))) }
        if isReversed { named.append(.init("reverse", true)) }
        return named
    }
}
