import ImportEngine
import ImportModel

/// What has become of the objects that included references lead to: each is told once, by the first that leads to it.
extension ObjectComparison {
    /// How many objects may be nested by references: what is deeper is told by itself.
    private static let mostLevels = 32

    func addIncluded(
        _ index: Int,
        _ place: Int,
        _ old: ComparisonCursor?,
        _ new: ComparisonCursor?,
        _ builder: inout ObjectChangeBuilder
    ) throws {
        let reference = plan.entities[index].references[place]
        let column = layouts[index].references[place]
        let count = plan.entities[reference.destination].identifier.count
        var targets = [old, new].compactMap(\.self).filter { rows in
            !(0..<count).contains { rows.isNull(rows.path + column + $0) }
        }
        if targets.count == 2 {
            let (before, after) = (targets[0], targets[1])
            let order = ComparisonCursor.order(before, before.path + column, after, after.path + column, count: count)
            if order == 0 { targets.removeLast() } else if order > 0 { targets.swapAt(0, 1) }
        }
        var changes: [ObjectChange] = []
        for rows in targets {
            if let change = try included(reference.destination, rows, at: rows.path + column) { changes.append(change) }
        }
        if !changes.isEmpty { builder.relationships.append(OwnedChange(reference.name, .objects(changes))) }
    }

    /// The change of an object whose identifier begins at a column of a row; nil where it is the same, told already, or told later.
    package func included(_ index: Int, _ rows: ComparisonCursor, at first: Int) throws -> ObjectChange? {
        guard let reported else { return nil }
        let count = plan.entities[index].identifier.count
        guard lookups.level < Self.mostLevels else {
            try reported.postpone(index, rows, at: first, count: count)
            return nil
        }
        guard try reported.insert(index, rows, at: first, count: count) else { return nil }
        lookups.level += 1
        defer { lookups.level -= 1 }
        let old = try lookups.object(index, like: rows, at: first, .old)
        let new = try lookups.object(index, like: rows, at: first, .new)
        return try compare(index, old, new, Inside())
    }

    /// The change of the next object that was nested too deep; nil after the last.
    func postponed() throws -> ObjectChange? {
        while let next = try reported?.nextPostponed() {
            if let change = try included(next.entity, next.rows, at: 0) { return change }
        }
        return nil
    }
}
