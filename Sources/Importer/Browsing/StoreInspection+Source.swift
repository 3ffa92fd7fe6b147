import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

extension StoreInspection {
    /// A source of a job: a file, a member of an archive, or a stream.
    public struct Source: Sendable, Hashable {
        /// How much of a source is imported.
        public enum State: String, Sendable, Hashable {
            /// No record of it is committed.
            case waiting
            /// Some of its records are committed.
            case partial
            /// All of it is committed.
            case done
            /// It was read up to a fault (``BadSourcePolicy/skip``).
            case bad
            /// What it has brought was taken back (`undo`).
            case undone
        }

        /// The source, as given.
        public let source: String
        /// The job's number in the store.
        public let job: Int64
        /// How much of it is imported.
        public package(set) var state: State
        /// The file's size in bytes, compressed if it is; nil for a stream.
        public let size: Int64?
        /// When the file was changed last; nil for a stream.
        public let modified: Date?
        /// The number of committed records, rejects included.
        public let records: Int64
        /// The record paths.
        public let recordPaths: [String]
        /// The entity of each record path.
        public let entities: [String]
        /// The values outside of the records that are stored with it, by their paths without `$.`; nil if they were not asked for.
        ///
        /// A path with a wildcard has an array of values. At most 1 MiB of a source is stored.
        public var outside: JSONValue?

        package init(_ source: StoredJob.Source, job: Int64, _ state: State, records: Int64) {
            let description = source.description
            self.source = description.displayName
            self.job = job
            self.state = state
            size = description.size
            modified = description.modified.map { Date(timeIntervalSince1970: Double($0) / 1e9) }
            self.records = records
            recordPaths = source.shape.paths
            entities = source.entities
        }
    }

    /// Calls `body` with each source of the store's jobs, in the order of the jobs.
    ///
    /// - Parameters:
    ///   - job: the job's number in the store; nil for all jobs.
    ///   - includesOutside: whether the values outside of the records are read.
    ///   - body: called with each source, outside of any transaction.
    /// - Throws: `ImportError` as `status` does, and what `body` throws.
    public func forEachSource(
        of job: Int64? = nil,
        includingOutside includesOutside: Bool = false,
        _ body: (Source) throws -> Void
    ) throws {
        if let job { _ = try status(of: job) }
        let (jobs, undone) = try read { database in
            guard try StoredJob.last(database) != nil else { throw noImport }
            return (try job.map { [$0] } ?? StoredJob.numbers(database), try StoredJob.undone(database))
        }
        for number in jobs {
            let found = try read { database in
                guard let job = try StoredJob.find(number, database) else { return [Source]() }
                return try sources(of: job, includesOutside: includesOutside, database)
            }
            for var source in found {
                if undone.contains(number) { source.state = .undone }
                try body(source)
            }
        }
    }

    private func sources(of job: StoredJob, includesOutside: Bool, _ database: Database) throws -> [Source] {
        let faults = try ledger(of: job, database)[""]?.filter { $0.value[LedgerKind.badSource.rawValue] != nil }
        let outside = includesOutside ? try OutsideValue.all(of: job.id, database) : [:]
        return try zip(job.sources, sources(of: job, database) as [SourceProgress]).enumerated().map { index, pair in
            let (source, progress) = pair
            let state = progress.state == .finished ? Source.State.done : progress.records > 0 ? .partial : .waiting
            let isBad = faults?.keys.contains { $0.hasPrefix("\(source.description.name): ") } ?? false
            var found = Source(source, job: job.id, isBad ? .bad : state, records: progress.records)
            if includesOutside { found.outside = OutsideValue.object(outside[index] ?? []) }
            return found
        }
    }
}

extension OutsideValue {
    /// What is stored of each source of a job, in its order.
    ///
    /// - Parameter limit: how many values at most; nil for all.
    static func all(of job: Int64, first limit: Int? = nil, _ database: Database) throws -> [Int: [OutsideValue]] {
        guard try database.hasTable("_import_outside") else { return [:] }
        var values: [Int: [OutsideValue]] = [:]
        for row in try BookkeepingRow.all(
            database,
            from: "_import_outside",
            of: job,
            "ORDER BY source, byte_offset" + (limit.map { " LIMIT \($0)" } ?? "")
        ) {
            let value = OutsideValue(
                path: try row.text("path"),
                byteOffset: try row.number("byte_offset"),
                json: try row.text("value")
            )
            values[try row.index("source"), default: []].append(value)
        }
        return values
    }
}
