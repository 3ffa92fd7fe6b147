import ImportModel
import ImportSQLite

/// The statements that read one of the stores, in the order in which the two are compared.
///
/// A row has the keys of the objects around its object, the outermost first; then its identifier, what both states have of it
/// (attributes, then the columns of references), its index in its owner's list, attributes that only one state has, and
/// whether the predicate holds.
package struct ComparisonStatements {
    private let plan: ComparisonPlan
    private let side: StoreState
    /// Orders texts by their bytes in UTF-8, whatever the store's encoding.
    private let collation: String

    package init(_ plan: ComparisonPlan, _ side: StoreState, isUTF8: Bool) {
        self.plan = plan
        self.side = side
        collation = isUTF8 ? "BINARY" : ByteOrder.name
    }

    private func entity(_ index: Int) -> ComparedEntity { plan.entities[index] }

    private func layout(_ index: Int) -> ComparisonRowLayout { ComparisonRowLayout(entity(index), plan) }

    /// The entity's table, quoted; nil where the state lacks it.
    private func table(_ index: Int) -> String? { entity(index).stored[side]?.table.quotedIdentifier }

    /// The column of its row ids; nil where they have no name, or where there are none.
    private func rowID(of index: Int) -> String? { entity(index).stored[side]?.rowID.map { column($0, of: index) } }

    /// Some of an entity's rows; nil where the state has none.
    private func select(_ columns: [String], of index: Int, _ rest: String) -> SQLFragment? {
        table(index).map { SQLFragment("SELECT \(columns.joined(separator: ", ")) FROM \($0) \(rest)") }
    }

    /// A column with its table, quoted.
    private func column(_ name: String, of index: Int) -> String {
        "\(table(index) ?? "").\(name.quotedIdentifier)"
    }

    private func key(of index: Int) -> [String] { entity(index).keyColumns(side).map { column($0, of: index) } }

    /// The columns of an owned object that refer to its owner.
    private func ownerKey(of index: Int) -> [String] {
        guard let owner = entity(index).owner else { return [] }
        let reference = entity(index).references[entity(owner.entity).owned[owner.place].reference]
        return reference.columns[side].map { column($0, of: index) }
    }

    private func ordered(_ columns: [String]) -> String {
        columns.map { "\($0) COLLATE \(collation)" }.joined(separator: ", ")
    }

    /// That values are the same; the first part may use an index, whatever its collation is.
    private func equal(_ one: [String], _ other: [String]) -> String {
        zip(one, other).map(same).joined(separator: " AND ")
    }

    // MARK: Objects

    /// The columns of an object's own.
    private func own(_ index: Int) -> [String] {
        layout(index).columns(side).map { $0.map { column($0, of: index) } ?? "NULL" }
    }

    /// All objects of an entity that belong to no other; nil where the state has none.
    ///
    /// - Parameters:
    ///   - predicate: a condition whose truth is the last column.
    ///   - identifiers: those of the only objects, as people write them; nil for all.
    ///   - isFiltered: whether only those that `UnchangedRowFilter` has left.
    package func roots(
        _ index: Int,
        predicate: SQLFragment?,
        only identifiers: [[String]]? = nil,
        isFiltered: Bool = false
    ) -> SQLFragment? {
        guard let table = table(index) else { return nil }
        var text = "SELECT \(own(index).joined(separator: ", "))"
        if let predicate { text += ", (\(predicate.sql))" }
        var arguments = predicate?.arguments ?? []
        let rowID = isFiltered ? rowID(of: index) : nil
        // SQLite looks up each row that is left, and not which of all rows are.
        text += " FROM " + (rowID == nil ? "" : "temp.\(UnchangedRowFilter.left(index)) CROSS JOIN ") + table
        if let rowID {
            text += " WHERE \(rowID) = \(UnchangedRowFilter.left(index)).id"
        } else if let identifiers {
            text += " WHERE " + condition(key(of: index), identifiers, &arguments)
        } else if let isUnowned = isUnowned(index) {
            text += " WHERE \(isUnowned)"
        }
        let identifier = key(of: index)
        text += " ORDER BY \(ordered(identifier))"
        if !entity(index).identifierIsUnique[side] {
            // Without an index that tells them apart, 1 and 1.0 may both be there.
            text += identifier.map { ", typeof(\($0))" }.joined()
        }
        return SQLFragment(text, arguments)
    }

    /// That an object belongs to no other; nil where none does.
    private func isUnowned(_ index: Int) -> String? {
        guard let owner = entity(index).owner, let table = table(owner.entity) else { return nil }
        let columns = ownerKey(of: index)
        // What belongs to a part of nothing does not, either.
        let isPart = entity(owner.entity).isValue ? isUnowned(owner.entity).map { " AND NOT (\($0))" } : nil
        return columns.map { "\($0) IS NULL OR " }.joined() + "NOT EXISTS (SELECT 1 FROM \(table) "
            + "WHERE \(equal(key(of: owner.entity), columns))\(isPart ?? ""))"
    }

    /// The objects without identifier that belong to no other, in the order of what they have.
    package func leftOut(_ index: Int) -> SQLFragment? {
        guard let table = table(index) else { return nil }
        return sorted(cells(of: index), table, isUnowned(index) ?? "1")
    }

    /// The links of a many-to-many of what is not there, or of objects without identifier with what these have.
    package func leftOut(_ index: Int, _ join: ComparedEntity.Join) -> SQLFragment? {
        guard let links = join.tables[side]?.quotedIdentifier, let table = table(index)
        else { return nil }
        let columns = join.columns[side].map { "\(links).\($0.quotedIdentifier)" }
        let others = join.destinationColumns[side].map { "\(links).\($0.quotedIdentifier)" }
        let isSame = equal(key(of: index), columns)
        if entity(index).isValue { return sorted(cells(of: index) + others, "\(links), \(table)", isSame) }
        return sorted(columns + others, links, "NOT EXISTS (SELECT 1 FROM \(table) WHERE \(isSame))")
    }

    /// What both states have of an object without identifier: but for row ids.
    private func cells(of index: Int) -> [String] {
        let layout = layout(index)
        let rowIDs = Set(
            entity(index).references.filter { entity($0.destination).isValue }.flatMap { $0.columns[side] }
        )
        return layout.columns(side)[layout.shared].map { name in
            name.flatMap { rowIDs.contains($0) ? nil : column($0, of: index) } ?? "NULL"
        }
    }

    private func sorted(_ cells: [String], _ tables: String, _ condition: String) -> SQLFragment {
        let order = cells.map { "\(ordered([$0])), typeof(\($0))" }.joined(separator: ", ")
        return SQLFragment(
            "SELECT \(cells.joined(separator: ", ")) FROM \(tables) WHERE \(condition) ORDER BY \(order)"
        )
    }

    /// That a key is one of those that people write: what is written as a number may be a text, too.
    private func condition(_ key: [String], _ identifiers: [[String]], _ arguments: inout [RawArgument]) -> String {
        let conditions = identifiers.map { given in
            let parts =
                given.count == 1
                ? given[0].split(separator: ",", maxSplits: max(key.count - 1, 0), omittingEmptySubsequences: false)
                    .map(String.init) : given
            guard parts.count == key.count else { return "0" }
            return zip(key, parts).map { column, part in
                var values: [RawArgument] = [.text(Array(part.utf8))]
                if let number = Int64(part) { values.append(.integer(number)) }
                if let number = Double(part), !number.isNaN { values.append(.real(number)) }
                let choices = values.map { value in
                    arguments.append(value)
                    return same(column, "?\(arguments.count)")
                }
                return "(\(choices.joined(separator: " OR ")))"
            }.joined(separator: " AND ")
        }
        return conditions.isEmpty ? "0" : conditions.map { "(\($0))" }.joined(separator: " OR ")
    }

    /// That a value is the same as another; the first part may use an index, whatever its collation is.
    private func same(_ column: String, _ other: String) -> String {
        "\(column) = \(other) AND \(column) = \(other) COLLATE BINARY AND typeof(\(column)) = typeof(\(other))"
    }

    /// All objects of an entity that belong to those of another, in the order of these.
    ///
    /// - Parameter owners: the entities around it, the outermost first.
    package func owned(_ index: Int, in owners: [Int]) -> SQLFragment? {
        let chain = owners + [index]
        guard chain.allSatisfy({ table($0) != nil }), chain.count > 1 else { return nil }
        // The outermost object is known by what refers to it.
        let path = ownerKey(of: chain[1]) + chain[1...].dropLast().flatMap { key(of: $0) }
        let tables = chain[1...].map { table($0) ?? "" }
        let pairs = zip(chain[1...], chain[2...]).map { equal(key(of: $0), ownerKey(of: $1)) }
        let isThere = ownerKey(of: chain[1]).map { "\($0) IS NOT NULL" }
        return SQLFragment(
            "SELECT \((path + own(index)).joined(separator: ", ")) FROM \(tables.joined(separator: ", ")) WHERE "
                + (pairs + isThere).joined(separator: " AND ")
                + " ORDER BY \(ordered(path)), \(order(of: index))"
        )
    }

    /// How the objects of one owner are ordered.
    private func order(of index: Int) -> String {
        guard entity(index).isValue else { return ordered(key(of: index)) }
        let columns = layout(index).columns(side).compactMap(\.self).map { column($0, of: index) }
        let owned = entity(index).owner.map { entity($0.entity).owned[$0.place] }
        let position = owned?.positions[side].map { column($0, of: index) }
        let first = position.map { ["\($0) IS NULL", $0] } ?? []
        return (first + [ordered(columns)]).joined(separator: ", ")
    }

    private func marks(_ columns: [String]) -> String {
        columns.enumerated().map { place, column in
            same(column, "?\(place + 1)")
        }.joined(separator: " AND ")
    }

    /// The object with an identifier, which is bound.
    package func object(_ index: Int) -> SQLFragment? {
        select(own(index), of: index, "WHERE \(marks(key(of: index)))")
    }

    /// The objects that belong to one, whose key is bound.
    package func owned(_ index: Int) -> SQLFragment? {
        select(own(index), of: index, "WHERE \(marks(ownerKey(of: index))) ORDER BY \(order(of: index))")
    }

    /// The identifiers of a list, whose owner's key is bound, in its order.
    package func list(_ index: Int, position: String) -> SQLFragment? {
        let (position, key) = (column(position, of: index), key(of: index))
        let order = "\(position) IS NULL, \(position), \(ordered(key))"
        return select(key, of: index, "WHERE \(marks(ownerKey(of: index))) ORDER BY \(order)")
    }

    // MARK: Row ids

    /// Packs an entity's rows between two row ids, which are bound, in the order of their row ids; nil where rows have no row id that
    /// could be named, or where the identifier has too many columns.
    package func scan(_ index: Int) -> SQLFragment? {
        guard let id = rowID(of: index) else { return nil }
        let layout = layout(index)
        var cells = columns(layout.shared, of: index)
        let key = columns(0..<layout.keyCount, of: index)
        // A row that is too wide for one call has digests of its parts.
        if 1 + key.count + cells.count > PackedRowBlock.mostArguments { cells = digests(of: cells) }
        guard 1 + key.count + cells.count <= PackedRowBlock.mostArguments else { return nil }
        let call = "\(PackedRowBlock.function)(\(([id] + key + cells).joined(separator: ", ")))"
        return select(["1"], of: index, "NOT INDEXED WHERE \(id) BETWEEN ?1 AND ?2 AND \(call) ORDER BY \(id)")
    }

    /// An entity's rows in the order of their identifiers: the identifier, the row id, and digests of what both states have.
    func digests(_ index: Int) -> SQLFragment? {
        guard let id = rowID(of: index) else { return nil }
        let layout = layout(index)
        let digests = digests(of: columns(layout.shared, of: index))
        let key = columns(0..<layout.keyCount, of: index)
        // By an index, each row would be looked up where it is: sorting what is short takes less.
        return select(key + [id] + digests, of: index, "ORDER BY \(ordered(key.map { "+\($0)" }))")
    }

    /// What both states have of a row, in the side's columns; null where it has none.
    private func columns(_ range: Range<Int>, of index: Int) -> [String] {
        Array(own(index)[range])
    }

    /// Digests of as many expressions as a function may have arguments.
    private func digests(of cells: [String]) -> [String] {
        stride(from: 0, to: cells.count, by: PackedRowBlock.mostArguments).map { first in
            let some = cells[first..<min(first + PackedRowBlock.mostArguments, cells.count)]
            return "\(RowKey.digestFunction)(\(some.joined(separator: ", ")))"
        }
    }

    /// The row id of the object with an identifier, which is bound.
    package func rowID(_ index: Int) -> SQLFragment? {
        rowID(of: index).flatMap { select([$0], of: index, "WHERE \(marks(key(of: index)))") }
    }

    /// The first and the last row id of an entity.
    package func ends(_ index: Int) -> SQLFragment? {
        guard let table = table(index), let id = rowID(of: index) else { return nil }
        return SQLFragment("SELECT (SELECT min(\(id)) FROM \(table)), (SELECT max(\(id)) FROM \(table))")
    }

    // MARK: Links

    /// The links of a many-to-many: the key of the one object, then that of the other, and the index in the list.
    ///
    /// - Parameter bound: whether those of one object, whose key is bound; in the order of its list then.
    package func links(_ index: Int, _ join: ComparedEntity.Join, bound: Bool) -> SQLFragment? {
        guard let table = join.tables[side], self.table(index) != nil else { return nil }
        let own = join.columns[side].map(\.quotedIdentifier)
        let other = join.destinationColumns[side].map(\.quotedIdentifier)
        let position = join.positions[side]?.quotedIdentifier ?? "NULL"
        let columns = (bound ? other : own + other) + [position]
        let condition = bound ? marks(own) : own.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        return SQLFragment(
            "SELECT \(columns.joined(separator: ", ")) FROM \(table.quotedIdentifier) WHERE \(condition) ORDER BY "
                + ordered(bound ? other : own + other)
        )
    }

    /// The list of a many-to-many in its order, whose owner's key is bound.
    package func list(_ join: ComparedEntity.Join) -> SQLFragment? {
        guard let table = join.tables[side] else { return nil }
        let other = join.destinationColumns[side].map(\.quotedIdentifier)
        let position = join.positions[side]?.quotedIdentifier
        let first = position.map { ["\($0) IS NULL", $0] } ?? []
        return SQLFragment(
            "SELECT \(other.joined(separator: ", ")) FROM \(table.quotedIdentifier) WHERE "
                + "\(marks(join.columns[side].map(\.quotedIdentifier))) ORDER BY "
                + (first + [ordered(other)]).joined(separator: ", ")
        )
    }

    /// How many objects an entity has.
    package func count(_ index: Int) -> SQLFragment? {
        table(index).map { SQLFragment("SELECT count(*) FROM \($0)") }
    }
}

