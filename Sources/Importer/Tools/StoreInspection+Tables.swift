import GRDB
import ImportEngine
import ImportSQLite
import ImportSources

extension StoreInspection {
    /// A comparison of a table with the rows that imports have written.
    ///
    /// The expected number of rows is exact. Deleted and added rows are distinguished by their row ids, so a row that has replaced another
    /// with the same row id is not found. Changed values are found in a sample of up to 256 rows per table; a `VACUUM` that renumbers rows
    /// counts as a change.
    public struct TableComparison: Sendable, Hashable, Codable {
        /// The table's name.
        public let table: String
        /// True if the table exists, with its former columns.
        public let isThere: Bool
        /// True if a view now has the table's name.
        ///
        /// A view is not read, as it may have infinitely many rows.
        public let isView: Bool
        /// The current number of rows.
        public let rows: Int64
        /// The number of rows before the first import, and of those that imports have inserted.
        public let expected: Int64
        /// The minimum number of rows that other programs have added since.
        public let added: Int64
        /// The minimum number of rows that other programs have deleted since.
        public let deleted: Int64
        /// The number of rows that were compared with their values at the end of the last import; 0 while one is not finished.
        public let compared: Int64
        /// The number of compared rows with other values.
        public let changed: Int64

        /// True if no change by other programs is known.
        public var isUntouched: Bool { isThere && added == 0 && deleted == 0 && changed == 0 }
    }

    /// The changes that other programs have made to the tables since the last import.
    ///
    /// - Returns: a comparison for each table, by its name.
    /// - Throws: `ImportError` as `status` does.
    public func tables() throws -> [TableComparison] {
        try read { database in
            let rows = try BookkeepingRow.fetchAll(
                database,
                from: "_import_entity",
                sql: """
                    SELECT table_name, rows_before, inserted, nested_inserted + stubs - deleted AS gain
                    FROM _import_entity WHERE table_name <> '' ORDER BY job, position
                    """
            )
            var names: [BytewiseString: String] = [:]
            var expected: [BytewiseString: Int64] = [:]
            for row in rows {
                let name = try row.text("table_name")
                let table = ExistingEntity.folded(name)
                names[table] = names[table] ?? name
                // Before its first import, and what each has inserted.
                let before = try row.number("rows_before")
                let records = try row.number("inserted")
                expected[table] = (expected[table] ?? before).addingClamped(records)
                    .addingClamped(try row.rowID("gain"))
            }
            return try names.sorted { $0.value.utf8.lexicographicallyPrecedes($1.value.utf8) }.map {
                try comparison(of: $0.value, expected: expected[$0.key] ?? 0, database)
            }
        }
    }

    private func comparison(of table: String, expected: Int64, _ database: Database) throws -> TableComparison {
        let fingerprint = try TableFingerprint(of: table, database)
        let columns = Set(try StoredTable(table, database).columns.map(\.name.asciiLowercased))
        let known = (fingerprint?.columns ?? []).map(\.asciiLowercased)
        guard !columns.isEmpty, columns.isSuperset(of: known) else {
            let isView = try database.viewExists(table)
            let rows = columns.isEmpty ? 0 : try count(table, database)
            return TableComparison(
                table: table,
                isThere: false,
                isView: isView,
                rows: rows,
                expected: expected,
                added: 0,
                deleted: isView ? 0 : max(0, difference(expected, rows)),
                compared: 0,
                changed: 0
            )
        }
        let rows = try count(table, database)
        // Those above the last row id of the import are surely new; of the others the number alone is known.
        let above = try fingerprint.map { try count(table, where: "rowid > \($0.lastRowID)", database) } ?? 0
        let rest = difference(difference(rows, above), expected)
        let values = try fingerprint?.compare(table, database)
        return TableComparison(
            table: table,
            isThere: true,
            isView: false,
            rows: rows,
            expected: expected,
            added: rest > 0 ? difference(rows, expected) : above,
            deleted: max(0, difference(0, rest)),
            compared: values?.compared ?? 0,
            changed: values?.changed ?? 0
        )
    }

    private func count(_ table: String, where condition: String? = nil, _ database: Database) throws -> Int64 {
        let clause = condition.map { " WHERE \($0)" } ?? ""
        return try Int64.fetchOne(database, sql: "SELECT count(*) FROM \(table.quotedIdentifier)\(clause)") ?? 0
    }

    /// Stored numbers may be anything.
    private func difference(_ one: Int64, _ other: Int64) -> Int64 {
        let (difference, isTooLarge) = one.subtractingReportingOverflow(other)
        return isTooLarge ? (one > other ? .max : .min) : difference
    }
}
