import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Compares rows of a log with what a store has.
///
/// It only reads. It is used within a transaction, by one thread.
struct UndoComparison {
    /// The job that is undone.
    let job: Int64
    let statements: PatchStatements
    let options: PatchOptions

    /// A row as the store has it: its key, and the cells of all columns.
    private struct Found {
        let key: RowKey
        let cells: [StoredValue]
    }

    /// What undoing a row comes to.
    func plan(_ row: UndoLogRow, _ table: UndoTable) throws -> UndoPlan {
        let found = try find(row, table)
        switch (row.before, row.after) {
        case (let before?, let after?): return update(row, before, after, found, table)
        case (let before?, nil): return insert(row, before, found, table)
        case (nil, let after): return delete(row, after, found, table)
        }
    }

    // MARK: The row

    /// The row that is the same object: by its key, or where another one has its row id by now, by what identifies it.
    private func find(_ row: UndoLogRow, _ table: UndoTable) throws -> Found? {
        func read(_ key: RowKey) throws -> Found? {
            var found: Found?
            try statements.run(table.byKey, key.values ?? []) { row in
                found = Found(key: key, cells: table.columns.indices.map(row.value))
            }
            return found
        }
        let own = try read(row.key)
        guard table.tracked.hasRowID, !table.tracked.hasOwnRowID, let known = row.after ?? row.before else {
            return own
        }
        let cells = table.widened(known, nil)
        func isSame(_ found: Found) -> Bool {
            table.identity.isEmpty
                ? table.logged.allSatisfy { found.cells[$0] == cells[$0] }
                : table.identity.allSatisfy { found.cells[$0] == cells[$0] }
        }
        if let own, isSame(own) { return own }
        // Of rows that nothing identifies, an equal one is another.
        guard !table.identity.isEmpty || row.after != nil else { return nil }
        let values = (table.identity.isEmpty ? table.logged : table.identity).map { cells[$0] }
        var key: RowKey?
        try statements.run(table.keyByIdentity, values) { row in
            key = RowKey(table.tracked.key.indices.map(row.value))
        }
        guard let key, try !isLogged(key, table), let other = try read(key) else {
            // One without anything that identifies it may have been changed since.
            return table.identity.isEmpty && row.after != nil ? own : nil
        }
        return other
    }

    /// True if a row is another one that the job has touched.
    private func isLogged(_ key: RowKey, _ table: UndoTable) throws -> Bool {
        try statements.exists(
            "SELECT 1 FROM _import_undo WHERE job = ?1 AND table_name = ?2 AND number = ?4 AND key = ?3",
            [.integer(job), .text(table.name), .blob(key.bytes), .integer(key.number)]
        )
    }

    // MARK: What is to be done

    private func conflict(
        _ kind: PatchConflict.Kind,
        _ plan: UndoPlan,
        _ table: UndoTable,
        _ attribute: String? = nil
    ) -> PatchConflict {
        PatchConflict(kind: kind, entity: table.entity, identifier: plan.identifier, attribute: attribute)
    }

    /// The job has changed it.
    private func update(
        _ row: UndoLogRow,
        _ before: [StoredValue],
        _ after: [StoredValue],
        _ found: Found?,
        _ table: UndoTable
    ) -> UndoPlan {
        var plan = UndoPlan(kind: .updated, identifier: table.reference(table.widened(after, nil), row.key))
        let changed = table.logged.indices.filter { before[$0] != after[$0] }
        plan.attributes = changed.map {
            AttributeChange(table.names[table.logged[$0]], old: after[$0], new: before[$0])
        }
        guard let found else {
            if plan.add(conflict(.missing, plan, table), options) == .take {
                plan.step = .insert(row.key, cells: table.widened(before, nil))
            }
            return plan
        }
        var cells = found.cells
        var places: [Int] = []
        for place in changed {
            let column = table.logged[place]
            let value = found.cells[column]
            if value == before[place] { continue }
            if value != after[place] {
                var conflict = conflict(.changed, plan, table, table.names[column])
                (conflict.old, conflict.new) = (.stored(after[place]), .stored(before[place]))
                conflict.stored = .stored(value)
                guard plan.add(conflict, options) == .take else { continue }
            }
            cells[column] = before[place]
            places.append(column)
        }
        if !places.isEmpty { plan.step = .update(found.key, cells: cells, places: places) }
        return plan
    }

    /// The job has deleted it.
    private func insert(_ row: UndoLogRow, _ before: [StoredValue], _ found: Found?, _ table: UndoTable) -> UndoPlan {
        let cells = table.widened(before, found?.cells)
        var plan = UndoPlan(kind: .inserted, identifier: table.reference(cells, row.key))
        plan.attributes = table.logged.indices.map { AttributeChange(table.names[table.logged[$0]], new: before[$0]) }
        guard let found else {
            plan.step = .insert(row.key, cells: cells)
            return plan
        }
        let places = table.logged.filter { found.cells[$0] != cells[$0] }
        if places.isEmpty { return plan }
        if plan.add(conflict(.exists, plan, table), options) == .take {
            plan.step = .update(found.key, cells: cells, places: places)
        }
        return plan
    }

    /// The job has inserted it.
    private func delete(_ row: UndoLogRow, _ after: [StoredValue]?, _ found: Found?, _ table: UndoTable) -> UndoPlan {
        let known = after.map { table.widened($0, nil) } ?? found?.cells ?? table.columns.map { _ in .null }
        var plan = UndoPlan(kind: .deleted, identifier: table.reference(known, row.key))
        plan.attributes = table.logged.indices.map { place in
            AttributeChange(table.names[table.logged[place]], old: known[table.logged[place]])
        }
        guard let found else { return plan }
        if let after, zip(table.logged, after).contains(where: { found.cells[$0] != $1 }) {
            guard plan.add(conflict(.changed, plan, table), options) == .take else { return plan }
        }
        plan.step = .delete(found.key)
        return plan
    }
}
