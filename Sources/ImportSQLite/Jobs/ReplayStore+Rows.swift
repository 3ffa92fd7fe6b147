import Foundation
import GRDB
import ImportModel

/// The rows of its tables: those that were there, and what has become of them.
extension ReplayStore {
    /// Adds the rows of a table.
    ///
    /// - Parameter feed: calls its argument with each row: its row id, nil where a column is that or there is none, and the values of all
    ///     columns.
    package func load(
        _ table: TableDescription,
        _ feed: (_ add: (Int64?, [CoercedJSON]) throws -> Void) throws -> Void
    ) throws {
        try prepare()
        let names = table.columns.map(\.name.quotedIdentifier)
        let places = Array(repeating: "?", count: names.count).joined(separator: ", ")
        try session.write { database in
            let list = names.joined(separator: ", ")
            let plain = try database.makeStatement(
                sql: "INSERT INTO \(table.name.quotedIdentifier) (\(list)) VALUES (\(places))"
            )
            let numbered =
                try table.isJoin
                ? plain
                : database.makeStatement(
                    sql: "INSERT INTO \(table.name.quotedIdentifier) (rowid, \(list)) VALUES (?, \(places))"
                )
            try feed { rowID, values in
                let arguments = values.map(\.databaseValue)
                guard let rowID else { return try plain.execute(arguments: StatementArguments(arguments)) }
                try numbered.execute(arguments: StatementArguments([rowID.databaseValue] + arguments))
            }
        }
    }

    /// Makes the tables, which are not appended to then.
    package func prepare() throws {
        guard !isPrepared else { return }
        isPrepared = true
        try session.write { database in
            try BookkeepingSchema.prepareBookkeeping(database, store: path, all: true)
            _ = try StoreSchema.prepareTables(model, job: 0, database, store: path)
        }
    }

    /// Keeps all rows as they are now: what changes from now on is told.
    ///
    /// - Throws: `ImportError`.
    func keepRows() throws {
        try inDatabase { database in
            try UntrustedStoreGuard.attachingOne(database) {
                try database.execute(sql: "ATTACH ? AS kept", arguments: [path + ".kept"])
            }
            // Nobody needs it after a loss of power.
            try database.execute(sql: "PRAGMA kept.journal_mode = OFF; PRAGMA kept.synchronous = OFF")
            for (number, table) in layout.tables.enumerated() {
                // Of the same types: only then keys are found by an index (<https://www.sqlite.org/datatype3.html#affinity>).
                let stored = try StoredTable(table.name, database)
                let columns = table.columns.enumerated().map { "c\($0) \(stored.column($1.name)?.declared ?? "")" }
                let list = table.columns.map(\.name.quotedIdentifier).joined(separator: ", ")
                if table.isJoin {
                    let key = keyPlaces(of: table).map { "c\($0)" }.joined(separator: ", ")
                    try database.execute(
                        sql: """
                            CREATE TABLE kept.t\(number) (\(columns.joined(separator: ", ")), PRIMARY KEY (\(key))) \
                            WITHOUT ROWID
                            """
                    )
                } else {
                    try database.execute(
                        sql: "CREATE TABLE kept.t\(number) (r INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")))"
                    )
                }
                guard isPrepared else { continue }
                try database.execute(
                    sql: """
                        INSERT INTO kept.t\(number) SELECT \(table.isJoin ? "" : "rowid, ")\(list) \
                        FROM main.\(table.name.quotedIdentifier)
                        """
                )
            }
        }
    }

    /// The indexes of the columns of a table's primary key.
    package func keyPlaces(of table: TableDescription) -> [Int] {
        table.primaryKey.compactMap { name in table.columns.firstIndex { $0.name.equalsFoldingASCII(name) } }
    }

    /// Calls `body` with the rows of a table that are others than they were: those that are gone first, as they were, then those that
    /// have changed, and those that are new.
    ///
    /// What is another object by its identifier now is gone, and new.
    ///
    /// - Parameters:
    ///   - identity: the indexes of the columns that identify rows.
    ///   - body: gets the change, the row id, 0 where the table has none, which columns have changed, and all values.
    package func forEachChange(
        of table: TableDescription,
        identity: [Int],
        _ body: (Change, Int64, [Bool], [CoercedJSON]) throws -> Void
    ) throws {
        guard let number = layout.tables.firstIndex(where: { $0.name == table.name }) else { return }
        let (now, kept) = ("main.\(table.name.quotedIdentifier) AS n", "kept.t\(number) AS k")
        let own = table.columns.map { "n.\($0.name.quotedIdentifier)" }
        let before = table.columns.indices.map { "k.c\($0)" }
        func list(_ columns: [String]) -> String { columns.joined(separator: ", ") }
        func areOthers(_ places: [Int]) -> String {
            "(\(list(places.map { own[$0] }))) IS NOT (\(list(places.map { before[$0] })))"
        }
        let key = keyPlaces(of: table)
        let isSameKey = "(\(list(key.map { own[$0] }))) = (\(list(key.map { before[$0] })))"
        let isSameRow = table.isJoin ? isSameKey : "n.rowid = k.r"
        let isReplaced = identity.isEmpty || table.isJoin ? "0" : areOthers(identity)
        let (rowNow, rowBefore) = table.isJoin ? ("0", "0") : ("n.rowid", "k.r")
        let differences = own.indices.map { "\(own[$0]) IS NOT \(before[$0])" }
        let queries: [(Change, String, Bool)] = [
            (
                .gone,
                """
                SELECT \(rowBefore), \(list(before)) FROM \(kept) \
                WHERE NOT EXISTS (SELECT 1 FROM \(now) WHERE \(isSameRow) AND NOT \(isReplaced))
                """,
                false
            ),
            (
                .changed,
                """
                SELECT \(rowNow), \(list(own + differences)) FROM \(kept) JOIN \(now) ON \(isSameRow) \
                WHERE \(areOthers(Array(own.indices))) AND NOT \(isReplaced)
                """,
                true
            ),
            (
                .new,
                """
                SELECT \(rowNow), \(list(own)) FROM \(now) \
                WHERE NOT EXISTS (SELECT 1 FROM \(kept) WHERE \(isSameRow) AND NOT \(isReplaced))
                """,
                false
            ),
        ]
        let none = Array(repeating: false, count: own.count)
        try inDatabase { database in
            for (change, sql, tellsDifferences) in queries {
                let rows = try Row.fetchCursor(database, sql: sql)
                while let row = try rows.next() {
                    try interruption.check()
                    let values = try own.indices.map { try row.value($0 + 1) }
                    let mask = tellsDifferences ? own.indices.map { row[$0 + 1 + own.count] as Bool } : none
                    try body(change, row[0], mask, values)
                }
            }
        }
    }
}

extension Row {
    /// A value as it is: GRDB has a text up to U+0000.
    fileprivate func value(_ index: Int) throws -> CoercedJSON {
        let value: DatabaseValue = self[index]
        guard case .string = value.storage else { return CoercedJSON(value) }
        return try withUnsafeData(atIndex: index) { .text(String(decoding: $0 ?? Data(), as: UTF8.self)) }
    }
}
