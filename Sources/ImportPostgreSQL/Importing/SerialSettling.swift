import Foundation
import ImportModel
import Importer

/// Settles related entities by taking one record after the other, where statements over whole tables do not give the same: in one
/// transaction of the importing process.
///
/// The tables are read into a SQLite store in the temporary directory (`SerialStore`), which takes the records as any SQLite store does. What has
/// changed there is written back then. Nobody else writes the tables meanwhile. What workers have staged goes; what they have
/// found to be rejects, as a server cannot have it, are rejects there, too.
struct SerialSettling {
    private let task: ChunkWorker.Task
    private let model: ServerModel
    private let tables: RelatedTables
    private let guards: TableGuards
    private let connection: ServerConnection

    private var job: Int64 { task.job.id }
    private var label: String { task.store.label }
    private var layout: ModelLayout { tables.layout }

    /// - Parameters:
    ///   - guards: of the tables.
    ///   - connection: in the transaction that all is done in.
    init(
        _ task: ChunkWorker.Task,
        _ model: ServerModel,
        _ tables: RelatedTables,
        _ guards: TableGuards,
        _ connection: ServerConnection
    ) {
        self.task = task
        self.model = model
        self.tables = tables
        self.guards = guards
        self.connection = connection
    }

    /// Settles all records; those whose rows a table refuses are rejects.
    ///
    /// - Throws: `ImportError`, `ServerFailure`.
    func settle() throws {
        try lock()
        let retries = RetryTable(of: task.job)
        if let retries { try forgetClosed(retries) }
        var refused: [Int64: ImportModel.RecordError] = [:]
        var accepted: Int64 = 0
        while let failure = try attempt(without: refused, retries) {
            let found = try find(failure, after: accepted, without: refused, retries)
            refused[found.ordinal] = found.error
            accepted = found.ordinal
        }
        if let retries { try retries.settleAll(connection) }
    }

    // MARK: What tables refuse

    /// Settles all, as far as no row is refused.
    ///
    /// - Parameter last: the last record that is taken, to find out whether something is refused; nil for all.
    /// - Returns: why a row is refused; nothing is done then.
    private func attempt(
        without refused: [Int64: ImportModel.RecordError],
        upTo last: Int64? = nil,
        _ retries: RetryTable?
    ) throws -> ServerFailure? {
        try connection.refusal {
            var keys: [TableGuards.ForeignKey] = []
            try inFolder { folder in
                let store = try SerialStore(in: folder, of: task.job, task.transformers, task.interruption)
                defer { store.close() }
                for table in layout.tables { try load(table, into: store) }
                try loadWaiting(into: store)
                try take(into: store, without: refused, upTo: last, retries)
                // Others may read the tables up to here.
                try ServerTables.drop(tables.foreignKeys, connection)
                keys = try guards.takeAwayForeignKeys(connection)
                try tables.dropPartnerIndexes(connection)
                try tables.dropListIndexes(connection)
                for table in layout.tables { try writeBack(table, from: store) }
                guard last == nil else { return }
                try writeWaiting(from: store)
                try writeRejects(from: store)
                try writeCounts(from: store)
            }
            for key in keys { try key.restore(connection) }
        }
    }

