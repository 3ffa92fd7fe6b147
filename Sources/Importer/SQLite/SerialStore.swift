import Foundation
import GRDB
import ImportModel

/// A SQLite store in which the records of a job are taken one after the other, for a store of another kind that cannot do that.
///
/// It is given the rows that are there, then the chunks; what it comes to is written back by whoever has made it. It is in a folder of
/// its own, and of no use once that is done.
///
/// Belongs to one thread.
package final class SerialStore {
    /// A row of what waits for objects, or is there for references alone: the values of keys.
    package struct Waiting: Sendable {
        /// `order.lines`.
        package let relationship: String
        /// The key of the object that has the relationship.
        package let source: [StoredValue]
        /// The key of the object that it leads to, or the values by which that is named.
        package let target: [StoredValue]
        /// Whether the latter.
        package let isNamed: Bool
        /// Its index in the list; -1 for none.
        package let position: Int64

        package init(
            relationship: String,
            source: [StoredValue],
            target: [StoredValue],
            isNamed: Bool,
            position: Int64
        ) {
            self.relationship = relationship
            self.source = source
            self.target = target
            self.isNamed = isNamed
            self.position = position
        }
    }

    /// What has become of a row.
    package enum Change: Int64, Sendable {
        case gone, changed, new
    }

    package let layout: ModelLayout
    private let path: String
    private let model: ModelDescription
    private let options: JobOptions
    private let sources: [StoredJob.Source]
    private let transformers: TransformerRegistry
    private let interruption: Interruption
    private let session: StoreSession
    private var isPrepared = false
    private(set) var job: Int64 = 0

    /// Makes an empty one.
    ///
    /// - Parameters:
    ///   - folder: exists, and has nothing of that name in it.
    ///   - job: whose records are taken; it has a model whose entities relate to one another.
    /// - Throws: `ImportError` where the file cannot be made.
    package init(
        in folder: String,
        of job: StoredJob,
        _ transformers: TransformerRegistry,
        _ interruption: Interruption
    ) throws {
        guard var model = job.model else { throw ImportError(.fault, at: folder, "the job has no model") }
        // Nothing is looked for in it.
        for entity in model.entities.indices { model.entities[entity].indexes = [] }
        self.model = model
        layout = try ModelLayout(importing: model)
        var options = job.options
        options.nul = .error
        self.options = options
        sources = job.sources
        self.transformers = transformers
        self.interruption = interruption
        path = folder + "/serial.sqlite"
        session = try StoreSession(path, file: StoreFile.made(path), keepsWAL: false, durability: .off)
    }

    /// Ends its connection.
    package func close() { try? session.close(leavesWAL: true) }

    // MARK: What is there

    /// Adds the rows of a table.
    ///
    /// - Parameters:
    ///   - table: one of the layout's.
    ///   - feed: calls its argument with each row: its row id, nil where a column is that or there is none, and the values of all
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
                let target = (row.isNamed ? [GraphLinks.mark] : []) + RowKey(row.target).bytes
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

    /// Makes the tables, which are not appended to then.
    private func prepare() throws {
        guard !isPrepared else { return }
        isPrepared = true
        try session.write { database in
            try StoreSchema.prepareBookkeeping(database, store: path)
            _ = try StoreSchema.prepareTables(model, job: 0, database, store: path)
        }
    }

    /// Keeps all rows as they are now: what changes from now on is told.
    ///
    /// - Throws: `ImportError`.
    private func keepRows() throws {
        try inDatabase { database in
            try StoreProtection.attachingOne(database) {
                try database.execute(sql: "ATTACH ? AS kept", arguments: [path + ".kept"])
            }
            // Nobody needs it after a loss of power.
            try database.execute(sql: "PRAGMA kept.journal_mode = OFF; PRAGMA kept.synchronous = OFF")
            for (number, table) in layout.tables.enumerated() {
                // Of the same types: only then keys are found by an index (<https://www.sqlite.org/datatype3.html#affinity>).
                let types = try Dictionary(
                    Row.fetchAll(database, sql: "SELECT name, type FROM pragma_table_info(?)", arguments: [table.name])
                        .map { (($0[0] as String).asciiLowercased, $0[1] as String) }
                ) { first, _ in first }
                let columns = table.columns.enumerated().map { "c\($0) \(types[$1.name.asciiLowercased] ?? "")" }
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

    // MARK: Records

    /// Why a record is a reject whatever the store has.
    package struct Refusal {
        package let ordinal: Int64
        package let errors: [ImportModel.RecordError]
        /// Whether they are about the record itself, and have no place yet.
        package let isOfRecord: Bool

        package init(_ ordinal: Int64, _ errors: [ImportModel.RecordError], isOfRecord: Bool) {
            self.ordinal = ordinal
            self.errors = errors
            self.isOfRecord = isOfRecord
        }
    }

    /// A chunk, and what is known of its records.
    package struct Chunk {
        package let chunk: SealedChunk
        /// What they are, in a retry.
        package let retried: RetriedRecords?
        /// Those that are rejects whatever the store has, in order.
        package let refused: [Refusal]

        package init(
            _ chunk: SealedChunk,
            _ retried: RetriedRecords?,
            refused: [Refusal]
        ) {
            self.chunk = chunk
            self.retried = retried
            self.refused = refused
        }
    }

    /// Takes all records of the job, in order, and settles it.
    ///
    /// - Parameters:
    ///   - isRetry: whether chunks have what their records are.
    ///   - last: the last record that is taken; nothing is settled then. nil for all.
    ///   - forEachChunk: calls its argument with each chunk, in order; it is called once more where records turn out to be rejects that
    ///     others depend on.
    /// - Throws: `ImportError`, also where there are more rejects than the job may have.
    package func take(
        isRetry: Bool,
        upTo last: Int64? = nil,
        _ forEachChunk: (_ take: (Chunk) throws -> Void) throws -> Void
    ) throws {
        try keepRows()
        let planned = StoredJob(
            options: options,
            takesChunks: true,
            sources: sources,
            model: model,
            chunkDirectory: path + ".chunks"
        )
        let begun = try session.begin(
            planned,
            JobBeginning(
                transformers: transformers,
                indexes: StoreIndexes(wanted: []),
                replaced: nil,
                replacedChunks: nil,
                retry: nil,
                makesChunkDirectory: false
            )
        ).job
        job = begun.id
        repeat {
            try takeOnce(begun, isRetry: isRetry, upTo: last ?? .max, forEachChunk)
            if last != nil { return }
        } while try session.takeBackUnresolved(begun, interruption) != nil
        _ = try session.settle(begun, SourceOpener(), interruption)
    }

    private func takeOnce(
        _ job: StoredJob,
        isRetry: Bool,
        upTo last: Int64,
        _ forEachChunk: (_ take: (Chunk) throws -> Void) throws -> Void
    ) throws {
        let writers = try StoreWriters(session, job, model, durability: .off, started: .now, interruption)
        defer { try? writers.close() }
        let graph = try GraphPlan(model, onConflict: options.onConflict, transformers: transformers)
        let writer = try writers.writer(graph.plans, graph, writers.progress)
        defer { try? writer.close() }
        let decoder = ChunkDecoder<RowImage>(
            plans: sources.map { source in
                isRetry
                    ? graph.plans : source.entities.compactMap { name in graph.plans.first { $0.entity.name == name } }
            },
            entities: graph.plans.count,
            graph: graph,
            layouts: nil,
            options: options
        )
        var progress = writers.progress
        try forEachChunk { chunk in
            do {
                try take(chunk, upTo: last, decoder, writer, graph.plans, &progress)
            } catch let excess as RejectLimit.Excess {
                throw excess.error(in: sources[chunk.chunk.entry.source].description.name)
            }
        }
    }

    private func take(
        _ chunk: Chunk,
        upTo last: Int64,
        _ decoder: ChunkDecoder<RowImage>,
        _ writer: StoreWriter,
        _ plans: [EntityPlan],
        _ progress: inout JobProgress
    ) throws {
        let entry = chunk.chunk.entry
        let source = sources[entry.source].description.name
        try decoder.open(chunk.chunk, skipping: .none, source: source, retried: chunk.retried)
        var refused = chunk.refused[...]
        var batch = DecodedBatch<RowImage>()
        repeat {
            try interruption.check()
            let next = entry.firstOrdinal + Int64(entry.records - decoder.recordsLeft)
            guard next <= last else { return }
            // What is refused is a batch of its own.
            let isRefused = refused.first?.ordinal == next
            let end = isRefused ? next + 1 : min(refused.first?.ordinal ?? .max, last == .max ? last : last + 1)
            decoder.decode(upTo: Int(min(end - next, 8_192)), into: &batch)
            if isRefused, let first = refused.popFirst() {
                batch.rows.refuse(LateRejects(plans: plans, chunkBytes: decoder.bytes), first)
            }
            _ = try writer.commit(
                batch,
                of: chunk.chunk,
                chunkBytes: decoder.bytes,
                progress: &progress,
                isSynced: false
            )
        } while !decoder.isExhausted
    }

    // MARK: What it comes to

    /// What was counted, by entity.
    package func totals() throws -> [EntityTotals] { try read { try EntityTotals.all(of: job, $0) } }

    /// What was changed or lost: entity, attribute or relationship, kind and count.
    package func ledger() throws -> [(entity: String, attribute: String, kind: LedgerKind, count: Int64)] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT entity, attribute, kind, count FROM _import_ledger WHERE job = ?",
                arguments: [job]
            ).compactMap { row in
                LedgerKind(rawValue: row[2]).map { (row[0], row[1], $0, row[3]) }
            }
        }
    }

    /// How many references of each relationship lead to nothing.
    package func unresolved() throws -> [(relationship: String, count: Int64)] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT relationship, count FROM _import_unresolved WHERE job = ?",
                arguments: [job]
            ).map { ($0[0], $0[1]) }
        }
    }

    /// Calls `body` with each reject, in order.
    package func forEachReject(_ body: (StoreInspection.Reject) throws -> Void) throws {
        try StoreInspection(store: path).forEachReject(RejectSelection(job: job), body)
    }

    /// Calls `body` with what waits for objects.
    package func forEachWaiting(_ body: (Waiting) throws -> Void) throws {
        try read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT relationship, source, target, position FROM _import_link
                    ORDER BY relationship, target, source
                    """
            )
            while let row = try rows.next() {
                let (source, target): (Data, Data) = (row[1], row[2])
                let isNamed = target.first == GraphLinks.mark
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
        try read { database in
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
                    let values = own.indices.map { CoercedJSON(row[$0 + 1] as DatabaseValue) }
                    let mask = tellsDifferences ? own.indices.map { row[$0 + 1 + own.count] as Bool } : none
                    try body(change, row[0], mask, values)
                }
            }
        }
    }

    // MARK: Its connection

    private func inDatabase(_ body: (Database) throws -> Void) throws {
        do {
            try session.database.inDatabase(body)
        } catch let error as DatabaseError {
            throw ImportError(store: path, error)
        }
    }

    private func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            return try session.database.inDatabase(body)
        } catch let error as DatabaseError {
            throw ImportError(store: path, error)
        }
    }
}

extension RowBatch {
    /// Makes a reject of the one record that it has, unless it is one already.
    fileprivate mutating func refuse(_ late: LateRejects, _ refusal: SerialStore.Refusal) {
        guard let record = graph.records.first, let place = places.first else { return }
        let row = rows[record.row]
        let errors = refusal.errors.map { error in
            guard refusal.isOfRecord else { return error }
            return RecordError(
                entity: error.entity.isEmpty ? late.plans[Int(row.entity)].entity.name : error.entity,
                keyPath: error.keyPath,
                code: error.code,
                expected: error.expected,
                found: error.found,
                byteOffset: place.byteOffset
            )
        }
        reject(late.reject(row, place, errors))
        for entity in graph.repeated.indices { graph.repeated[entity] = 0 }
        graph.records = []
        graph.statements = []
        rows = []
        places = []
    }
}
