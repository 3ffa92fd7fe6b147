import ImportModel
import Importer

extension PostgreSQLInspection {
    /// Calls `body` with each source of the schema's jobs, in the order of the jobs.
    ///
    /// - Parameters:
    ///   - job: the job's number in the schema; nil for all jobs.
    ///   - includesOutside: whether the values outside of the records are read.
    ///   - body: called with each source, outside of any transaction.
    /// - Throws: `ImportError` as `status` does, and what `body` throws.
    public func forEachSource(
        of job: Int64? = nil,
        includingOutside includesOutside: Bool = false,
        _ body: (StoreInspection.Source) throws -> Void
    ) throws {
        if let job { _ = try status(of: job) }
        let jobs = try read { connection in
            guard try StoredJob.last(connection, label: label) != nil else { throw noImport }
            return try connection.execute(
                "SELECT id FROM _import_job WHERE id = coalesce($1, id) ORDER BY id",
                [job.map { .integer($0) } ?? .null]
            ).map { try $0.integer(0) }
        }
        for number in jobs {
            let found = try read { connection in
                guard let job = try StoredJob.find(number, connection, label: label) else {
                    return [StoreInspection.Source]()
                }
                return try sources(of: job, includesOutside: includesOutside, connection)
            }
            for source in found { try body(source) }
        }
    }

    private func sources(
        of job: StoredJob,
        includesOutside: Bool,
        _ connection: PGConnection
    ) throws -> [StoreInspection.Source] {
        var outside: [Int: [OutsideValue]] = [:]
        if includesOutside {
            try ChunkTable(job: job.id).forEachWithOutside(connection, label: label) { entry in
                outside[entry.source, default: []] += entry.outsideValues ?? []
            }
        }
        var read: [Int: (records: Int64, isWhole: Bool)] = [:]
        for row in try connection.execute(
            """
            SELECT source, coalesce(sum(records) FILTER (WHERE state = 'done'), 0)::bigint, bool_and(state = 'done')
            FROM _import_chunk WHERE job = $1 GROUP BY source
            """,
            [.integer(job.id)]
        ) { read[Int(try row.integer(0))] = (try row.integer(1), try row.bool(2)) }
        let last = read.keys.max() ?? 0
        let faults = try connection.execute(
            "SELECT attribute FROM _import_ledger WHERE job = $1 AND kind = $2 AND NOT is_error",
            [.integer(job.id), .text(LedgerKind.badSource.rawValue)]
        ).map { try $0.text(0) }
        return job.sources.enumerated().map { index, source in
            let (records, isWhole) = read[index] ?? (0, false)
            // Of the source that is cut last, there may be more.
            let isDone = job.state == .finished || isWhole && index < last
            let isBad = faults.contains { $0.hasPrefix("\(source.description.name): ") }
            var found = StoreInspection.Source(
                source,
                job: job.id,
                isBad ? .bad : isDone ? .done : records > 0 ? .partial : .waiting,
                records: records
            )
            if includesOutside { found.outside = OutsideValue.object(outside[index] ?? []) }
            return found
        }
    }
}
