import GRDB
import ImportEngine
import ImportSQLite

extension StoreInspection {
    /// How far one source of a job is.
    package struct SourceProgress: Sendable, Hashable, Encodable {
        /// Where a source is.
        package enum State: String, Sendable, Hashable, Encodable {
            /// None of its records is committed.
            case waiting
            /// It is the one that is being imported.
            case importing
            /// The job stopped in it.
            case interrupted
            case failed
            /// All of it is committed.
            case finished
        }

        /// The source, as it was given.
        package let source: String
        package let state: State
        /// Its bytes whose records are committed, decompressed.
        package let bytes: Int64
        /// All its bytes; nil where that is not known.
        package let totalBytes: Int64?
        /// Its records that are committed, rejects included.
        package let records: Int64
        /// The beginning of what is kept of it beside its records, as JSON; nil for nothing.
        package let outside: String?

        package enum CodingKeys: String, CodingKey {
            case source, state, bytes, outside
            case totalBytes = "total_bytes"
            case records
        }
    }

    /// How far each source of a job is, in their order.
    package func sources(of job: StoredJob, _ database: Database) throws -> [SourceProgress] {
        let marker = try Marker(database, job: job.id) ?? Marker()
        let isWhole = job.state == .finished && !job.isEnded
        var read: [Int: (bytes: Int64, records: Int64)] = [:]
        for row in try BookkeepingRow.fetchAll(
            database,
            from: "_import_chunk",
            sql: """
                SELECT source, max(end_byte) AS end_byte, sum(records) AS records FROM _import_chunk
                WHERE job = ? GROUP BY source
                """,
            arguments: [job.id]
        ) { read[try row.index("source")] = (try row.number("end_byte"), try row.number("records")) }
        let outside = try OutsideValue.all(of: job.id, first: Self.mostShown, database)
        return job.sources.enumerated().map { index, source in
            let state = isWhole || index < marker.source ? .finished : index > marker.source ? .waiting : stop(job)
            let (end, records) = read[index] ?? (0, 0)
            let last = index == marker.source ? marker.byteOffset : index < marker.source ? end : 0
            let bytes = max(0, last - (source.description.earlier?.end.byteOffset ?? 0))
            let total = source.description.plainSize ?? (state == .finished ? bytes : nil)
            return SourceProgress(
                source: source.description.name,
                state: state,
                bytes: bytes,
                totalBytes: total,
                records: records,
                outside: outside[index].map { String(OutsideValue.object($0).serialized().prefix(Self.mostShown)) }
            )
        }
    }

    /// The number of values outside of the records that are read for the page, and of characters of each source that it shows.
    private static let mostShown = 500

    /// Where the source is that a job has come to.
    private func stop(_ job: StoredJob) -> SourceProgress.State {
        switch state(of: job) {
        case .running: .importing
        case .interrupted: .interrupted
        case .failed: .failed
        case .finished: .waiting
        }
    }
}
