import Foundation
import GRDB
import ImportEngine
import ImportModel

/// What waits for objects, and what was counted.
extension ReplayStore {
    /// Adds what waits for objects.
    package func load(waiting: [Waiting]) throws {
        guard !waiting.isEmpty else { return }
        try prepare()
        try session.write { database in
            let statement = try database.makeStatement(
                sql: """
                    INSERT OR REPLACE INTO _import_link (relationship, target, source, position, job)
                    VALUES (?, ?, ?, ?, 0)
                    """
            )
            for row in waiting {
                let target = (row.isNamed ? [LinkWriter.mark] : []) + RowKey(row.target).bytes
                try statement.execute(arguments: [
                    row.relationship, Data(target), Data(RowKey(row.source).bytes),
                    row.position < 0 ? nil : row.position,
                ])
            }
        }
    }

    /// Adds keys of rows that are there for references alone.
    package func load(stubs: [[StoredValue]], of table: TableDescription) throws {
        guard !stubs.isEmpty else { return }
        try prepare()
        try session.write { database in
            for key in stubs {
                try database.execute(
                    sql: "INSERT OR IGNORE INTO _import_stub (table_name, key) VALUES (?, ?)",
                    arguments: [table.name, Data(RowKey(key).bytes)]
                )
            }
        }
    }

    /// What was counted, by entity.
    package func totals() throws -> [EntityTotals] { try inDatabase { try EntityTotals.all(of: job, $0) } }

    /// What was changed or lost: entity, attribute or relationship, kind and count.
    package func ledger() throws -> [(entity: String, attribute: String, kind: LedgerKind, count: Int64)] {
        try inDatabase { database in
            try BookkeepingRow.ledger(of: job, database).map {
                (try $0.text("entity"), try $0.text("attribute"), try $0.choice("kind"), try $0.number("count"))
            }
        }
    }

    /// How many references of each relationship lead to nothing.
    package func unresolved() throws -> [(relationship: String, count: Int64)] {
        try inDatabase { database in
            try BookkeepingRow.all(database, from: "_import_unresolved", of: job)
                .map { (try $0.text("relationship"), try $0.number("count")) }
        }
    }

    /// Calls `body` with each reject, in order.
    package func forEachReject(_ body: (StoreInspection.Reject) throws -> Void) throws {
        try StoreInspection(store: path).forEachReject(RejectSelection(job: job), body)
    }

    /// Calls `body` with what waits for objects.
    package func forEachWaiting(_ body: (Waiting) throws -> Void) throws {
        try inDatabase { database in
            guard try database.hasTable("_import_link") else { return }
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT relationship, source, target, position FROM _import_link
                    ORDER BY relationship, target, source
                    """
            )
            while let row = try rows.next() {
                let (source, target): (Data, Data) = (row[1], row[2])
                let isNamed = target.first == LinkWriter.mark
                try body(
                    Waiting(
                        relationship: row[0],
                        source: RowKey(bytes: Array(source)).values ?? [],
                        target: RowKey(bytes: Array(isNamed ? target.dropFirst() : target)).values ?? [],
                        isNamed: isNamed,
                        position: row[3] ?? -1
                    )
                )
            }
        }
    }

    /// Calls `body` with the keys of a table's rows that are there for references alone.
    package func forEachStub(of table: TableDescription, _ body: ([StoredValue]) throws -> Void) throws {
        try inDatabase { database in
            guard try database.hasTable("_import_stub") else { return }
            let rows = try Row.fetchCursor(
                database,
                sql: "SELECT key FROM _import_stub WHERE table_name = ? COLLATE NOCASE ORDER BY key",
                arguments: [table.name]
            )
            while let row = try rows.next() {
                let key: Data = row[0]
                try body(RowKey(bytes: Array(key)).values ?? [])
            }
        }
    }
}
