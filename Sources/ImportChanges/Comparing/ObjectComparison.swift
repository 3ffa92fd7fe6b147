import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Compares two stores object by object: a merge of two sorted readings, into which those of what each object owns are merged.
///
/// Rows that are the same are compared where SQLite has them. What has another owner than before is looked up by its identifier.
package final class ObjectComparison {
    package let plan: ComparisonPlan
    package let options: DifferenceOptions
    package let layouts: [ComparisonRowLayout]
    let lookups: ObjectLookup
    /// Of each entity.
    package private(set) var counts: [ChangeCounts]
    /// Of each entity, how many objects differ in each attribute.
    private(set) var attributeCounts: [[Int64]]

    package let statements: StatePair<ComparisonStatements>
    private let stores: StatePair<ComparedStore>
    /// Of each entity, how many objects were seen at their owner.
    package var ownedCounts: StatePair<[Int64]>
    /// Many-to-manies with links of what is not there, by entity and place.
    var loose: Set<[Int]> = []
    private var sections: [Int]
    /// Nil where no object could be told twice.
    package let reported: ReportedObjects?
    private var section: Section?
    /// By entity, what `UnchangedRowFilter` has found, or that it is of no use.
    private var filtered: [Int: UnchangedRowFilter.Result?] = [:]

    /// The objects of an entity that belong to no other, and what they own.
    private struct Section {
        let entity: Int
        let rows: StatePair<ComparisonCursor?>
        /// Nil where they are looked up.
        let nodes: [OwnedRows]?
        let links: [StatePair<ComparisonCursor?>]?
    }

    /// - Throws: `DatabaseError` when there is no room for temporary data.
    package init(_ plan: ComparisonPlan, _ stores: StatePair<ComparedStore>, _ options: DifferenceOptions) throws {
        self.plan = plan
        self.options = options
        self.stores = stores
        layouts = plan.entities.map { ComparisonRowLayout($0, plan) }
        statements = StatePair(
            ComparisonStatements(plan, .old, isUTF8: stores.old.isUTF8),
            ComparisonStatements(plan, .new, isUTF8: stores.new.isUTF8)
        )
        lookups = ObjectLookup(plan, statements, stores)
        counts = plan.entities.map { _ in ChangeCounts() }
        attributeCounts = plan.entities.map { $0.attributes.map { _ in 0 } }
        let none = plan.entities.map { _ in Int64(0) }
        ownedCounts = StatePair(none, none)
        sections = plan.sections.filter { plan.entities[$0].isOpened }.reversed()
        reported =
            plan.entities.contains(where: \.isReportedOnce)
            ? try ReportedObjects(keyCount: plan.entities.map(\.identifier.count).max() ?? 1) : nil
    }

    /// The next object that changed, or that owns one; nil after the last.
    package func next() throws -> ObjectChange? {
        while true {
            guard let section else {
                guard let index = sections.popLast() else { return try postponed() }
                section = try open(index)
                continue
            }
            guard let (old, new) = Self.pair(section.rows, layouts[section.entity].keyCount) else {
                for (place, both) in (section.links ?? []).enumerated()
                where both.old?.hasRow == true || both.new?.hasRow == true {
                    loose.insert([section.entity, place])
                }
                self.section = nil
                continue
            }
            let change = try root(old, new, section)
            for side in StoreState.allCases {
                if let rows = side == .old ? old : new { try advance(rows, section.entity, side) }
            }
            if let change { return change }
        }
    }

    // MARK: Reading

    private func open(_ index: Int) throws -> Section? {
        let entity = plan.entities[index]
        if entity.owner != nil {
            // A predicate is about the owners: what has none is not asked for.
            if options.predicate != nil { return nil }
            // Most often all of them have an owner that is there.
            var isComplete = true
            for side in StoreState.allCases {
                if let count = try counted(index, side), count != ownedCounts[side][index] { isComplete = false }
            }
            if isComplete { return nil }
        }
        let same = try filter(index)?.same
        counts[index].unchanged += same ?? 0
        var rows = StatePair<ComparisonCursor?>(nil, nil)
        for side in StoreState.allCases {
            let fetched = entity.stored[side]?.fetched
            let predicate = try fetched.flatMap { try options.predicate?.compiled(for: $0).condition }
            let text = statements[side].roots(index, predicate: predicate, only: entity.roots, isFiltered: same != nil)
            rows[side] = try lookups.rows(text, path: 0, side)
        }
        for side in StoreState.allCases { if let rows = rows[side] { try advance(rows, index, side) } }
        // What belongs to a few objects is looked up.
        guard entity.roots == nil else { return Section(entity: index, rows: rows, nodes: nil, links: nil) }
        return Section(
            entity: index,
            rows: rows,
            nodes: try nodes(of: index, in: []),
            links: try entity.joins.map { join in
                let both = StatePair(
                    try lookups.rows(statements.old.links(index, join, bound: false), path: 0, .old),
                    try lookups.rows(statements.new.links(index, join, bound: false), path: 0, .new)
                )
                try both.old?.advance()
                try both.new?.advance()
                return both
            }
        )
    }

    /// Sorts out the rows of an entity that are the same, once; nil where they have to be read in the order of their identifiers.
    private func filter(_ index: Int) throws -> UnchangedRowFilter.Result? {
        guard options.predicate == nil else { return nil }
        if let known = filtered[index] { return known }
        let result = try UnchangedRowFilter(index, in: plan, statements, stores, workers: options.workers)?.run()
        filtered[index] = .some(result)
        return result
    }

    /// How many objects of an entity a state has; nil where it does not have the entity.
    ///
    /// A reading that is done anyway counts them, too: `count(*)` would read all of the table.
    package func count(_ index: Int, _ side: StoreState) throws -> Int64? {
        let isRead = plan.entities[index].owner == nil && plan.entities[index].isOpened && plan.sections.contains(index)
        if isRead, let result = try filter(index) { return result.same + result.left[side] }
        return try counted(index, side)
    }

    /// The same by counting them alone.
    package func counted(_ index: Int, _ side: StoreState) throws -> Int64? {
        try statements[side].count(index).map { text in
            try stores[side].read { try RawRowCursor.number($0, text) } ?? 0
        }
    }

    private func nodes(of index: Int, in owners: [Int]) throws -> [OwnedRows] {
        let owners = owners + [index]
        let path = owners.reduce(0) { $0 + layouts[$1].keyCount }
        return try plan.entities[index].owned.map { owned in
            let isValue = plan.entities[owned.child].isValue
            // What the parts of an object without identifier own is found by their keys.
            let rows = StatePair(
                try lookups.rows(statements.old.owned(owned.child, in: owners), path: path, .old),
                try lookups.rows(statements.new.owned(owned.child, in: owners), path: path, .new)
            )
            for side in StoreState.allCases {
                if let rows = rows[side] { try advance(rows, owned.child, side) }
            }
            return OwnedRows(owned: owned, rows: rows, nodes: isValue ? [] : try nodes(of: owned.child, in: owners))
        }
    }

    /// Goes to the next row, which must be identified.
    func advance(_ rows: ComparisonCursor, _ index: Int, _ side: StoreState) throws {
        guard !plan.entities[index].isValue else { return try rows.advance() }
        let key = rows.path..<rows.path + layouts[index].keyCount
        let isUnique = plan.entities[index].identifierIsUnique[side]
        let before = !isUnique && rows.hasRow ? (0..<key.upperBound).map(rows.value) : nil
        try rows.advance()
        guard rows.hasRow else { return }
        if plan.entities[index].identifierMayBeNull[side], key.contains(where: rows.isNull) {
            let entity = plan.entities[index]
            throw ImportError(
                .identifierMissing,
                at: stores[side].store,
                "\(entity.name.printable) has an object without identifier: \(entity.identifier.joined(separator: ", ").printable) is null",
                advice: "Give it one, or name other attributes that identify its objects."
            )
        }
        if let before, (0..<key.upperBound).map(rows.value) == before {
            let entity = plan.entities[index]
            let values = before[key].map { "\($0.shown)" }.joined(separator: ", ")
            throw ImportError(
                .identifierNotUnique,
                at: stores[side].store,
                "\(entity.name.printable) has several objects with \(entity.identifier.joined(separator: ", ").printable) \(values)",
                advice: "Name attributes that identify its objects."
            )
        }
    }

    /// Which of two readings comes next: both where their keys are the same; nil at the end of both.
    package static func pair(
        _ rows: StatePair<ComparisonCursor?>,
        _ keyCount: Int
    ) -> (old: ComparisonCursor?, new: ComparisonCursor?)? {
        let old = rows.old.flatMap { $0.hasRow ? $0 : nil }
        let new = rows.new.flatMap { $0.hasRow ? $0 : nil }
        guard let old, let new else {
            if old == nil && new == nil { return nil }
            return (old, new)
        }
        let order = ComparisonCursor.order(old, old.path, new, new.path, count: keyCount)
        if order == 0 { return (old, new) }
        return order < 0 ? (old, nil) : (nil, new)
    }

    /// Calls `body`, and counts nothing of what it compares.
    package func uncounted<Result>(_ body: () throws -> Result) rethrows -> Result {
        let before = (counts, attributeCounts, ownedCounts)
        defer { (counts, attributeCounts, ownedCounts) = before }
        return try body()
    }

    // MARK: Objects

    private func root(_ old: ComparisonCursor?, _ new: ComparisonCursor?, _ section: Section) throws -> ObjectChange? {
        let inside = Inside(nodes: section.nodes, links: section.links)
        if options.predicate != nil {
            let column = layouts[section.entity].predicate
            let holds = [old, new].contains { rows in rows.map { $0.integer(column) != 0 } ?? false }
            if !holds { return nil }
        }
        if plan.entities[section.entity].isReportedOnce, let reported, let row = old ?? new,
            try !reported.insert(section.entity, row, at: row.path, count: layouts[section.entity].keyCount)
        {
            return nil
        }
        guard plan.entities[section.entity].owner != nil, old == nil || new == nil else {
            return try compare(section.entity, old, new, inside)
        }
        if let old {
            // With an owner now, it is told there.
            if try lookups.object(section.entity, like: old, .new) != nil { return nil }
            return try compare(section.entity, old, nil, inside)
        }
        guard let new else { return nil }
        if let before = try lookups.object(section.entity, like: new, .old) {
            return try compare(section.entity, before, new, Inside())
        }
        return try compare(section.entity, nil, new, inside)
    }

    /// How what an object owns is read.
    package struct Inside {
        /// With the objects around it; nil for looking it up.
        package var nodes: [OwnedRows]?
        /// The links of its many-to-many; nil for looking them up.
        package var links: [StatePair<ComparisonCursor?>]?
        /// True if the object is told as a part of its owner, which need not be named then.
        package var isNested = false
        /// True if it is told as a part of another owner than before.
        package var isMoved = false
    }

    /// Compares an object that at least one state has.
    package func compare(
        _ index: Int,
        _ old: ComparisonCursor?,
        _ new: ComparisonCursor?,
        _ inside: Inside
    ) throws -> ObjectChange? {
        guard let any = new ?? old else { return nil }
        let entity = plan.entities[index]
        let layout = layouts[index]
        let kind: ObjectChange.Kind = old == nil ? .inserted : new == nil ? .deleted : .updated
        var builder = ObjectChangeBuilder(kind)
        if let old, let new {
            let count = layout.shared.count
            let (first, second) = (old.path + layout.shared.lowerBound, new.path + layout.shared.lowerBound)
            if !ComparisonCursor.areEqual(old, first, new, second, count: count) {
                addAttributes(index, old, new, &builder)
                addReferences(index, old, new, inside, &builder)
            }
        } else {
            addAttributes(index, old, new, &builder)
            addReferences(index, old, new, inside, &builder)
        }
        for place in entity.joins.indices {
            try addLinks(index, place, old, new, inside.links?[place], &builder)
        }
        for place in entity.references.indices where entity.references[place].isIncluded {
            try addIncluded(index, place, old, new, &builder)
        }
        for place in entity.owned.indices {
            try addOwned(index, place, old, new, inside.nodes?[place], &builder)
        }
        switch kind {
        case .inserted: counts[index].inserted += 1
        case .deleted: counts[index].deleted += 1
        case .updated:
            if builder.changesObject { counts[index].updated += 1 } else { counts[index].unchanged += 1 }
        }
        guard kind != .updated || !builder.isEmpty else { return nil }
        return builder.change(of: entity.name, reference(index, any, at: any.path))
    }

    /// The identifier of an object, in columns of a row.
    package func reference(_ index: Int, _ rows: ComparisonCursor, at first: Int) -> ObjectReference {
        ObjectReference(
            plan.entities[index].identifier.enumerated().map { NamedValue($1, rows.value(first + $0)) }
        )
    }

    private func addAttributes(
        _ index: Int,
        _ old: ComparisonCursor?,
        _ new: ComparisonCursor?,
        _ builder: inout ObjectChangeBuilder
    ) {
        let entity = plan.entities[index]
        let layout = layouts[index]
        var changed: Set<Int> = []
        if let old, let new {
            for (place, attribute) in entity.attributes.enumerated()
            where attribute.isShared && attribute.identifierPlace == nil {
                let column = layout.attributes[place]
                if !ComparisonCursor.areEqual(old, old.path + column, new, new.path + column, count: 1) {
                    changed.insert(place)
                    attributeCounts[index][place] += 1
                }
            }
            for group in entity.together {
                let places = entity.attributes.indices.filter { place in
                    entity.attributes[place].isShared
                        && group.contains { $0.hasSameBytes(as: entity.attributes[place].name) }
                }
                if !changed.isDisjoint(with: places) { changed.formUnion(places) }
            }
            if changed.isEmpty { return }
        }
        for (place, attribute) in entity.attributes.enumerated() {
            let isChanged = old == nil || new == nil || changed.contains(place)
            guard isChanged || options.old == .all && attribute.isShared else { continue }
            var change = AttributeChange(attribute.name)
            if let old, attribute.columns.old != nil, options.old != .none {
                change.old = old.value(old.path + layout.attributes[place])
            }
            if let new, attribute.columns.new != nil, isChanged {
                change.new = new.value(new.path + layout.attributes[place])
            }
            if change.old != nil || change.new != nil { builder.attributes.append(change) }
        }
    }

    private func addReferences(
        _ index: Int,
        _ old: ComparisonCursor?,
        _ new: ComparisonCursor?,
        _ inside: Inside,
        _ builder: inout ObjectChangeBuilder
    ) {
        let entity = plan.entities[index]
        let layout = layouts[index]
        let inverse = entity.owner.map { plan.entities[$0.entity].owned[$0.place].reference }
        for (place, reference) in entity.references.enumerated() {
            if place == inverse, inside.isNested, !inside.isMoved { continue }
            let destination = plan.entities[reference.destination]
            let count = destination.identifier.count
            // Rows without identifier are no objects that could be named; columns of the identifier are attributes.
            guard count > 0, !isWithinIdentifier(reference, entity) else { continue }
            let column = layout.references[place]
            if let old, let new, ComparisonCursor.areEqual(old, old.path + column, new, new.path + column, count: count)
            {
                continue
            }
            func target(_ rows: ComparisonCursor?) -> ReferenceChange.Target? {
                guard let rows else { return nil }
                let columns = (0..<count).map { rows.path + column + $0 }
                if columns.contains(where: rows.isNull) { return .null }
                return .object(self.reference(reference.destination, rows, at: rows.path + column))
            }
            let before = options.old == .none ? nil : target(old)
            let after = target(new)
            if before != nil || after != nil {
                builder.references.append(ReferenceChange(reference.name, .toOne(old: before, new: after)))
            }
        }
    }

    private func isWithinIdentifier(_ reference: ComparedEntity.Reference, _ entity: ComparedEntity) -> Bool {
        StoreState.allCases.allSatisfy { side in
            reference.columns[side].allSatisfy { column in
                entity.identifierColumns(side).contains { ExistingEntity.folded($0) == ExistingEntity.folded(column) }
            }
        }
    }
}