    /// Finds the first record with which a row is refused, by halves.
    ///
    /// - Parameter accepted: up to this record none is.
    /// - Throws: `ImportError` where it is about no record.
    private func find(
        _ failure: ServerFailure,
        after accepted: Int64,
        without refused: [Int64: ImportModel.RecordError],
        _ retries: RetryTable?
    ) throws -> (ordinal: Int64, error: ImportModel.RecordError) {
        func refusal(upTo ordinal: Int64) throws -> ServerFailure? {
            _ = try connection.execute("SAVEPOINT importer_trial")
            let failure = try attempt(without: refused, upTo: ordinal, retries)
            _ = try connection.execute("ROLLBACK TO SAVEPOINT importer_trial; RELEASE SAVEPOINT importer_trial")
            return failure
        }
        let last = try connection.execute(
            "SELECT coalesce(max(first_ordinal + records - 1), 0)::bigint FROM _import_chunk WHERE job = $1",
            [.integer(job)]
        ).first?.integer(0)
        guard let last, last > accepted, var found = try refusal(upTo: last),
            try accepted > 0 || refusal(upTo: 0) == nil
        else { throw failure.unattributed(in: task.store) }
        var (low, high) = (accepted, last)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if let failure = try refusal(upTo: middle) {
                (high, found) = (middle, failure)
            } else {
                low = middle
            }
        }
        return (high, found.error(of: tables.entity(of: found), keyPath: ""))
    }

    /// Calls `body` with a new folder, which is removed afterwards; what a killed process has left of it goes before.
    private func inFolder(_ body: (String) throws -> Void) throws {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("importer-\(task.job.token)").path
        try? files.removeItem(atPath: folder)
        do {
            try files.createDirectory(
                atPath: folder,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw ImportError(
                .storeUnusable,
                at: folder,
                "cannot be made (\((error as NSError).localizedDescription))",
                advice: "Let TMPDIR be a folder that can be written; then resume: \(call: .resuming(store: label))."
            )
        }
        defer { try? files.removeItem(atPath: folder) }
        try body(folder)
    }

    // MARK: Tables

    /// Keeps others from writing the tables until the transaction's end.
    private func lock() throws {
        let names = layout.tables.map { ServerTables.quoted($0.name) }
        _ = try connection.execute("LOCK TABLE \(names.joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE")
    }

    /// A column of a table: its name on the server, and what is written to it.
    private func columns(of table: TableDescription) throws -> [ServerColumn] {
        if table.isJoin {
            guard let join = tables.joins.first(where: { layout.join(of: $0.making).table == table.name }) else {
                throw ImportError(.fault, at: label, "no relationship makes the table \(table.name)")
            }
            let names = ServerNames.columns(table.columns.map(\.name))
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

    private func bigint(_ name: String) -> ServerColumn {
        ServerColumn(
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
    private func load(_ table: TableDescription, into store: SerialStore) throws {
        guard try ServerTables.hasRows(table.name, connection) else { return }
        let columns = try columns(of: table)
        let stored = try StoredServerColumn.all(of: table.name, connection)
        let types = try columns.map { column in
            guard let found = stored.first(where: { ExactText($0.name) == ExactText(column.name) }) else {
                throw ImportError(.fault, at: label, "the table \(table.name) has no column \(column.name)")
            }
            return found.type
        }
        let key = store.keyPlaces(of: table).map { columns[$0].quoted }
        let isNumbered = key.isEmpty
        if isNumbered { try checkPlaces(in: table) }
        let list = (isNumbered ? [Self.place] : []) + columns.map { "t.\($0.quoted)" }
        // What has no key is nobody's.
        let condition = key.map { "t.\($0) IS NOT NULL" }.joined(separator: " AND ")
        let order = isNumbered ? "t.ctid" : key.map { "t.\($0)" }.joined(separator: ", ")
        let query = """
            SELECT \(list.joined(separator: ", ")) FROM \(ServerTables.quoted(table.name)) AS t \
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
        let isPartitioned = try connection.execute(
            "SELECT relkind = 'p' FROM pg_catalog.pg_class WHERE oid = to_regclass($1)",
            [.text(ServerTables.quoted(table.name))]
        ).first?.bool(0)
        guard isPartitioned == true else { return }
        throw ImportError(
            .tableUnsuitable,
            at: label,
            "the table \(table.name) is partitioned, and no integer identifies its rows: they cannot be told apart here",
            advice: "Nothing of this is in the tables. Import into another schema; \(.restart) forgets this import."
        )
    }

    // MARK: What waits

    /// The columns of an object that waits, of what it waits for, and of what names that.
    private func keys(of relationship: Int) -> (source: [ServerColumn], target: [ServerColumn], named: [ServerColumn]) {
        let placement = layout.relationships[relationship]
        return (
            tables.key(of: placement.entity), tables.key(of: placement.destination),
            tables.names.first { $0.relationship == relationship }?.columns ?? []
        )
    }

    private func parts(_ json: String, _ columns: [ServerColumn]) -> [String] {
        columns.enumerated().map { "(\(json)->>\($0))::\($1.type.declaration)" }
    }

    private func loadWaiting(into store: SerialStore) throws {
        for relationship in layout.relationships.indices {
            let (source, target, named) = keys(of: relationship)
            for (isNamed, other) in [(false, target), (true, named)] where !other.isEmpty {
                let list = parts("source", source) + parts(isNamed ? "target->'by'" : "target", other) + ["position"]
                let types = (source + other).map { ReadType(catalogName: $0.type.catalogName) }
                var waiting: [SerialStore.Waiting] = []
                let condition = isNamed ? RelationStatements.isNamed : RelationStatements.isIdentified
                try task.store.forEachRow(
                    "SELECT \(list.joined(separator: ", ")) FROM _import_link WHERE relationship = $1 AND \(condition)",
                    [.text(tables.name(of: relationship))],
                    connection
                ) { row in
                    let values = try types.indices.map { StoredValue(try types[$0].value(row, $0)) }
                    waiting.append(
                        SerialStore.Waiting(
                            relationship: tables.name(of: relationship),
                            source: Array(values.prefix(source.count)),
                            target: Array(values.dropFirst(source.count)),
                            isNamed: isNamed,
                            position: try row.integer(values.count)
                        )
                    )
                    if waiting.count >= Self.page {
                        try store.load(waiting: waiting)
                        waiting.removeAll(keepingCapacity: true)
                    }
                }
                try store.load(waiting: waiting)
            }
        }
        for table in layout.tables {
            guard let key = try stubKey(of: table) else { continue }
            let types = key.map { ReadType(catalogName: $0.type.catalogName) }
            let stubs = try connection.execute(
                "SELECT \(parts("key", key).joined(separator: ", ")) FROM _import_stub WHERE table_name = $1",
                [.text(table.name)]
            ).map { row in try types.indices.map { StoredValue(try types[$0].value(row, $0)) } }
            try store.load(stubs: stubs, of: table)
        }
    }

    /// The columns by which rows are known that are there for references alone; nil where there are none such.
    private func stubKey(of table: TableDescription) throws -> [ServerColumn]? {
        guard !table.isJoin, let home = tables.homes.first(where: { layout.table(of: $0) == table.name }) else {
            return nil
        }
        let key = tables.key(of: home)
        return key.isEmpty ? nil : key
    }

    private static let page = 500

    /// What waits is what the SQLite store says, in the server's own form of JSON.
    private func writeWaiting(from store: SerialStore) throws {
        let names = layout.relationships.indices.map { tables.name(of: $0) }
        _ = try connection.execute(
            """
            CREATE TEMPORARY TABLE _import_serial_link (
                relationship text, source json, target json, is_named boolean, position bigint
            ) ON COMMIT DROP
            """
        )
        var parameters: [ServerValue] = []
        func flush() throws {
            try insert(into: "_import_serial_link", &parameters, width: 5)
        }
        try store.forEachWaiting { row in
            parameters += [
                .text(row.relationship), .text(Self.json(row.source)), .text(Self.json(row.target)),
                .boolean(row.isNamed), .integer(row.position),
            ]
            if parameters.count >= Self.page * 5 { try flush() }
        }
        try flush()
        for (relationship, name) in names.enumerated() {
            for table in ["_import_link", "_import_unresolved"] {
                _ = try connection.execute("DELETE FROM \(table) WHERE relationship = $1", [.text(name)])
            }
            let (source, target, named) = keys(of: relationship)
            for (isNamed, other) in [(false, target), (true, named)] where !other.isEmpty {
                let key = "json_build_array(\(parts("target", other).joined(separator: ", ")))"
                _ = try connection.execute(
                    """
                    INSERT INTO _import_link (relationship, source, target, position)
                    SELECT relationship, json_build_array(\(parts("source", source).joined(separator: ", "))),
                        \(isNamed ? "json_build_object('by', \(key))" : key), position
                    FROM _import_serial_link WHERE relationship = $1 AND is_named = $2
                    """,
                    [.text(name), .boolean(isNamed)]
                )
            }
        }
        for table in layout.tables {
            guard let key = try stubKey(of: table) else { continue }
            _ = try connection.execute("DELETE FROM _import_stub WHERE table_name = $1", [.text(table.name)])
            _ = try connection.execute(
                "CREATE TEMPORARY TABLE _import_serial_stub (key json) ON COMMIT DROP"
            )
            try store.forEachStub(of: table) { values in
                parameters.append(.text(Self.json(values)))
                if parameters.count >= Self.page { try insert(into: "_import_serial_stub", &parameters, width: 1) }
            }
            try insert(into: "_import_serial_stub", &parameters, width: 1)
            _ = try connection.execute(
                """
                INSERT INTO _import_stub (table_name, key)
                SELECT $1, json_build_array(\(parts("key", key).joined(separator: ", "))) FROM _import_serial_stub
                """,
                [.text(table.name)]
            )
            _ = try connection.execute("DROP TABLE _import_serial_stub")
        }
        for (relationship, count) in try store.unresolved() where count > 0 {
            _ = try connection.execute(
                "INSERT INTO _import_unresolved (job, relationship, count) VALUES ($1, $2, $3)",
                [.integer(job), .text(relationship), .integer(count)]
            )
        }
    }

    private func insert(into table: String, _ parameters: inout [ServerValue], width: Int) throws {
        guard !parameters.isEmpty else { return }
        let rows = stride(from: 1, to: parameters.count + 1, by: width).map { first in
            "(\((first..<first + width).map { "$\($0)" }.joined(separator: ", ")))"
        }
        _ = try connection.execute("INSERT INTO \(table) VALUES \(rows.joined(separator: ", "))", parameters)
        parameters.removeAll(keepingCapacity: true)
    }

    /// Values as JSON from which the server reads each in its column's type.
    private static func json(_ values: [StoredValue]) -> String {
        let texts = values.map { value in
            switch value {
            case .null: "null"
            case .integer(let number): "\(number)"
            case .real(let number): "\(number)"
            case .text(let text): JSONValue.string(text).serialized()
            case .textBytes(let bytes): JSONValue.string(String(decoding: bytes, as: UTF8.self)).serialized()
            case .blob(let bytes):
                "\"\\\\x" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "\""
            }
        }
        return "[\(texts.joined(separator: ", "))]"
    }

    // MARK: Records

    /// Passes over records of a retry whose rejects are not open any more.
    private func forgetClosed(_ retries: RetryTable) throws {
        _ = try connection.execute("CREATE TEMPORARY TABLE _import_serial_closed (ordinal bigint) ON COMMIT DROP")
        _ = try retries.holdAll(closed: "_import_serial_closed", connection)
    }

    private func take(
        into store: SerialStore,
        without refused: [Int64: ImportModel.RecordError],
        upTo last: Int64?,
        _ retries: RetryTable?
    ) throws {
        let chunks = ChunkTable(job: job)
        let limits = SplitLimits(task.job.options)
        try store.take(isRetry: retries != nil, upTo: last) { take in
            var number = 0
            while let entry = try chunks.entry(after: number, connection, label: label),
                entry.firstOrdinal <= last ?? .max
            {
                number = entry.number
                let chunk = SealedChunk(
                    entry,
                    in: task.directory,
                    shape: task.job.sources[entry.source].shape,
                    maxRecordBytes: limits.maxRecordBytes
                )
                try take(
                    SerialStore.Chunk(
                        chunk,
                        retries?.records(of: entry, connection),
                        refused: self.refused(in: entry, and: refused)
                    )
                )
            }
        }
    }

    /// Records that a server cannot have, whatever the objects are, and those whose rows a table has refused; in order.
    private func refused(
        in entry: ChunkEntry,
        and more: [Int64: ImportModel.RecordError]
    ) throws -> [SerialStore.Refusal] {
        let codes: [CoercionError.Code] = [
            .nulCharacter, .rowTooLarge, .identifierTooLong, .constraintViolation, .outOfRange,
        ]
        let known = try connection.execute(
            "SELECT ordinal, errors FROM _import_reject WHERE job = $1 AND chunk = $2",
            [.integer(job), .integer(Int64(entry.number))]
        ).compactMap { row -> SerialStore.Refusal? in
            let errors = try StoredJSON.decode([ImportModel.RecordError].self, row.text(1))
            guard errors.contains(where: { codes.contains($0.code) }) else { return nil }
            return SerialStore.Refusal(try row.integer(0), errors, isOfRecord: false)
        }
        let own = more.filter { entry.ordinals.contains($0.key) }
            .map { SerialStore.Refusal($0.key, [$0.value], isOfRecord: true) }
        return (known + own).sorted { $0.ordinal < $1.ordinal }
    }

    // MARK: What it comes to

    /// The places of a table's changes on the server, beside the values.
    private static let numbers = ["_change", "_row"]

    private func writeBack(_ table: TableDescription, from store: SerialStore) throws {
        let columns = try columns(of: table)
        let key = store.keyPlaces(of: table)
        let mask = ServerColumn(
            name: "_mask",
            type: .bytea,
            attribute: AttributeDescription(name: "_mask", type: .binary, from: [])
        )
        let staged = StagedRelations.Table(name: "_import_serial_row", numbers: Self.numbers, columns: columns + [mask])
        let types = staged.columns.enumerated().map { "c\($0) \($1.type.declaration)" }
        let list = staged.numbers.map { "\($0) bigint" } + types
        _ = try connection.execute(
            "CREATE TEMPORARY TABLE _import_serial_row (\(list.joined(separator: ", "))) ON COMMIT DROP"
        )
        var rows = try staged.rows(task.job.options)
        var counts: [SerialStore.Change: Int64] = [:]
        func flush() throws {
            guard rows.count > 0 else { return }
            _ = try connection.copy(rows.statement) { try rows.write(to: &$0) }
            rows.begin()
        }
        try store.forEachChange(of: table, identity: identity(of: table)) { change, row, changed, values in
            counts[change, default: 0] += 1
            // What a table has is not written again: others may have put something there that no record could say.
            let written = values.indices.map { change == .new || changed[$0] || key.contains($0) ? values[$0] : .null }
            try append(change, row, changed, written, to: &rows, table)
            if rows.byteCount >= 4 << 20 { try flush() }
        }
        try flush()
        if !counts.isEmpty { try apply(table, columns, key, counts) }
        _ = try connection.execute("DROP TABLE _import_serial_row")
    }

    private func append(
        _ change: SerialStore.Change,
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
                Source(chunk: nil, own: $0.baseAddress),
                isKey: false
            )
        }
        guard fault == nil else {
            throw ImportError(
                .storeFailed,
                at: label,
                "the table \(table.name) cannot have a value that a record says: as U+0000 in a text",
                advice: "Nothing of the import is in the tables. Restart with \(.restart) and without that record."
            )
        }
    }

    private func apply(
        _ table: TableDescription,
        _ columns: [ServerColumn],
        _ key: [Int],
        _ counts: [SerialStore.Change: Int64]
    ) throws {
        let name = ServerTables.quoted(table.name)
        let isSame =
            key.isEmpty
            ? "t.ctid = format('(%s,%s)', s._row >> 16, s._row & 65535)::tid"
            : key.map { "t.\(columns[$0].quoted) = s.c\($0)" }.joined(separator: " AND ")
        let sets = columns.enumerated().map { index, column in
            """
            \(column.quoted) = CASE WHEN get_byte(s.c\(columns.count), \(index)) = 1 THEN s.c\(index) \
            ELSE t.\(column.quoted) END
            """
        }
        let names = columns.map(\.quoted).joined(separator: ", ")
        let values = columns.indices.map { "c\($0)" }.joined(separator: ", ")
        func isChange(_ change: SerialStore.Change) -> String { "_change = \(change.rawValue)" }
        _ = try connection.execute("ANALYZE _import_serial_row")
        let statements: [(SerialStore.Change, String)] = [
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
                    "the table \(table.name) has taken \(affected) of \(wanted) rows: a trigger or a rule keeps others back",
                    advice: "Take it away until this is done: \(call: .resuming(store: label))."
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

    // MARK: Bookkeeping

    /// Adds the rejects that decoding alone did not give.
    private func writeRejects(from store: SerialStore) throws {
        let chunks = ChunkTable(job: job)
        let counts = ServerCounts(job: task.job, plans: model.plans)
        var entry: ChunkEntry?
        var known: Set<Int64> = []
        var tally = ServerCounts.Tally(entities: model.plans.count)
        func write() throws {
            guard let entry, !tally.rejects.isEmpty else { return }
            if task.job.options.onError == .stop { try LateRecords.stop(at: tally.rejects, of: entry, task) }
            let place = try RelationRejects.nextPlace(of: job, in: entry, connection)
            try counts.writeRejects(tally, of: entry, place: place, connection)
            tally = ServerCounts.Tally(entities: model.plans.count)
        }
        try store.forEachReject { reject in
            if entry?.ordinals.contains(reject.ordinal) != true {
                try write()
                let next = try chunks.entry(having: reject.ordinal, connection, label: label)
                entry = next
                known = try Set(
                    connection.execute(
                        "SELECT ordinal FROM _import_reject WHERE job = $1 AND chunk = $2",
                        [.integer(job), .integer(Int64(next.number))]
                    ).map { try $0.integer(0) }
                )
            }
            guard !known.contains(reject.ordinal) else { return }
            guard let entity = model.plans.firstIndex(where: { ExactText($0.entity.name) == ExactText(reject.entity) })
            else { throw ImportError(.fault, at: label, "a reject is of no entity of the model") }
            tally.rejectLate(
                RowBatch.Reject(
                    entity: Int32(entity),
                    ordinal: reject.ordinal,
                    byteOffset: reject.byteOffset,
                    length: reject.length,
                    errors: reject.errors,
                    bytes: reject.record,
                    key: reject.key
                )
            )
        }
        try write()
    }

    /// Brings counts and ledger to what the SQLite store has counted.
    private func writeCounts(from store: SerialStore) throws {
        let before = try ServerCounts.totals(of: task.job, connection)
        for (position, now) in try store.totals().enumerated() {
            let pairs = zip(Self.counts(of: now), Self.counts(of: before[position])).map { ($0.0, $0.1 - $1.1) }
            guard pairs.contains(where: { $0.1 != 0 }) else { continue }
            let names = pairs.map(\.0)
            let places = names.indices.map { "$\($0 + 4)" }
            _ = try connection.execute(
                """
                INSERT INTO _import_count (job, chunk, position, \(names.joined(separator: ", ")))
                VALUES ($1, $2, $3, \(places.joined(separator: ", ")))
                """,
                [.integer(job), .integer(RelationSteps.chunk), .integer(Int64(position))]
                    + pairs.map { .integer($0.1) }
            )
        }
        for (entity, attribute, kind, count) in try store.ledger() {
            _ = try connection.execute(
                """
                INSERT INTO _import_ledger (job, chunk, entity, attribute, kind, count)
                SELECT $1, $2, $3, $4, $5, $6 - known.count FROM (
                    SELECT coalesce(sum(count), 0)::bigint AS count FROM _import_ledger
                    WHERE job = $1 AND entity = $3 AND attribute = $4 AND kind = $5
                ) AS known WHERE known.count < $6::bigint
                """,
                [
                    .integer(job), .integer(RelationSteps.chunk), .bookkeeping(entity), .bookkeeping(attribute),
                    .text(kind.rawValue), .integer(count),
                ]
            )
        }
    }

    /// The columns of `_import_count` with what totals have of each.
    private static func counts(of totals: EntityTotals) -> [(String, Int64)] {
        [
            ("records_read", totals.recordsRead), ("inserted", totals.inserted), ("updated", totals.updated),
            ("unchanged", totals.unchanged), ("ignored", totals.ignored), ("rejected", totals.rejected),
            ("nested", totals.nested.nested), ("nested_inserted", totals.nested.inserted),
            ("nested_updated", totals.nested.updated), ("nested_unchanged", totals.nested.unchanged),
            ("linked", totals.nested.linked), ("stubs", totals.nested.stubs), ("deleted", totals.nested.deleted),
        ]
    }
}

extension StoredValue {
    fileprivate init(_ value: Record.Value) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let text): .text(text)
            case .blob(let bytes): .blob(bytes)
            }
    }
}
