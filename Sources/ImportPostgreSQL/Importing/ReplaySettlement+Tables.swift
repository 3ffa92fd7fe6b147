import ImportModel
import Importer

/// The rows of the tables, to the SQLite store and back.
extension ReplaySettlement {
    /// A column of a table: its name on the server, and what is written to it.
    private func columns(of table: TableDescription) throws -> [PGColumn] {
        if table.isJoin {
            guard let join = tables.joins.first(where: { layout.join(of: $0.making).table == table.name }) else {
                throw ImportError(.fault, at: label, "no relationship makes the table \(table.name)")
            }
            let names = PGNames.columns(table.columns.map(\.name))
            let keys = join.sourceColumns + join.destinationColumns
            return names.enumerated().map { index, name in
                keys.indices.contains(index) ? keys[index] : bigint(name)
            }
        }
        guard let home = tables.homes.first(where: { layout.table(of: $0) == table.name }) else {
            throw ImportError(.fault, at: label, "no entity has the table \(table.name)")
        }
        return try table.columns.map { column in
            if column.role == .rowID, let rowID = tables.rowID(of: home) { return rowID }
            let found = tables.columns[home].first { $0.attribute.column.equalsFoldingASCII(column.name) }
            guard let found else {
                throw ImportError(.fault, at: label, "the table \(table.name) has no column \(column.name)")
            }
            return found
        }
    }

    private func bigint(_ name: String) -> PGColumn {
        PGColumn(
            name: name,
            type: .bigint,
            attribute: AttributeDescription(name: name, type: .integer64, from: [])
        )
    }

    /// The columns that identify rows, by their indexes: those of a primary key, or of an identifier.
    private func identity(of table: TableDescription) -> [Int] {
        let names =
            table.primaryKey.isEmpty ? table.indexes.first(where: \.isIdentifier)?.columns ?? [] : table.primaryKey
        return names.compactMap { name in table.columns.firstIndex { $0.name.equalsFoldingASCII(name) } }
    }

    /// Where a row is, as a number: the server's own, which changes with the row (`ctid`).
    private static let place = "((t.ctid::text::point)[0]::bigint << 16) | (t.ctid::text::point)[1]::bigint"

    /// A row of a SQLite store has a number: its primary key, or here its place on the server.
    func load(_ table: TableDescription, into store: ReplayStore) throws {
        guard try PGTables.hasRows(table.name, connection) else { return }
        let columns = try columns(of: table)
        let stored = try PGTableColumn.all(of: table.name, connection)
        let types = try columns.map { column in
            guard let found = stored.first(where: { BytewiseString($0.name) == BytewiseString(column.name) }) else {
                throw ImportError(.fault, at: label, "the table \(table.name) has no column \(column.name)")
            }
            return found.type.holds(column.type) ? ReadType(column.type) : found.type
        }
        let key = store.keyPlaces(of: table).map { columns[$0].quoted }
        let isNumbered = key.isEmpty
        if isNumbered { try checkPlaces(in: table) }
        let list = (isNumbered ? [Self.place] : []) + columns.map { "t.\($0.quoted)" }
        // What has no key is nobody's.
        let condition = key.map { "t.\($0) IS NOT NULL" }.joined(separator: " AND ")
        let order = isNumbered ? "t.ctid" : key.map { "t.\($0)" }.joined(separator: ", ")
        let query = """
            SELECT \(list.joined(separator: ", ")) FROM \(PGTables.quoted(table.name)) AS t \
            \(condition.isEmpty ? "" : "WHERE \(condition) ")ORDER BY \(order)
            """
        let first = isNumbered ? 1 : 0
        try store.load(table) { add in
            try task.store.forEachRow(query, [], connection) { row in
                try task.interruption.check()
                try add(
                    isNumbered ? row.integer(0) : nil,
                    types.indices.map { try types[$0].value(row, $0 + first) }
                )
            }
        }
    }

    /// Makes sure that no two rows have one place.
    private func checkPlaces(in table: TableDescription) throws {
        let row = try connection.execute(
            """
            SELECT relkind = 'p', EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = oid)
            FROM pg_catalog.pg_class WHERE oid = to_regclass($1)
            """,
            [.text(PGTables.quoted(table.name))]
        ).first
        let (isPartitioned, hasHeirs) = (try row?.bool(0) ?? false, try row?.bool(1) ?? false)
        guard isPartitioned || hasHeirs else { return }
        let why: MessageText = isPartitioned ? "is partitioned" : "has tables that inherit from it"
        throw ImportError(
            .tableUnsuitable,
            at: label,
            "the table \(table.name) \(why), and no integer identifies its rows: they cannot be told apart here",
            advice: "Nothing of this is in the tables. Import into another schema; \(.restart) forgets this import."
        )
    }

    // MARK: Back

    /// The places of a table's changes on the server, beside the values.
    private static let numbers = ["_change", "_row"]

