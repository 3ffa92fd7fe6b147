import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Does all imports of a store again, to see that it has what its sources have.
struct SourceReplay {
    /// So many rows that differ are described.
    private static let mostDescribed = 10

    let store: String
    let run: RunOptions
    let transformers: TransformerRegistry
    let progress: ImportProgress
    let interruption: Interruption
    let opener: SourceOpener
    /// What an import does with a job that is open.
    let phases: (JobRun, SQLiteDestination) throws -> Void

    func checks() throws -> [StoreInspection.Check] {
        guard FileManager.default.fileExists(atPath: store) else { throw ImportError.noStore(at: store) }
        let destination = SQLiteDestination(store, durability: .off, interruption)
        let (jobs, sources) = try destination.read { journal -> ([StoredJob], StoreInspection.Check) in
            let jobs = try self.jobs(journal)
            return (jobs, try self.sources(of: jobs, journal))
        }
        guard sources.holds else { return [sources] }
        return try TemporaryFolder.with { folder in
            let again = folder + "/store.sqlite"
            for (place, job) in jobs.enumerated() { try replay(job, into: again, folder + "/\(place + 1).chunks") }
            progress.update { $0.phase = .finishing }
            return [sources] + (try compare(with: again))
        }
    }

    // MARK: What is to be done again

    /// The imports that are not undone, in their order.
    private func jobs(_ journal: any JournalReader) throws -> [StoredJob] {
        let all = try journal.jobs()
        guard !all.isEmpty else { throw StoreInspection(store: store).noImport }
        let jobs = all.filter { job in
            !StoredJob.isUndone(job.id, all) && !(job.change?.undoes.map { StoredJob.isUndone($0, all) } ?? false)
        }
        for job in jobs {
            guard let words = Self.reason(job) else { continue }
            throw ImportError(
                .optionsConflict,
                at: store,
                "job \(job.id) \(words), so what the store has cannot be compared with its sources alone",
                advice: "Verify the store alone."
            )
        }
        let theirs = Set(try journal.theirTables().map(\.asciiLowercased))
        if let table = jobs.flatMap(\.tables).first(where: { theirs.contains($0.asciiLowercased) }) {
            throw ImportError(
                .optionsConflict,
                at: store,
                "the table \(table) was there before an import came into it, so its rows cannot be compared with sources alone",
                advice: "Verify the store alone."
            )
        }
        return jobs
    }

    /// Why a job cannot be done again; nil where it can.
    private static func reason(_ job: StoredJob) -> String? {
        if job.state != .finished { return "is not finished" }
        if let change = job.change {
            return change.undoes == nil ? "is a patch or a merge" : "has undone a part of another"
        }
        if job.retry != nil { return "is a retry" }
        if job.takesChunks { return "has imported the chunks of a split" }
        if job.replacesSources { return "has replaced the rows of earlier versions of its sources" }
        return job.sources.allSatisfy(\.description.isRepeatable) ? nil : "has read a stream"
    }

    /// Finds what is imported again of each source, which has to be as it was.
    private func sources(of jobs: [StoredJob], _ journal: any JournalReader) throws -> StoreInspection.Check {
        let check = SourceCheck(opener: opener, interruption: interruption)
        var others: [String] = []
        var count = 0
        for job in jobs {
            for (index, source) in job.sources.enumerated() {
                try interruption.check()
                count += 1
                guard let now = try? opener.describe(again: source.description, interruption: interruption),
                    try SourceCheck.isUntouched(now, since: source.description)
                        || check.compare(now, with: job, source: index, journal) == .same
                else {
                    others.append(source.description.displayName)
                    continue
                }
            }
        }
        let names = others.prefix(5).joined(separator: ", ") + (others.count > 5 ? " and \(others.count - 5) more" : "")
        return StoreInspection.Check(
            "the sources are as they were imported",
            holds: others.isEmpty,
            detail: "\(count - others.count) of \(count)" + (others.isEmpty ? "" : "; gone, grown or changed: \(names)")
        )
    }

    private func replay(_ job: StoredJob, into again: String, _ chunks: String) throws {
        var options = run
        options.chunkDirectory = chunks
        options.indexes = []
        let context = RunContext(
            store: again,
            options: options,
            opener: opener,
            transformers: transformers,
            progress: progress,
            interruption: interruption.child(),
            merges: MergeCenter(),
            textsHaveNUL: nil
        )
        let destination = SQLiteDestination(again, durability: .off, interruption)
        try destination.lock()
        defer { destination.unlock() }
        // A model that was inferred is inferred again.
        let planned = StoredJob(
            options: job.options,
            sources: job.sources,
            model: job.options.model == nil ? nil : job.model,
            chunkDirectory: chunks
        )
        let begun = try StartPhase(context, in: destination).start(.begin(planned, open: [:]))
        _ = try begun.go { try phases($0, destination) }
    }

