import Foundation
import GRDB
import ImportEngine
import ImportModel

extension StoreInspection {
    /// A summary of a job: its kind, state and counts.
    public struct JobSummary: Sendable, Hashable, Codable {
        /// The job's number in the store, from 1.
        public let job: Int64
        /// Its state.
        public let state: ImportReport.State
        /// True if the job is a retry of rejects.
        public let isRetry: Bool
        /// The kind of change; nil if the job imports records.
        public let change: Change?
        /// The job that this job undoes; nil if it is not an undo.
        public let undoes: Int64?
        /// The job that has undone this job; nil if there is none, or it is undone itself.
        public var undoneBy: Int64?
        /// The sources, as passed to the import.
        public let sources: [String]
        /// The time of its start, in ISO 8601 and UTC.
        public let started: String
        /// The time of its end, in ISO 8601 and UTC; nil while it is not finished.
        public let finished: String?
        /// The number of records read, including rejects.
        public let recordsRead: Int64
        /// The number of records that became new objects.
        public let inserted: Int64
        /// The number of records that changed an object.
        public let updated: Int64
        /// The number of changes that have deleted an object; nil if the job imports records.
        public let deleted: Int64?
        /// The number of records whose object had all their values already.
        public let unchanged: Int64
        /// The number of records left out, as their object existed already.
        public let ignored: Int64
        /// The number of rejected records.
        public let rejected: Int64
        /// The number of rejects that were repaired since; of a retry, those that it has repaired.
        public let repaired: Int64

        /// The kinds of jobs that change stored objects.
        public enum Change: String, Sendable, Hashable, Codable, CaseIterable {
            /// The job applies a change set.
            case patch
            /// The job undoes another job.
            case undo
        }

        package enum CodingKeys: String, CodingKey {
            case job, state, change, undoes, deleted
            case isRetry = "retry"
            case undoneBy = "undone_by"
            case sources, started, finished
            case recordsRead = "records_read"
            case inserted, updated, unchanged, ignored, rejected, repaired
        }
    }

    /// Jobs of the store, in the order in which they were started.
    ///
    /// - Parameter limit: how many of the newest; nil for all.
    /// - Throws: `ImportError` as `status` does.
    public func jobs(newest limit: Int? = nil) throws -> [JobSummary] {
        try read { database in
            let jobs = try StoredJob.newest(limit ?? .max, database)
            guard !jobs.isEmpty else { throw noImport }
            return try jobs.reversed().map { try summary(of: $0, database) }
        }
    }

    /// How many jobs the store has.
    ///
    /// - Throws: `ImportError` as `status` does.
    public func jobCount() throws -> Int {
        try read { Int(try $0.count("_import_job", where: "1")) }
    }

    package func summary(of job: StoredJob, _ database: Database) throws -> JobSummary {
        let times =
            try BookkeepingRow.first(database, "started, finished", from: "_import_job", "WHERE id = ?", [job.id])
        let counts = try counts(of: job, database)
        return JobSummary(
            job: job.id,
            state: state(of: job),
            isRetry: job.retry != nil,
            change: job.change.flatMap { JobSummary.Change(rawValue: $0.kind.rawValue) },
            undoes: job.change?.undoes,
            undoneBy: try undo(of: job, database),
            sources: job.sources.map(\.description.name),
            started: try times?.text("started") ?? "",
            finished: try times?.optionalText("finished"),
            recordsRead: counts.recordsRead,
            inserted: counts.inserted,
            updated: counts.updated,
            deleted: try deleted(by: job, database),
            unchanged: counts.unchanged,
            ignored: counts.ignored,
            rejected: counts.rejected,
            repaired: try repaired(by: job, database)
        )
    }

    /// The job that has undone a job; nil where none has.
    package func undo(of job: StoredJob, _ database: Database) throws -> Int64? {
        guard let undo = try StoredJob.undo(of: job.id, database), try StoredJob.isFinished(undo, database) else {
            return nil
        }
        return undo
    }

    /// The counts of all entities of a job.
    private func counts(of job: StoredJob, _ database: Database) throws -> ImportReport.Counts {
        var total = ImportReport.Counts()
        for row in try BookkeepingRow.all(database, from: "_import_entity", of: job.id) {
            total.add(try ImportReport.Counts(row))
        }
        return total
    }

    /// A job's state; one that is called running without an importer at work was interrupted.
    package func state(of job: StoredJob) -> ImportReport.State {
        job.state == .running && !isLocked ? .interrupted : job.state
    }
}

extension StoreInspection.JobSummary {
    /// What a report says of a job, and when that was.
    package init(_ report: ImportReport, isRetry: Bool, started: String, finished: String?) {
        self.init(
            job: report.job,
            state: report.state,
            isRetry: isRetry,
            change: nil,
            undoes: nil,
            sources: report.sources,
            started: started,
            finished: finished,
            recordsRead: report.recordsRead,
            inserted: report.inserted,
            updated: report.updated,
            deleted: nil,
            unchanged: report.unchanged,
            ignored: report.ignored,
            rejected: report.rejected,
            repaired: report.repaired
        )
    }
}
