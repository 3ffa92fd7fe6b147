import Importer

/// What must be the same in two stores that the same import has filled: the schema, every value of every row, rejects and ledger.
struct StoreState {
    /// A table's rows, each value with its storage class and its bytes.
    private struct Table {
        let columns: [String]
        let rows: [[String]]
    }

    private let tables: [String: Table]
    /// Of texts that differ, in hexadecimal.
    private static let mostShownDigits = 400

    /// Reads a store.
    ///
    /// - Parameter countsJobs: false if it does not matter how often the same was imported.
    /// - Throws: `ImportError` if it cannot be read.
    init(of store: String, countsJobs: Bool = true) throws {
        let reader = try StoreReader(store: store)
        let own = "name GLOB '_import_*' OR tbl_name GLOB '_import_*' OR name GLOB 'sqlite_stat*'"
        let schema = try Self.rows(
            "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE NOT (\(own)) ORDER BY 1, 2",
            reader
        )
        var tables = ["sqlite_master": Table(columns: ["type", "name", "tbl_name", "sql"], rows: schema)]
        for row in schema where row[0] == "table" && !row[1].hasPrefix("sqlite_") {
            tables[row[1]] = try Self.table(row[1], reader)
        }
        for name in ["_import_reject", "_import_ledger"] {
            let isThere = try !Self.rows("SELECT 1 FROM sqlite_master WHERE name = '\(name)'", reader).isEmpty
            // Their row ids say what was found first.
            let ignored = countsJobs ? ["id"] : ["id", "job"]
            if isThere { tables[name] = try Self.table(name, without: ignored, reader) }
        }
        self.tables = tables
    }

    /// The first difference, in words; nil if there is none.
    func difference(from other: StoreState) -> String? {
        for name in Set(tables.keys).union(other.tables.keys).sorted() {
            guard let one = tables[name], let two = other.tables[name] else { return "only one has the table \(name)" }
            guard one.columns == two.columns else { return "table \(name): the columns differ" }
            for (index, (row, expected)) in zip(one.rows, two.rows).enumerated() where row != expected {
                let column = row.indices.first { row[$0] != expected[$0] } ?? 0
                return
                    "table \(name), row \(index + 1): \(one.columns[column]) is \(Self.shown(row[column])) "
                    + "instead of \(Self.shown(expected[column]))"
            }
            guard one.rows.count == two.rows.count else {
                return "table \(name): \(one.rows.count) rows instead of \(two.rows.count)"
            }
        }
        return nil
    }

    /// A value for people: a text as it reads.
    private static func shown(_ value: String) -> String {
        let digits = value.utf8.dropFirst("text ".utf8.count).prefix(mostShownDigits)
        guard value.hasPrefix("text ") else { return value }
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { offset in
            UInt8(String(decoding: digits.dropFirst(offset).prefix(2), as: UTF8.self), radix: 16)
        }
        return "text '\(String(decoding: bytes, as: UTF8.self))'"
    }

    /// A table's rows with their row ids, in the order of these.
    ///
    /// - Parameter ignored: columns that do not count; then neither do row ids, the order and how often a row is there.
    private static func table(_ name: String, without ignored: [String] = [], _ reader: StoreReader) throws -> Table {
        var columns = try rows("SELECT name FROM pragma_table_xinfo('\(name.doubling("'"))')", reader).map { $0[0] }
        if ignored.isEmpty { columns.insert("rowid", at: 0) } else { columns.removeAll { ignored.contains($0) } }
        let values = columns.map { column in
            let column = "\"\(column.doubling("\""))\""
            return """
                typeof(\(column)) || ' ' || CASE WHEN typeof(\(column)) IN ('text', 'blob') THEN hex(\(column)) \
                ELSE quote(\(column)) END
                """
        }
        let table = "\"\(name.doubling("\""))\""
        let order = ignored.isEmpty ? "rowid" : columns.indices.map { "\($0 + 1)" }.joined(separator: ", ")
        let selected = (ignored.isEmpty ? "" : "DISTINCT ") + values.joined(separator: ", ")
        let rows = try rows("SELECT \(selected) FROM \(table) ORDER BY \(order)", reader)
        return Table(columns: columns, rows: rows)
    }

    private static func rows(_ sql: String, _ reader: StoreReader) throws -> [[String]] {
        var rows: [[String]] = []
        try reader.query(sql) { _ in
        } _: { values in
            rows.append(values.map { if case .text(let text) = $0 { text } else { "" } })
        }
        return rows
    }
}

extension String {
    fileprivate func doubling(_ quote: String) -> String { replacing(quote, with: quote + quote) }
}

/// What else a finished import must leave behind.
enum StoreCheck {
    /// What is wrong with a store; nil if nothing is.
    ///
    /// - Throws: `ImportError` if it cannot be read.
    static func problem(of store: String) throws -> String? {
        var answers: [String] = []
        try StoreReader(store: store).query("PRAGMA integrity_check") { _ in
        } _: { values in
            if case .text(let text) = values.first { answers.append(text) }
        }
        if answers != ["ok"] { return "SQLite's integrity check says: \(answers.joined(separator: "; "))" }
        let inspection = StoreInspection(store: store)
        if try !inspection.unfinished().isEmpty { return "an import is not finished" }
        return try inspection.verify().first { !$0.holds }.map { "\($0.name): \($0.detail)" }
    }
}