    // MARK: Comparing

    /// Compares each table that the imports make with the store's.
    private func compare(with again: String) throws -> [StoreInspection.Check] {
        let queue = try StoreConnection.reader(store)
        defer { try? queue.close() }
        return try ImportError.explaining(store) {
            try queue.inDatabase { database in
                try UntrustedStoreGuard.attachingOne(database) {
                    try database.execute(sql: "ATTACH ? AS again", arguments: [again])
                }
                let tables = try String.fetchAll(
                    database,
                    sql: """
                        SELECT name FROM again.sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_import\\_%' ESCAPE '\\'
                            AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
                        """
                )
                return try tables.map { try compare($0, database) }
            }
        }
    }

    private func compare(_ table: String, _ database: Database) throws -> StoreInspection.Check {
        func check(_ holds: Bool, _ detail: String) -> StoreInspection.Check {
            StoreInspection.Check(
                "the rows are what the sources say",
                of: "table \(table)",
                holds: holds,
                detail: detail
            )
        }
        try interruption.check()
        let name = table.quotedIdentifier
        let columns = try Self.columns(of: name, in: "again", database)
        let own = try Self.columns(of: name, in: "main", database)
        guard try StoredTable(table, database).hasRowID else {
            return check(false, "it is WITHOUT ROWID, so that its rows cannot be told apart")
        }
        guard let rowID = ["rowid", "_rowid_", "oid"].first(where: { !columns.contains($0) }), !own.isEmpty else {
            return check(false, own.isEmpty ? "the table is gone" : "its columns hide the row ids")
        }
        if let gone = columns.first(where: { !own.contains($0) }) { return check(false, "the column \(gone) is gone") }
        let (stored, expected) = (Self.list(columns, of: "stored"), Self.list(columns, of: "source"))
        let differs = """
            ((\(stored.values)) IS NOT (\(expected.values)) OR (\(stored.types)) IS NOT (\(expected.types)))
            """
        let both = "main.\(name) AS stored JOIN again.\(name) AS source ON stored.\(rowID) = source.\(rowID)"
        func count(_ sql: String) throws -> Int64 { try Int64.fetchOne(database, sql: sql) ?? 0 }
        let rows = try count("SELECT count(*) FROM again.\(name)")
        let shared = try count("SELECT count(*) FROM \(both)")
        let added = try count("SELECT count(*) FROM main.\(name)") - shared
        let other = try count("SELECT count(*) FROM \(both) WHERE \(differs)")
        guard rows > shared || added > 0 || other > 0 else { return check(true, "\(rows) rows") }
        var counts = ["\(other) of \(rows) rows differ"]
        if rows > shared { counts.append("\(rows - shared) are gone") }
        if added > 0 { counts.append("\(added) more are of no source") }
        var details = [counts.joined(separator: ", ")]
        let found = try Int64.fetchAll(
            database,
            sql: "SELECT stored.\(rowID) FROM \(both) WHERE \(differs) ORDER BY 1 LIMIT \(Self.mostDescribed)"
        )
        // A row by itself: a result has no more columns than a table may have.
        func texts(_ list: String, _ side: String, _ row: Int64) throws -> [String] {
            let sql = "SELECT \(list) FROM \(side) WHERE \(rowID) = ?"
            let found = try Row.fetchOne(database, sql: sql, arguments: [row])
            return columns.indices.map { found?[$0] as String? ?? "" }
        }
        for row in found {
            let one = try texts(stored.texts, "main.\(name) AS stored", row)
            let other = try texts(expected.texts, "again.\(name) AS source", row)
            let parts = columns.indices.filter { one[$0] != other[$0] }.prefix(3).map {
                "\(columns[$0]) is \(Self.shortened(one[$0])), by the source \(Self.shortened(other[$0]))"
            }
            details.append("row \(row): \(parts.joined(separator: ", "))")
        }
        return check(false, details.joined(separator: "; "))
    }

    private static func columns(of name: String, in database: String, _ connection: Database) throws -> [String] {
        // Those that SQLite computes follow from the others.
        try Row.fetchAll(connection, sql: "PRAGMA \(database).table_xinfo(\(name))").filter { $0["hidden"] == 0 }
            .compactMap { $0["name"] }
    }

    /// Lists of a table's columns, of their storage classes, and of their values as SQL texts.
    private static func list(_ columns: [String], of table: String) -> (values: String, types: String, texts: String) {
        let names = columns.map { "\(table).\($0.quotedIdentifier)" }
        return (
            names.map { "\($0) COLLATE BINARY" }.joined(separator: ", "),
            names.map { "typeof(\($0))" }.joined(separator: ", "),
            names.map { "quote(\($0))" }.joined(separator: ", ")
        )
    }

    private static func shortened(_ text: String) -> String {
        text.count > 60 ? "\(text.prefix(60))…" : text
    }
}