    func writeBack(_ table: TableDescription, from store: ReplayStore) throws {
        let columns = try columns(of: table)
        let key = store.keyPlaces(of: table)
        let mask = PGColumn(
            name: "_mask",
            type: .bytea,
            attribute: AttributeDescription(name: "_mask", type: .binary, from: [])
        )
        let staged = RelationshipStagingTables.Table(
            name: "_import_serial_row",
            numbers: Self.numbers,
            columns: columns + [mask]
        )
        let types = staged.columns.enumerated().map { "c\($0) \($1.type.declaration)" }
        let list = staged.numbers.map { "\($0) bigint" } + types
        _ = try connection.execute(
            "CREATE TEMPORARY TABLE _import_serial_row (\(list.joined(separator: ", "))) ON COMMIT DROP"
        )
        var rows = try staged.rows(task.job.options)
        var counts: [ReplayStore.Change: Int64] = [:]
        var changes = columns.map { _ in false }
        func flush() throws {
            guard rows.count > 0 else { return }
            _ = try connection.copy(rows.statement) { try rows.write(to: &$0) }
            rows.begin()
        }
        try store.forEachChange(of: table, identity: identity(of: table)) { change, row, changed, values in
            counts[change, default: 0] += 1
            for index in changed.indices where changed[index] { changes[index] = true }
            // What a table has is not written again: others may have put something there that no record could say.
            let written = values.indices.map { change == .new || changed[$0] || key.contains($0) ? values[$0] : .null }
            try append(change, row, changed, written, to: &rows, table)
            if rows.byteCount >= 4 << 20 { try flush() }
        }
        try flush()
        if !counts.isEmpty { try apply(table, columns, key, changes, counts) }
        _ = try connection.execute("DROP TABLE _import_serial_row")
    }

    private func append(
        _ change: ReplayStore.Change,
        _ row: Int64,
        _ changed: [Bool],
        _ values: [Record.Value],
        to rows: inout ChunkRows,
        _ table: TableDescription
    ) throws {
        var bytes: [UInt8] = []
        var cells: [Cell] = []
        func add(_ tag: Cell.Tag, _ value: some Collection<UInt8>) {
            cells.append(.text(tag, offset: bytes.count, length: value.count))
            bytes += value
        }
        for value in values {
            switch value {
            case .null: cells.append(.null)
            case .integer(let number): cells.append(.integer(number))
            case .real(let number): cells.append(.real(number))
            case .text(let text): add(.batchText, Array(text.utf8))
            case .blob(let blob): add(.batchBlob, blob)
            }
        }
        add(.batchBlob, changed.map { $0 ? 1 : 0 })
        // Texts are read in words.
        bytes += [UInt8](repeating: 0, count: 16)
        let fault = bytes.withUnsafeBytes {
            rows.append(
                ChunkRows.numbers(change.rawValue, row),
                cells,
                CellSource(chunk: nil, own: $0.baseAddress),
                isKey: false
            )
        }
        guard fault == nil else {
            throw ImportError(
                .storeFailed,
                at: label,
                "the table \(table.name) cannot store a value of a record, such as U+0000 in a text",
                advice: "Nothing of the import is in the tables. Restart with \(.restart) and without that record."
            )
        }
    }

    private func apply(
        _ table: TableDescription,
        _ columns: [PGColumn],
        _ key: [Int],
        _ changes: [Bool],
        _ counts: [ReplayStore.Change: Int64]
    ) throws {
        let name = PGTables.quoted(table.name)
        let isSame =
            key.isEmpty
            ? "t.ctid = format('(%s,%s)', s._row >> 16, s._row & 65535)::tid"
            : key.map { "t.\(columns[$0].quoted) = s.c\($0)" }.joined(separator: " AND ")
        // Triggers may be of some columns only, and rights, too.
        let sets = columns.enumerated().filter { changes[$0.offset] }.map { index, column in
            """
            \(column.quoted) = CASE WHEN get_byte(s.c\(columns.count), \(index)) = 1 THEN s.c\(index) \
            ELSE t.\(column.quoted) END
            """
        }
        let names = columns.map(\.quoted).joined(separator: ", ")
        let values = columns.indices.map { "c\($0)" }.joined(separator: ", ")
        func isChange(_ change: ReplayStore.Change) -> String { "_change = \(change.rawValue)" }
        _ = try connection.execute("ANALYZE _import_serial_row")
        let statements: [(ReplayStore.Change, String)] = [
            (.gone, "DELETE FROM \(name) AS t USING _import_serial_row AS s WHERE s.\(isChange(.gone)) AND \(isSame)"),
            (
                .changed,
                """
                UPDATE \(name) AS t SET \(sets.joined(separator: ", ")) FROM _import_serial_row AS s
                WHERE s.\(isChange(.changed)) AND \(isSame)
                """
            ),
            (
                .new,
                """
                INSERT INTO \(name) (\(names)) SELECT \(values) FROM _import_serial_row
                WHERE \(isChange(.new)) ORDER BY \(key.isEmpty ? "_row" : key.map { "c\($0)" }.joined(separator: ", "))
                """
            ),
        ]
        for (change, statement) in statements {
            guard let wanted = counts[change] else { continue }
            let affected = Int64(try connection.execute(statement).affected)
            guard affected == wanted else {
                throw ImportError(
                    .storeFailed,
                    at: label,
                    "the table \(table.name) has accepted \(affected.grouped) of \(wanted.grouped) rows: a trigger or a rule refuses others",
                    advice: "Drop it until this is done: \(call: .resuming(store: label))."
                )
            }
        }
        try advanceRowIDs(of: table)
    }

    /// Nobody else gets the row ids of new rows.
    private func advanceRowIDs(of table: TableDescription) throws {
        guard let home = tables.homes.first(where: { layout.table(of: $0) == table.name }), !table.isJoin,
            let rowID = tables.rowID(of: home)
        else { return }
        let name = tables.table(of: home)
        _ = try connection.execute(
            """
            SELECT setval(sequence, greatest(nextval(sequence), (SELECT max(\(rowID.quoted)) FROM \(name))))
            FROM (SELECT pg_get_serial_sequence($1, $2) AS sequence) AS own
            """,
            [.text(name), .text(rowID.name)]
        )
    }
}
