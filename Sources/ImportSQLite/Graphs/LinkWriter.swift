import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

/// Makes and breaks the links of stored objects.
///
/// Belongs to one connection; used inside of its transactions only.
package final class LinkWriter {
    /// An element of a list.
    package struct Target {
        /// Its identifier; nil where it has none.
        package let key: RowKey?
        /// The index of its row in the batch; -1 where only its identifier is known.
        package let row: Int
        /// The values that name it, where no object has them.
        package var values: RowKey?
    }

    package let layout: ModelLayout
    package let statements: LinkStatementCache
    package let job: Int64
    private var forms: [LinkStatements?]
    /// The relationships whose scalars name objects by other attributes than the identifier.
    package private(set) lazy var named = layout.relationships.indices.filter { form(of: $0).isNamed }
    /// The one-to-ones that are their own inverse.
    private(set) lazy var mirrored = layout.relationships.indices.filter { form(of: $0).isMirrored }
    /// The relationships that have links whose rows are not there yet; nil until it is asked for.
    private var waiting: Set<String>?

    /// The relationships whose lists have elements without an object, which a new one must not inherit.
    var losing: [Int] = []
    /// True if the list at hand is to have nothing in it, also where it only adds otherwise.
    package var isEmptying = false

    private func isReplacing(_ form: LinkStatements) -> Bool { isEmptying || form.description.list == .replace }

    package init(_ layout: ModelLayout, _ statements: LinkStatementCache, job: Int64) {
        self.layout = layout
        forms = Array(repeating: nil, count: layout.relationships.count)
        self.statements = statements
        self.job = job
    }

    package func form(of relationship: Int) -> LinkStatements {
        if let form = forms[relationship] { return form }
        let form = LinkStatements(relationship, layout)
        forms[relationship] = form
        return form
    }

    /// The same, for an object of an entity that states it in its own columns.
    package func form(of relationship: Int, in entity: Int) -> LinkStatements {
        guard layout.relationships[relationship].shape == .source else { return form(of: relationship) }
        return LinkStatements(relationship, layout, holder: entity)
    }

    // MARK: Lists

    /// Makes the links of an object those of a list.
    ///
    /// - Parameters:
    ///   - row: its index in the batch.
    ///   - key: by what it is referred to.
    ///   - isNew: whether this record has made it.
    package func set(
        _ list: [Target],
        of relationship: Int,
        row: Int,
        key: RowKey,
        isNew: Bool,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        let form = form(of: relationship)
        // What is not identified in full cannot be referred to.
        guard !key.hasNull else { return }
        if form.isJoin {
            try setJoin(list, form, row, key, &outcome)
        } else if form.isPositional {
            try setElements(list, form, row, key, isNew: isNew, &outcome)
        } else {
            try setColumns(list, form, row, key, &outcome)
        }
    }

    /// Lists without identifiers: their rows are overwritten where they are, and surplus ones go.
    private func setElements(
        _ list: [Target],
        _ form: LinkStatements,
        _ row: Int,
        _ key: RowKey,
        isNew: Bool,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        let listKey = GraphWriter.ListKey(row: row, relationship: form.relationship)
        var (stored, unplaced): ([Int64], [Int64]) = ([], [])
        var positions = ListPositions()
        if !isNew {
            try statements.run(form.selectRows, [.key(key)]) {
                let position = $0?.position(of: 1)
                // What no list has named comes last; SQLite has nulls first.
                if position == nil {
                    unplaced.append(sqlite3_column_int64($0, 0))
                } else {
                    stored.append(sqlite3_column_int64($0, 0))
                }
                positions.note(position)
            }
        }
        stored += unplaced
        guard isReplacing(form) else {
            outcome.positions[listKey] = positions.next(list.count)
            return
        }
        for rowID in stored.dropFirst(list.count) {
            try delete(rowID, of: form.destination, &outcome)
            outcome.relinked.insert(row)
        }
        outcome.elements[listKey] = Dictionary(
            uniqueKeysWithValues: stored.prefix(list.count).enumerated().map { ($0, $1) }
        )
    }

    /// Lists whose links are in columns of the rows that they lead to.
    private func setColumns(
        _ list: [Target],
        _ form: LinkStatements,
        _ row: Int,
        _ key: RowKey,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        let named = Set(list.compactMap(\.key))
        var (present, left): (Set<RowKey>, [(rowID: Int64, key: RowKey)]) = ([], [])
        var positions = ListPositions()
        let listKey = GraphWriter.ListKey(row: row, relationship: form.relationship)
        let unnamed = Set(list.indices.filter { list[$0].key == nil && list[$0].values == nil })
        try statements.run(form.selectRows, [.key(key)]) { statement in
            let width = Int32(form.destinationKey.count)
            let other = RowKey(statement, columns: 2..<2 + width)
            let (rowID, position) = (sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1))
            if try isLeftOut(rowID, form) { return }
            if !outcome.hasClaimed(other, form, from: key) {
                positions.note(statement?.position(of: 1), of: other.bytes, isPlaced: !form.hasPosition)
            }
            if named.contains(other) {
                present.insert(other)
            } else if unnamed.contains(Int(clamping: position)), isReplacing(form),
                !form.isParent || other.hasNull
            {
                outcome.elements[listKey, default: [:]][Int(clamping: position)] = rowID
            } else {
                left.append((rowID, other))
            }
        }
        if isReplacing(form) {
            for other in left {
                if other.key.hasNull {
                    // What has no identifier is nothing but an element of this list.
                    try delete(other.rowID, of: form.destination, &outcome)
                } else {
                    try unlink(other.rowID, form, &outcome)
                }
                outcome.relinked.insert(row)
            }
            try forgetWaiting(form, source: key)
            positions = ListPositions()
        } else {
            try noteWaiting(form, source: key, &positions)
            outcome.positions[listKey] = list.map { positions.next($0.waitingKey).position }
        }
        let added = outcome.positions[listKey]
        for (index, target) in list.enumerated() {
            let position = added?[index] ?? Int64(index)
            if positions.hasKept(target.waitingKey) { continue }
            if let values = target.values { try wait(forValues: values, key, position, form) }
            guard let other = target.key else { continue }
            if !present.contains(other) { outcome.relinked.insert(row) }
            try takeUp(other, form)
            guard target.row < 0 else {
                // It is linked when its row is written.
                try forgetWaiting(form, target: other)
                continue
            }
            try link(other, to: key, at: position, form, &outcome)
        }
    }

    /// Sets the columns of a row that only its identifier is known of; it waits where there is none yet.
    private func link(
        _ target: RowKey,
        to key: RowKey,
        at position: Int64,
        _ form: LinkStatements,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        guard let rowID = try statements.integer(form.findRow, [.key(target)]) else {
            // One row refers to one object.
            try forgetWaiting(form, target: target)
            return try wait(for: target, key, position, form)
        }
        if form.isOneToOne { try statements.run(form.clearOthers, [.key(key), .number(rowID)]) }
        let place = form.place(position)
        let differs = try statements.run(form.setRow, [.key(key)] + place + [.number(rowID), .key(key)] + place)
        if differs > 0 { outcome.updated.append((form.destination, rowID)) }
    }

    /// Clears the columns of a row that a list no longer has.
    private func unlink(
        _ rowID: Int64,
        _ form: LinkStatements,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        if form.isParent {
            try leaveOut(rowID, form)
        } else {
            try statements.run(form.clearRow, [.number(rowID)])
        }
        outcome.updated.append((form.destination, rowID))
        outcome.ledger.append((.unlinked, form.entity, form.description.name))
        guard form.deletesOrphans || form.isParent else { return }
        try noteOrphan(RowKey(rowID: rowID), form)
    }

    private func noteOrphan(_ target: RowKey, _ form: LinkStatements) throws {
        try statements.run(
            "INSERT OR IGNORE INTO _import_orphan (job, relationship, target) VALUES (?, ?, ?)",
            [.number(job), .text(form.name), .bytes(target.bytes)]
        )
    }

    /// Lists in join tables.
    private func setJoin(
        _ list: [Target],
        _ form: LinkStatements,
        _ row: Int,
        _ key: RowKey,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        let named = Set(list.compactMap(\.key))
        var left: [RowKey] = []
        var positions = ListPositions()
        let listKey = GraphWriter.ListKey(row: row, relationship: form.relationship)
        let isOverwritten = form.isPositional && isReplacing(form) && form.hasPosition
        try statements.run(form.selectRows, [.key(key)]) { statement in
            let other = RowKey(statement, columns: 1..<1 + Int32(form.destinationKey.count))
            let place = Int(clamping: statement?.position(of: 0) ?? -1)
            if isOverwritten, list.indices.contains(place), try isThere(sqlite3_column_int64(statement, 1), form) {
                outcome.elements[listKey, default: [:]][place] = sqlite3_column_int64(statement, 1)
                return
            }
            positions.note(statement?.position(of: 0), of: other.bytes, isPlaced: !form.hasPosition)
            if !named.contains(other) { left.append(other) }
        }
        if isReplacing(form) {
            for other in left {
                try statements.run(form.deleteLink, [.key(key), .key(other)])
                if form.isSymmetric { try statements.run(form.deleteLink, [.key(other), .key(key)]) }
                outcome.relinked.insert(row)
                if form.isPositional {
                    try deleteElement(other, form, &outcome)
                    continue
                }
                outcome.ledger.append((.unlinked, form.entity, form.description.name))
                if form.deletesOrphans { try noteOrphan(other, form) }
            }
            try forgetWaiting(form, source: key)
            positions = ListPositions()
        } else {
            try noteWaiting(form, source: key, &positions)
        }
        for target in list where target.key?.hasNull != true {
            let (position, isKept) = positions.next(target.waitingKey)
            if isKept { continue }
            if let values = target.values {
                try wait(forValues: values, key, position, form)
                continue
            }
            guard let other = target.key else {
                outcome.joinPositions[target.row] = position
                continue
            }
            if try join(form, key, to: other, at: position) { outcome.relinked.insert(row) }
        }
    }

    /// Deletes an element that is known by its row id alone, unless a list has it.
    func dropElement(_ rowID: Int64, of relationship: Int, _ outcome: inout GraphWriter.Outcome) throws {
        try deleteElement(RowKey(rowID: rowID), form(of: relationship), &outcome)
    }

    /// Deletes an element without identifier that no list has any more.
    private func deleteElement(_ key: RowKey, _ form: LinkStatements, _ outcome: inout GraphWriter.Outcome) throws {
        guard try !statements.exists(form.isLinked, [.key(key)]),
            let rowID = try statements.integer(form.findElement, [.key(key)])
        else { return }
        try delete(rowID, of: form.destination, &outcome)
    }

    /// Adds a link of an object to a row that is known by its row id alone.
    ///
    /// - Returns: whether it was not there so.
    package func join(_ relationship: Int, _ key: RowKey, to rowID: Int64, at position: Int64) throws -> Bool {
        try join(form(of: relationship), key, to: RowKey(rowID: rowID), at: position)
    }

    private func join(_ form: LinkStatements, _ key: RowKey, to other: RowKey, at position: Int64) throws -> Bool {
        let count = try statements.run(form.insertLink, [.key(key), .key(other)] + form.place(position))
        if form.isSymmetric { try statements.run(form.insertSymmetricLink, [.key(other), .key(key)]) }
        return count > 0
    }

    // MARK: To-ones

    /// Sets a to-one whose destination is known by its row id alone.
    func refer(_ relationship: Int, from rowID: Int64, to target: Int64) throws {
        let form = form(of: relationship)
        try statements.run(form.setOwn, [.key(RowKey(rowID: target)), .number(rowID)])
        if form.isMirrored { try statements.run(form.setOwn, [.key(RowKey(rowID: rowID)), .number(target)]) }
    }

    /// The row id of an object without identifier that a row refers to by a to-one; nil for none.
    func referred(_ relationship: Int, from rowID: Int64) throws -> Int64? {
        try statements.integer(form(of: relationship).findReferred, [.number(rowID)])
    }

    /// Notes that a row refers to an object without identifier no longer.
    func loosen(_ rowID: Int64, of relationship: Int) throws {
        let form = form(of: relationship)
        if form.deletesOrphans { try noteOrphan(RowKey(rowID: rowID), form) }
    }

    /// Takes from others what a row is about to refer to, where only one may.
    ///
    /// - Parameter stored: where the row is that is overwritten, if it is known by nothing else.
    package func release(
        partnersOf row: Int,
        _ entity: Int,
        _ batch: borrowing RowBatch,
        _ cells: [Cell],
        _ values: RowValues,
        _ plan: GraphPlan,
        keeping kept: Set<Int>,
        stored: Int64? = nil,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        let own = batch.rows[row]
        for (owner, range) in plan.nodes[entity].rows.references where layout.relationships[owner].shape == .oneToOne {
            guard batch.isPresent(range.lowerBound, in: own), !kept.contains(range.lowerBound) else { continue }
            let place = batch.cell(of: range.lowerBound, in: own)
            let key = RowKey(cells[place..<place + range.count], values)
            let form = form(of: owner)
            let keyCell = batch.graph.nested[row].keyCell
            let width = plan.nodes[entity].plan.identifier.count
            let identifier = keyCell < 0 ? nil : RowKey(cells[keyCell..<keyCell + width], values)
            if form.isMirrored, let identifier { try mirror(identifier, at: key, form, &outcome) }
            guard !key.hasNull else { continue }
            // It has another partner than the one that it waited for.
            if let inverse = form.inverse { try forgetWaiting(self.form(of: inverse), source: key) }
            var taken: [Int64] = []
            try statements.run(form.selectOwners, [.key(key)]) { statement in
                let other = RowKey(statement, columns: 1..<1 + Int32(form.holderKey.count))
                let rowID = sqlite3_column_int64(statement, 0)
                if rowID != stored, identifier == nil || other != identifier { taken.append(rowID) }
            }
            for rowID in taken {
                try statements.run(form.clearRow, [.number(rowID)])
                outcome.updated.append((entity, rowID))
                outcome.ledger.append(
                    (.unlinked, layout.relationships[owner].entity, layout.relationships[owner].description.name)
                )
            }
        }
    }

    // MARK: Links that wait

    package func wait(for target: RowKey, _ source: RowKey, _ position: Int64?, _ form: LinkStatements) throws {
        try statements.run(
            "INSERT OR REPLACE INTO _import_link (relationship, target, source, position, job) VALUES (?, ?, ?, ?, ?)",
            [.text(form.name), .bytes(target.bytes), .bytes(source.bytes), .number(position), .number(job)]
        )
        waiting?.insert(form.name)
    }

    func forgetWaiting(_ form: LinkStatements, target: RowKey) throws {
        guard try isWaiting(form.name) else { return }
        try statements.run(
            "DELETE FROM _import_link WHERE relationship = ? AND target = ?",
            [.text(form.name), .bytes(target.bytes)]
        )
    }

    func forgetWaiting(_ form: LinkStatements, source: RowKey) throws {
        guard try isWaiting(form.name) else { return }
        try statements.run(
            "DELETE FROM _import_link WHERE relationship = ? AND source = ?",
            [.text(form.name), .bytes(source.bytes)]
        )
    }

    package func isWaiting(_ relationship: String) throws -> Bool { try waitingRelationships().contains(relationship) }

    private func waitingRelationships() throws -> Set<String> {
        if let waiting { return waiting }
        var names: Set<String> = []
        try statements.run("SELECT DISTINCT relationship FROM _import_link") {
            names.insert(String(cString: sqlite3_column_text($0, 0)))
        }
        waiting = names
        return names
    }

    /// Forgets which links wait: another connection may have added some.
    package func forget() { waiting = nil }

    /// Whose list a row that is not there is in, and where.
    private func waiting(_ form: LinkStatements, for key: RowKey) throws -> (source: RowKey, position: Int64)? {
        var found: (source: RowKey, position: Int64)?
        try statements.run(
            "SELECT source, position FROM _import_link WHERE relationship = ? AND target = ?",
            [.text(form.name), .bytes(key.bytes)]
        ) { statement in
            found = (RowKey(bytes: statement.bytes(of: 0)), sqlite3_column_int64(statement, 1))
        }
        return found
    }

    /// The row id of the object without identifier whose list waits for a row; nil for none.
    package func awaiting(_ relationship: Int, _ key: RowKey) throws -> Int64? {
        let form = form(of: relationship)
        guard try isWaiting(form.name), let source = try waiting(form, for: key)?.source else { return nil }
        let table = layout.table(of: form.entity).quotedIdentifier
        return try statements.integer("SELECT rowid FROM \(table) WHERE rowid = ?", [.key(source)])
    }

    /// Links a new row to what has named it before it came.
    ///
    /// - Parameter isStated: whether the row says itself, by the relationship that owns the columns, what it refers to.
    func applyWaiting(
        for rowID: Int64,
        _ entity: Int,
        key: RowKey,
        isStated: (Int) -> Bool = { _ in false },
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        guard try !waitingRelationships().isEmpty else { return }
        for index in layout.relationships.indices {
            let placement = layout.relationships[index]
            guard placement.shape != .join,
                placement.holder.map({ layout.hierarchy.chain(of: entity).contains($0) }) == true,
                placement.owner != index || placement.shape == .ownedDestination
            else { continue }
            let form = form(of: index)
            guard try isWaiting(form.name) else { continue }
            guard let found = try waiting(form, for: key) else { continue }
            let position = form.place(found.position)
            // What the row says itself is newer, also that it refers to nothing.
            if !isStated(placement.owner) {
                if form.isOneToOne { try statements.run(form.clearOthers, [.key(found.source), .number(rowID)]) }
                try statements.run(form.setIfNull, [.key(found.source)] + position + [.number(rowID)])
            }
            // Where it says the same, its place in the list stays.
            if form.hasPosition {
                try statements.run(form.placeIfSame, position + [.number(rowID), .key(found.source)])
            }
            try forgetWaiting(form, target: key)
        }
    }
}
