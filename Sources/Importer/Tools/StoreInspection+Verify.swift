import GRDB
import ImportEngine
import ImportModel

extension StoreInspection {
    /// A check of `verify`.
    public struct Check: Sendable, Hashable, Codable {
        /// The subject, such as `job 1`; nil for the whole store.
        public let subject: String?
        /// The rule that must hold.
        public let rule: String
        /// True if the rule holds.
        public let holds: Bool
        /// The compared figures.
        public let detail: String

        /// The rule with its subject.
        public var name: String { subject.map { "\($0): \(rule)" } ?? rule }

        package init(_ rule: String, of subject: String? = nil, holds: Bool, detail: String) {
            self.subject = subject
            self.rule = rule
            self.holds = holds
            self.detail = detail
        }
    }

    /// Verifies from the store alone that every record is accounted for.
    ///
    /// - Returns: the checks, those of the store first, then each job's.
    /// - Throws: `ImportError` as `status` does.
    public func verify() throws -> [Check] {
        try read { database in
            let jobs = try StoredJob.all(database)
            guard !jobs.isEmpty else {
                throw noImport
            }
            var checks = [try databaseCheck(database)]
            for job in jobs { checks += try self.checks(of: job, database) }
            return try checks + retryChecks(of: jobs, database)
        }
    }

    private func databaseCheck(_ database: Database) throws -> Check {
        let answer = try soundness(database)
        return Check("the database is sound", holds: answer == "ok", detail: answer)
    }

    /// What SQLite finds first that is wrong with the database; `ok` if nothing is.
    private func soundness(_ database: Database) throws -> String {
        let answer = try String.fetchAll(database, sql: "PRAGMA quick_check(1)").joined(separator: "; ")
        let isNull = { (text: String) in text.hasPrefix("NULL value in") }
        guard isNull(answer) else { return answer }
        // SQLite 3.40 finds nulls in tables WITHOUT ROWID where there are none.
        let tables = try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        for table in tables {
            let hasRowID = try StoredTable(table, database).hasRowID
            let found = try String.fetchAll(database, sql: "PRAGMA quick_check(\(table.quotedIdentifier))")
            if let fault = found.first(where: { $0 != "ok" && (hasRowID || !isNull($0)) }) { return fault }
        }
        return "ok"
    }

    private func checks(of job: StoredJob, _ database: Database) throws -> [Check] {
        let report = try report(of: job, database)
        let marker = try Marker(database, job: job.id) ?? Marker()
        var checks: [Check] = []
        func check(_ name: String, _ holds: Bool, _ detail: String) {
            checks.append(Check(name, of: "job \(job.id)", holds: holds, detail: detail))
        }
        var outcomes = [
            ("inserted", report.inserted), ("updated", report.updated), ("unchanged", report.unchanged),
            ("ignored", report.ignored), ("rejected", report.rejected),
        ]
        if job.change != nil, let deleted = report.deleted { outcomes.insert(("deleted", deleted), at: 2) }
        check(
            "read = " + outcomes.map(\.0).joined(separator: " + "),
            report.recordsRead == outcomes.reduce(Int64(0)) { $0.addingClamped($1.1) },
            "\(report.recordsRead) = " + outcomes.map { "\($0.1)" }.joined(separator: " + ")
        )
        // Changes that wait for others are counted with them.
        let waiting = try waitingChanges(of: job, database)
        let read = report.recordsRead.addingClamped(waiting)
        check(
            "the marker counts every record read",
            marker.recordOrdinal == read,
            "\(marker.recordOrdinal) and \(read)"
        )
        let rejects = try database.count("_import_reject", where: "job = \(job.id)")
        check("every reject is kept", rejects == report.rejected, "\(rejects) and \(report.rejected)")
        let (grouped, single) = try errors(of: job, database)
        check("the groups count every error", grouped == single, "\(grouped) and \(single)")
        let (records, fault) = try chunkChain(job, database)
        check(
            "the chunks follow each other without a gap up to the marker",
            fault == nil,
            fault ?? "\(report.chunksDone) \(report.chunksDone == 1 ? "chunk" : "chunks"), \(marker.bytes) bytes"
        )
        check(
            "the chunks hold every record read",
            records == read,
            "\(records) and \(read)"
        )
        if job.state == .finished, !job.isEnded {
            check(
                "every source was read to its end",
                marker.source == job.sources.count,
                "\(marker.source) of \(job.sources.count)"
            )
        }
        return try checks + relationshipChecks(of: job, report, database)
    }

    /// How many changes of a patch wait for others.
    private func waitingChanges(of job: StoredJob, _ database: Database) throws -> Int64 {
        guard job.change != nil else { return 0 }
        return try database.count("_import_waiting_change", where: "job = \(job.id)")
    }

    /// A job's errors as its groups count them, and as its rejects and values that are null instead have them.
    private func errors(of job: StoredJob, _ database: Database) throws -> (grouped: Int64, single: Int64) {
        func sum(_ column: String, of table: String, where condition: String = "1") throws -> Int64 {
            guard try database.hasTable(table) else { return 0 }
            let sql = "SELECT coalesce(sum(\(column)), 0) FROM \(table) WHERE job = \(job.id) AND \(condition)"
            return try Int64.fetchOne(database, sql: sql) ?? 0
        }
        let single = try sum("json_array_length(errors)", of: "_import_reject")
            .addingClamped(
                sum("count", of: "_import_ledger", where: "kind = '\(LedgerKind.nulled.rawValue)' AND NOT is_error")
            )
        return (try sum("count", of: ErrorGroupTable.name, where: "is_error"), single)
    }

    /// The records of a job's chunks, and what is wrong with their chain.
    private func chunkChain(_ job: StoredJob, _ database: Database) throws -> (records: Int64, fault: String?) {
        let chunks = try BookkeepingRow.fetchAll(
            database,
            from: "_import_chunk",
            sql: """
                SELECT source, first_byte, max(end_byte) AS end_byte, min(is_complete) AS is_complete,
                    min(first_ordinal) AS first_ordinal, sum(records) AS records
                FROM _import_chunk WHERE job = ? GROUP BY source, first_byte ORDER BY source, first_byte
                """,
            arguments: [job.id]
        )
        var source = 0
        var end: Int64?
        var fault: String?
        // Of a source that is followed, records of others may be between those of two chunks.
        var numbers: [(first: Int64, records: Int64, chunk: String)] = []
        for (index, row) in chunks.enumerated() {
            if try row.index("source") != source {
                source = try row.index("source")
                end = nil
            }
            let firstByte = try row.number("first_byte")
            if let end, end != firstByte {
                fault = fault ?? "source \(source): a chunk ends at \(end) and the next begins at \(firstByte)"
            }
            numbers.append(
                (
                    try row.number("first_ordinal"), try row.number("records"),
                    "source \(source): the chunk at \(firstByte)"
                )
            )
            if try !row.flag("is_complete"), index < chunks.count - 1 {
                fault = fault ?? "source \(source): the chunk at \(firstByte) is not complete"
            }
            end = try row.number("end_byte")
        }
        var records: Int64 = 0
        for (first, count, chunk) in numbers.sorted(by: { ($0.first, $0.records) < ($1.first, $1.records) }) {
            let next = records.addingClamped(1)
            if first != next { fault = fault ?? "\(chunk) does not begin with record \(next)" }
            records = records.addingClamped(count)
        }
        return (records, fault)
    }
}
