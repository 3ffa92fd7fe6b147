import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The lines of a repair file and the rejects that they repair, read before anything is begun.
///
/// It is kept in a temporary database, which is as large as it must be; memory stays as it is.
package final class RepairFilePlan: RetryPlan {
    package let jobs: [Int64]
    private let database: DatabaseQueue

    /// So many faulty lines are named.
    private static let namedProblems = 20
    /// A line may be so much longer than its record, for what else is in it.
    private static let mostBesidesRecord = 16 << 20

    /// Reads the lines of a repair file.
    ///
    /// - Parameters:
    ///   - name: the file's, for messages.
    ///   - lines: calls its argument with the file's bytes, in any portions.
    /// - Throws: `ImportError` with `.badInput` that names the first lines that cannot be retried, and what `lines` throws.
    package init(
        _ name: String,
        _ rejects: some RejectLookup,
        maxRecordBytes: Int,
        _ lines: (_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Void
    ) throws {
        database = try DatabaseQueue(path: "")
        var scan = Scan(maxLineBytes: maxRecordBytes + Self.mostBesidesRecord)
        try database.inDatabase { plan in
            // Nobody else reads it, and it goes with this object.
            try plan.execute(
                sql: """
                    PRAGMA synchronous = OFF;
                    CREATE TABLE line (
                        ordinal INTEGER PRIMARY KEY,
                        number INTEGER NOT NULL,
                        reject INTEGER NOT NULL UNIQUE,
                        entity TEXT NOT NULL,
                        is_text INTEGER NOT NULL,
                        record_key TEXT
                    ) STRICT
                    """
            )
            try plan.inTransaction {
                try lines { try scan.read($0, plan, rejects) }
                try scan.end(plan, rejects)
                return .commit
            }
        }
        jobs = scan.jobs.sorted()
        guard scan.problemCount == 0 else {
            let more = scan.problemCount - scan.problems.count
            throw ImportError(
                .repairFileInvalid,
                at: name,
                "\(scan.problemCount == 1 ? "1 line" : "\(scan.problemCount.grouped) lines") cannot be retried; "
                    + "nothing was imported",
                advice: "\((scan.problems + (more > 0 ? ["… and \(more) more"] : [])).joined(separator: "\n"))"
            )
        }
    }

    deinit { try? database.retire() }

    package func entities() throws -> [String] {
        try database.read { try String.fetchAll($0, sql: "SELECT DISTINCT entity FROM line ORDER BY entity") }
    }

    package func forEachLine(after ordinal: Int64, _ body: (RetriedLine) throws -> Void) throws {
        try database.read { plan in
            let rows = try Row.fetchCursor(
                plan,
                sql: "SELECT * FROM line WHERE ordinal > ? ORDER BY ordinal",
                arguments: [ordinal]
            )
            while let row = try rows.next() {
                try body(
                    RetriedLine(
                        ordinal: row["ordinal"],
                        reject: row["reject"],
                        entity: row["entity"],
                        isText: row["is_text"],
                        key: row["record_key"]
                    )
                )
            }
        }
    }

    // MARK: Reading

    private struct Scan {
        let maxLineBytes: Int
        var jobs: Set<Int64> = []
        var ordinal: Int64 = 0
        var problems: [String] = []
        var problemCount = 0
        var number: Int64 = 0
        /// The line that is read, as far as it has come.
        var line: [UInt8] = []
        let reader = RepairLine.makeReader()

        /// Reads the next bytes.
        mutating func read(_ bytes: ArraySlice<UInt8>, _ plan: Database, _ rejects: some RejectLookup) throws {
            var rest = bytes
            while !rest.isEmpty {
                let end = rest.firstIndex(of: 0x0A)
                line += rest[..<(end ?? rest.endIndex)]
                guard line.count <= maxLineBytes else {
                    throw ImportError(
                        .repairFileInvalid,
                        position: ImportError.Position(line: Int64(number) + 1),
                        "line \(number + 1) is longer than a record may be",
                        advice: "Each line holds one reject, as \(call: .exportingRejects()) writes it."
                    )
                }
                guard let end else { return }
                try takeLine(plan, rejects)
                line.removeAll(keepingCapacity: true)
                rest = rest[(end + 1)...]
            }
        }

        /// Reads a last line that no LF ends.
        mutating func end(_ plan: Database, _ rejects: some RejectLookup) throws {
            if !line.isEmpty { try takeLine(plan, rejects) }
        }

        private mutating func takeLine(_ plan: Database, _ rejects: some RejectLookup) throws {
            number += 1
            guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { return }
            ordinal += 1
            line.append(0x0A)
            do {
                let parsed = try line.withUnsafeBufferPointer { [reader] buffer throws(RepairLine.Problem) in
                    try RepairLine(ByteView(buffer), reader)
                }
                try add(parsed, plan, rejects)
            } catch let problem as RepairLine.Problem {
                problemCount += 1
                if problems.count < RepairFilePlan.namedProblems { problems.append("line \(number) \(problem.text)") }
            }
        }

        private mutating func add(_ line: RepairLine, _ plan: Database, _ rejects: some RejectLookup) throws {
            guard let found = try rejects.reject(line.reject) else {
                throw RepairLine.Problem(text: "names reject \(line.reject), which the store does not have")
            }
            guard line.job ?? found.job == found.job, line.ordinal ?? found.ordinal == found.ordinal else {
                throw RepairLine.Problem(
                    text: "names reject \(line.reject), which is another record in this store "
                        + "(record \(found.ordinal) of job \(found.job))"
                )
            }
            guard found.state != .retried else {
                throw RepairLine.Problem(
                    text: "names reject \(line.reject), which is a retry's own: name the one that was retried"
                )
            }
            let earlier = try Int64.fetchOne(
                plan.cachedStatement(sql: "SELECT number FROM line WHERE reject = ?"),
                arguments: [line.reject]
            )
            if let earlier {
                throw RepairLine.Problem(text: "names reject \(line.reject), as line \(earlier) does")
            }
            jobs.insert(found.job)
            try plan.cachedStatement(
                sql: "INSERT INTO line (ordinal, number, reject, entity, is_text, record_key) VALUES (?, ?, ?, ?, ?, ?)"
            ).execute(arguments: [
                ordinal, number, line.reject, found.entity, try isStillText(line, rejects), line.key,
            ])
        }

        /// True if the record is still the text that was written for what is not JSON.
        ///
        /// As a string it could be taken for a repaired record.
        private func isStillText(_ line: RepairLine, _ rejects: some RejectLookup) throws -> Bool {
            guard let text = line.text else { return false }
            guard let (length, record) = try rejects.record(line.reject) else { return false }
            guard RepairLine.text(of: record).utf8.elementsEqual(text) else { return false }
            return Int64(record.count) < length || !RepairLine.isJSON(record, reader)
        }
    }
}

extension RetryPlan {
    /// Notes in the store which reject each of a job's records repairs.
    ///
    /// - Parameters:
    ///   - job: the retry, which has its model.
    ///   - ordinal: records up to here are settled and stay as they are noted.
    ///   - entities: the names of the job's; those of its model unless given.
    package func insert(
        _ job: StoredJob,
        after ordinal: Int64 = 0,
        entities: [String]? = nil,
        _ store: Database
    ) throws {
        let places = Dictionary(
            (entities ?? job.model?.entities.map(\.name) ?? []).enumerated().map { (BytewiseString($1), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        try store.execute(
            sql: "DELETE FROM _import_retry WHERE job = ? AND ordinal > ?",
            arguments: [job.id, ordinal]
        )
        let statement = try store.makeStatement(
            sql: """
                INSERT INTO _import_retry (job, ordinal, reject, entity, is_text, record_key) VALUES (?, ?, ?, ?, ?, ?)
                """
        )
        try forEachLine(after: ordinal) { line in
            guard let place = places[BytewiseString(line.entity)] else {
                throw ImportError.unknownRetriedEntity(line.entity)
            }
            try statement.execute(arguments: [job.id, line.ordinal, line.reject, place, line.isText, line.key])
        }
    }
}