/// Where the columns of an entity's objects are in the rows that are compared, after the keys of the objects around.
package struct ComparisonRowLayout {
    package let keyCount: Int
    /// What both states have: attributes, then references.
    package let shared: Range<Int>
    /// By attribute of the entity, its column.
    package let attributes: [Int]
    /// By reference of the entity, its first column.
    package let references: [Int]
    /// The index in the owner's list; nil where there is none.
    package let position: Int?
    /// Whether the predicate holds.
    package let predicate: Int
    private var names: StatePair<[String?]>

    package init(_ entity: ComparedEntity, _ plan: ComparisonPlan) {
        let identifier = entity.isValue ? [nil] : entity.identifierColumns(.old).map(Optional.some)
        keyCount = max(identifier.count, entity.identifier.count, 1)
        var names = StatePair<[String?]>([], [])
        func add(_ old: String?, _ new: String?) -> Int {
            names.old.append(old)
            names.new.append(new)
            return names.old.count - 1
        }
        for place in 0..<keyCount {
            func key(_ side: StoreState) -> String? {
                let columns = entity.keyColumns(side)
                return entity.stored[side] != nil && columns.indices.contains(place) ? columns[place] : nil
            }
            // Values are known by no key, but those that others refer to.
            let isKnown = !entity.isValue || entity.stored.old?.rowKey != nil || entity.stored.new?.rowKey != nil
            _ = add(isKnown ? key(.old) : nil, isKnown ? key(.new) : nil)
        }
        var attributes = [Int](repeating: 0, count: entity.attributes.count)
        for (place, attribute) in entity.attributes.enumerated() {
            if let part = attribute.identifierPlace {
                attributes[place] = part
            } else if attribute.isShared {
                attributes[place] = add(attribute.columns.old, attribute.columns.new)
            }
        }
        var references: [Int] = []
        let owner = entity.owner.map { plan.entities[$0.entity].owned[$0.place] }
        for reference in entity.references {
            references.append(names.old.count)
            let count = max(reference.columns.old.count, reference.columns.new.count)
            for index in 0..<count {
                _ = add(
                    reference.columns.old.indices.contains(index) ? reference.columns.old[index] : nil,
                    reference.columns.new.indices.contains(index) ? reference.columns.new[index] : nil
                )
            }
        }
        shared = keyCount..<names.old.count
        // No column that nothing needs: a query has as many as a table may have, at most.
        position = owner?.isOrdered == true ? add(owner?.positions.old, owner?.positions.new) : nil
        for (place, attribute) in entity.attributes.enumerated()
        where attribute.identifierPlace == nil && !attribute.isShared {
            attributes[place] = add(attribute.columns.old, attribute.columns.new)
        }
        self.attributes = attributes
        self.references = references
        predicate = names.old.count
        self.names = names
    }

    package func columns(_ side: StoreState) -> [String?] { names[side] }
}
