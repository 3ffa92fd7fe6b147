import GRDB
import ImportEngine
import ImportModel
import ImportSQLite

/// Finds single objects in either store, and what belongs to one of them; each statement is prepared once.
final class ObjectLookup {
    /// How deep what is looked up is nested by included references: the same statement may be in use around it.
    var level = 0

    private struct Key: Hashable {
        let purpose: Purpose
        let level: Int
    }

    private enum Purpose: Hashable {
        case object(Int)
        case owned(Int)
        case list(Int)
        case links(Int, Int)
        case linkList(Int, Int)
    }

    private let plan: ComparisonPlan
    private let statements: StatePair<ComparisonStatements>
    private let stores: StatePair<ComparedStore>
    /// Nil for what a state does not have.
    private var prepared: StatePair<[Key: ComparisonCursor?]> = StatePair([:], [:])

    init(
        _ plan: ComparisonPlan,
        _ statements: StatePair<ComparisonStatements>,
        _ stores: StatePair<ComparedStore>
    ) {
        self.plan = plan
        self.statements = statements
        self.stores = stores
    }

    /// The rows of a statement; nil for none.
    func rows(_ text: SQLFragment?, path: Int, _ side: StoreState) throws -> ComparisonCursor? {
        try text.map { try stores[side].rows($0, path: path) }
    }

    private func prepared(_ purpose: Purpose, _ side: StoreState) throws -> ComparisonCursor? {
        let key = Key(purpose: purpose, level: level)
        if let known = prepared[side][key] { return known }
        let text: SQLFragment? =
            switch purpose {
            case .object(let index): statements[side].object(index)
            case .owned(let index): statements[side].owned(index)
            case .list(let index):
                plan.entities[index].owner.flatMap { owner in
                    plan.entities[owner.entity].owned[owner.place].positions[side].flatMap {
                        statements[side].list(index, position: $0)
                    }
                }
            case .links(let index, let place):
                statements[side].links(index, plan.entities[index].joins[place], bound: true)
            case .linkList(let index, let place): statements[side].list(plan.entities[index].joins[place])
            }
        let rows = try rows(text, path: 0, side)
        prepared[side][key] = .some(rows)
        return rows
    }

    /// The object with the identifier that a row of the other state has; nil for none.
    func object(_ index: Int, like row: ComparisonCursor, _ side: StoreState) throws -> ComparisonCursor? {
        try object(index, like: row, at: row.path, side)
    }

    /// The object with the identifier that begins at a column of a row of either state, or of another store; nil for none.
    func object(_ index: Int, like row: ComparisonCursor, at first: Int, _ side: StoreState) throws -> ComparisonCursor?
    {
        guard let rows = try prepared(.object(index), side) else { return nil }
        try rows.bind(row, first..<first + plan.entities[index].identifier.count)
        try rows.advance()
        return rows.hasRow ? rows : nil
    }

    /// The object with an identifier; nil for none.
    func object(_ index: Int, _ key: [StoredValue], _ side: StoreState) throws -> ComparisonCursor? {
        guard let rows = try prepared(.object(index), side) else { return nil }
        rows.reset()
        for (place, value) in key.enumerated() { try rows.bind(value.bound, at: place) }
        try rows.advance()
        return rows.hasRow ? rows : nil
    }

    /// What belongs to the object of a row, at its first row.
    func owned(_ child: Int, of row: ComparisonCursor, _ keyCount: Int, _ side: StoreState) throws -> ComparisonCursor?
    {
        guard let rows = try prepared(.owned(child), side) else { return nil }
        try rows.bind(row, row.path..<row.path + keyCount)
        try rows.advance()
        return rows
    }

    /// Lets go of what belonged to an object.
    func endOwned(_ child: Int) {
        for side in StoreState.allCases { prepared[side][Key(purpose: .owned(child), level: level)]??.reset() }
    }

    /// The links of a many-to-many of the object of a row, at the first.
    func links(_ index: Int, _ place: Int, of row: ComparisonCursor, _ keyCount: Int, _ side: StoreState) throws
        -> ComparisonCursor?
    {
        guard let rows = try prepared(.links(index, place), side) else { return nil }
        try rows.bind(row, row.path..<row.path + keyCount)
        try rows.advance()
        return rows
    }

    /// The identifiers of a list of owned objects, in its order.
    func list(
        _ owned: ComparedEntity.Owned,
        of row: ComparisonCursor,
        _ keyCount: Int,
        _ side: StoreState
    ) throws -> [[StoredValue]] {
        try list(.list(owned.child), of: row, keyCount, plan.entities[owned.child].identifier.count, side)
    }

    /// The identifiers of a list of a many-to-many, in its order.
    func list(
        _ index: Int,
        _ place: Int,
        of row: ComparisonCursor,
        _ keyCount: Int,
        _ side: StoreState
    ) throws -> [[StoredValue]] {
        let destination = plan.entities[index].joins[place].destination
        return try list(
            .linkList(index, place),
            of: row,
            keyCount,
            plan.entities[destination].identifier.count,
            side
        )
    }

    private func list(
        _ purpose: Purpose,
        of row: ComparisonCursor,
        _ keyCount: Int,
        _ count: Int,
        _ side: StoreState
    ) throws -> [[StoredValue]] {
        guard let rows = try prepared(purpose, side) else { return [] }
        try rows.bind(row, row.path..<row.path + keyCount)
        defer { rows.reset() }
        var list: [[StoredValue]] = []
        try rows.advance()
        while rows.hasRow {
            list.append((0..<count).map(rows.value))
            try rows.advance()
        }
        return list
    }
}

extension StoredValue {
    /// The value as the argument of a statement.
    var bound: RawArgument {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(Array(text.utf8))
        case .textBytes(let bytes): .text(bytes)
        case .blob(let bytes): .blob(bytes)
        }
    }
}
