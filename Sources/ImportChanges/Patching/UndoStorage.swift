import GRDB
import ImportSQLite
import ImportSources

/// What a store has kept to undo jobs.
struct UndoStorage {
    let store: String

    /// Forgets it, of jobs that are finished.
    ///
    /// - Parameters:
    ///   - job: the job's number; nil for all.
    ///   - age: only those of jobs that were finished at least as long ago.
    /// - Returns: the numbers of the jobs.
    func forget(_ job: Int64?, olderThan age: Duration?) throws -> [Int64] {
        let destination = SQLiteDestination(store, durability: .normal)
        try destination.checkIsThere()
        try destination.lock()
        defer { destination.unlock() }
        if let job, try destination.read({ try $0.job(job) }) == nil {
            throw ImportError(.jobNotFound, at: store, "has no job \(job)", advice: "\(call: .status) lists its jobs.")
        }
        defer { destination.tidyUp() }
        guard let session = try destination.open() as? StoreSession else { return [] }
        let result = Result {
            try session.bringUp()
            return try session.record { database in
                let numbers = try BookkeepingRow.fetchAll(
                    database,
                    from: "_import_change",
                    sql: """
                        SELECT id FROM _import_job JOIN _import_change ON job = id
                        WHERE has_log AND state = 'finished' AND (:job IS NULL OR id = :job)
                            AND (:age IS NULL OR finished <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || :age || ' seconds'))
                        ORDER BY id
                        """,
                    arguments: ["job": job, "age": age?.components.seconds]
                ).map { try $0.number("id") }
                for number in numbers { try UndoLog.forget(number, database) }
                return numbers
            }
        }
        let isOver = try destination.read { try $0.unfinishedJobs().isEmpty }
        let closing = Result { try session.close(leavesWAL: isOver) }
        let forgotten = try result.get()
        try closing.get()
        return forgotten
    }
}
