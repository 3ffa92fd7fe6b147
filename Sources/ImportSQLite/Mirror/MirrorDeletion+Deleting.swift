import Foundation
import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

extension MirrorDeletion {
    /// What was deleted.
    private struct Deletion {
        var changes: [EntityChanges]
        /// How many objects are gone, of all entities.
        var count: Int64 = 0
        /// By root, how many of its objects are gone.
        var byRoot: [Int64]
        /// By root, how many objects a delete rule keeps.
        var denied: [Int64]
        /// True if rows are gone that are of no entity of the job.
        var needsRefresh = false
    }

    /// Deletes what is to go, unless it may not, and keeps what has come of it.
    ///
    /// - Parameter log: keeps what the rows were.
    /// - Returns: what it has changed; nil for nothing.
    package func run(_ transformers: TransformerRegistry, _ log: UndoLog) throws -> MergeNotification? {
        var reason = try find(transformers)
        let objects = try listed()
        var deletion: Deletion?
        if reason == nil, goneCount > 0 {
            if try deletesNothingElse() {
                deletion = try delete(log)
            } else {
                // Delete rules and triggers may take along more than is to go.
                try statements.run("SAVEPOINT import_mirror")
                deletion = try delete(log)
                if let done = deletion, zip(roots, done.byRoot).contains(where: { !allows($1, of: $0) }) {
                    try statements.run("ROLLBACK TO import_mirror")
                    (deletion, reason) = (nil, .limit)
                }
                try statements.run("RELEASE import_mirror")
            }
        }
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO _import_mirror (job, is_done, deleted, withheld, reason, objects)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                job.id, reason == nil, deletion?.count ?? 0, reason == nil ? 0 : goneCount, reason?.rawValue,
                try BookkeepingJSON.encode(objects),
            ]
        )
        if reason != nil {
            try noteWhole()
        } else {
            try database.execute(sql: "DELETE FROM _import_seen WHERE job = ?", arguments: [job.id])
        }
        try database.execute(sql: "DROP TABLE IF EXISTS \(Self.gone); DROP TABLE IF EXISTS \(RowIDBitmap.scope)")
        return try deletion.flatMap(saved)
    }

    /// Deletes what is to go, and keeps what has come of it.
    ///
    /// - Returns: what it has changed; nil for nothing.
    func deleteGone(_ log: UndoLog) throws -> MergeNotification? { try saved(delete(log)) }

    private func saved(_ deletion: Deletion) throws -> MergeNotification? {
        guard deletion.count > 0 || deletion.denied.contains(where: { $0 > 0 }) else { return nil }
        try save(deletion)
        return try MergeLog.append(
            deletion.changes,
            of: job.id,
            needsRefresh: deletion.needsRefresh,
            database
        )
    }

    private func save(_ deletion: Deletion) throws {
        for (position, change) in deletion.changes.enumerated() {
            try change.nested.save(job: job.id, position: position, database)
        }
        for (root, count) in zip(roots, deletion.denied) where count > 0 {
            try database.execute(
                sql: """
                    INSERT INTO _import_ledger (job, entity, attribute, kind, count) VALUES (?, ?, '', ?, ?)
                    ON CONFLICT DO UPDATE SET count = excluded.count
                    """,
                arguments: [job.id, root.name, LedgerKind.deletionDenied.rawValue, count]
            )
        }
        try countReferences()
    }

    /// References that delete rules leave as they are lead nowhere now.
    private func countReferences() throws {
        guard !model.isFlat else { return }
        let layout = try ModelLayout(importing: model)
        for (index, placement) in layout.relationships.enumerated() where placement.hasReferences(index) {
            let form = LinkStatements(index, layout)
            var open: Int64 = 0
            for (_, form) in LinkStatements.all(index, layout) {
                open += try statements.countOfDangling(form, layout, to: placement.destination)
            }
            open += try statements.countOfWaiting(form)
            try statements.setUnresolved(open, form.name, job: job.id)
        }
    }

    // MARK: Deleting

    private func delete(_ log: UndoLog) throws -> Deletion {
        var deletion = Deletion(
            changes: model.entities.enumerated().map { EntityChanges(entity: $1.name, table: $1.table, position: $0) },
            byRoot: roots.map { _ in 0 },
            denied: roots.map { _ in 0 }
        )
        try deleteFlat(&deletion)
        if let layout = graph.layout { try delete(layout, &deletion) }
        try log.complete()
        return deletion
    }

    private func deleteFlat(_ deletion: inout Deletion) throws {
        for (place, root) in roots.enumerated() where root.index == nil {
            // One statement for all would look for each row twice.
            let delete = "DELETE FROM main.\(root.table.quotedIdentifier) WHERE rowid = ?"
            try statements.run("SELECT row FROM \(Self.gone) WHERE root = ? ORDER BY row", [.number(Int64(place))]) {
                try check()
                let rowID = sqlite3_column_int64($0, 0)
                guard try statements.run(delete, [.number(rowID)]) > 0 else { return }
                note(rowID, of: root.name, nil, &deletion)
            }
        }
    }

    /// Deletes objects that relate to others, by the delete rules.
    ///
    /// One that a rule keeps since others refer to it may go when those are gone.
    private func delete(_ layout: ModelLayout, _ deletion: inout Deletion) throws {
        let links = LinkWriter(layout, statements, job: job.id)
        var hasDeleted = true
        while hasDeleted {
            hasDeleted = false
            for (place, root) in roots.enumerated() {
                guard let index = root.index else { continue }
                deletion.denied[place] = 0
                var next: Int64? = .min
                while let first = next {
                    try check()
                    let rowIDs = try page(of: place, from: first)
                    next = rowIDs.last.flatMap { $0 == .max ? nil : $0 + 1 }
                    for rowID in rowIDs {
                        if try delete(rowID, of: root, index, links, &deletion) {
                            try forget(rowID, of: place)
                            hasDeleted = true
                        } else {
                            deletion.denied[place] += 1
                        }
                    }
                }
            }
            guard deletion.denied.contains(where: { $0 > 0 }) else { break }
        }
    }

    /// Row ids that are left to be deleted, as many as are worth a look at once.
    private func page(of place: Int, from first: Int64) throws -> [Int64] {
        try statements.integers(
            "SELECT row FROM \(Self.gone) WHERE root = ? AND row >= ? ORDER BY row LIMIT 1000",
            [.number(Int64(place)), .number(first)]
        )
    }

    private func forget(_ rowID: Int64, of place: Int) throws {
        try statements.run(
            "DELETE FROM \(Self.gone) WHERE root = ? AND row = ?",
            [.number(Int64(place)), .number(rowID)]
        )
    }

    /// - Returns: whether it is gone.
    private func delete(
        _ rowID: Int64,
        of root: Root,
        _ index: Int,
        _ links: LinkWriter,
        _ deletion: inout Deletion
    ) throws -> Bool {
        let select = "SELECT 1 FROM main.\(root.table.quotedIdentifier) WHERE rowid = ?"
        // It may have gone with another.
        guard try statements.exists(select, [.number(rowID)]) else { return true }
        var outcome = GraphWriter.Outcome()
        guard try links.delete(rowID, of: index, &outcome) else { return false }
        for (entity, rowID) in outcome.deleted {
            note(rowID, of: links.layout.entities[entity].name, (entity, links.layout), &deletion)
        }
        for (entity, rowID) in outcome.updated {
            guard let position = position(of: links.layout.entities[entity].name) else {
                deletion.needsRefresh = true
                continue
            }
            deletion.changes[position].touch(rowID)
        }
        return true
    }

    /// Counts an object that is gone.
    ///
    /// - Parameter related: its index in a layout; nil where it relates to no other.
    private func note(
        _ rowID: Int64,
        of entity: String,
        _ related: (index: Int, layout: ModelLayout)?,
        _ deletion: inout Deletion
    ) {
        deletion.count += 1
        for (place, root) in roots.enumerated() {
            if let related, let index = root.index {
                if related.layout.hierarchy.isRelated(index, related.index) { deletion.byRoot[place] += 1 }
            } else if root.name.hasSameBytes(as: entity) {
                deletion.byRoot[place] += 1
            }
        }
        guard let position = position(of: entity) else {
            deletion.needsRefresh = true
            return
        }
        deletion.changes[position].delete(rowID)
        deletion.changes[position].nested.deleted += 1
    }

    private func position(of entity: String) -> Int? {
        model.entities.firstIndex { $0.name.hasSameBytes(as: entity) }
    }
}
