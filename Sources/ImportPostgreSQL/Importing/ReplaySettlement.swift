import Foundation
import ImportModel
import Importer

/// Settles related entities by taking one record after the other, where statements over whole tables do not give the same: in one
/// transaction of the importing process.
///
/// The tables are read into a SQLite store in the temporary directory (`ReplayStore`), which takes the records as any SQLite store does. What has
/// changed there is written back then. Nobody else writes the tables meanwhile. What workers have staged goes; what they have
/// found to be rejects, as a server cannot have it, are rejects there, too.
struct ReplaySettlement {
    let task: ChunkWorker.Task
    let model: PGModel
    let tables: RelationshipTables
    let constraints: UserConstraints
    /// In the transaction that all is done in.
    let connection: PGConnection

    var job: Int64 { task.job.id }
    var label: String { task.store.label }
    var layout: ModelLayout { tables.layout }

    /// Settles all records; those whose rows a table refuses are rejects.
    ///
    /// - Throws: `ImportError`, `PGError`.
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
    ) throws -> PGError? {
        try connection.refusal {
            var keys: [UserConstraints.ForeignKey] = []
            var indexes: [UserConstraints.UniqueIndex] = []
            try inFolder { folder in
                let store = try ReplayStore(in: folder, of: task.job, task.transformers, task.interruption)
                defer { store.close() }
                for table in layout.tables { try load(table, into: store) }
                try loadWaiting(into: store)
                try take(into: store, without: refused, upTo: last, retries)
                // Others may read the tables up to here.
                try PGTables.drop(tables.foreignKeys, connection)
                keys = try constraints.takeAwayForeignKeys(connection)
                indexes = try constraints.takeAwayUniqueIndexes(ofLists: true, connection)
                try tables.dropPartnerIndexes(connection)
                try tables.dropListIndexes(connection)
                for table in layout.tables { try writeBack(table, from: store) }
                guard last == nil else { return }
                try writeWaiting(from: store)
                try writeRejects(from: store)
                try writeCounts(from: store)
            }
            // No table can be altered that has deferred triggers to come.
            _ = try connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for index in indexes { try index.restore(connection) }
            for key in keys { try key.restore(connection) }
        }
    }

    /// Finds the first record with which a row is refused, by halves.
    ///
    /// - Parameter accepted: up to this record none is.
    /// - Throws: `ImportError` where it is about no record.
    private func find(
        _ failure: PGError,
        after accepted: Int64,
        without refused: [Int64: ImportModel.RecordError],
        _ retries: RetryTable?
    ) throws -> RefusedRow {
        func refusal(upTo ordinal: Int64) throws -> PGError? {
            _ = try connection.execute("SAVEPOINT importer_trial")
            let failure = try attempt(without: refused, upTo: ordinal, retries)
            _ = try connection.execute("ROLLBACK TO SAVEPOINT importer_trial; RELEASE SAVEPOINT importer_trial")
            return failure
        }
        let last = try connection.execute(
            "SELECT coalesce(max(first_ordinal + records - 1), 0)::bigint FROM _import_chunk WHERE job = $1",
            [.integer(job)]
        ).first?.integer(0)
        guard let last, last > accepted, let found = try refusal(upTo: last),
            try accepted > 0 || refusal(upTo: 0) == nil
        else { throw failure.unattributed(in: task.store) }
        return try tables.firstRefused(after: accepted, upTo: last, found, refusal)
    }

    /// Calls `body` with a new folder, which is removed afterwards.
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = ReplayFolder.path(of: task.job)
        do {
            try FileManager.default.createDirectory(
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
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    /// Keeps others from writing the tables until the transaction's end.
    private func lock() throws {
        let names = layout.tables.map { PGTables.quoted($0.name) }
        _ = try connection.execute("LOCK TABLE \(names.joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE")
    }

    // MARK: Records

    /// Passes over records of a retry whose rejects are not open any more.
    private func forgetClosed(_ retries: RetryTable) throws {
        _ = try connection.execute("CREATE TEMPORARY TABLE _import_serial_closed (ordinal bigint) ON COMMIT DROP")
        _ = try retries.holdAll(closed: "_import_serial_closed", connection)
    }

    private func take(
        into store: ReplayStore,
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
                    ReplayStore.Chunk(
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
    ) throws -> [ReplayStore.Refusal] {
        let codes: [CoercionError.Code] = [
            .nulCharacter, .rowTooLarge, .identifierTooLong, .constraintViolation, .outOfRange,
        ]
        let known = try connection.execute(
            "SELECT ordinal, errors FROM _import_reject WHERE job = $1 AND chunk = $2",
            [.integer(job), .integer(Int64(entry.number))]
        ).compactMap { row -> ReplayStore.Refusal? in
            let errors = try BookkeepingJSON.decode([ImportModel.RecordError].self, row.text(1))
            guard errors.contains(where: { codes.contains($0.code) }) else { return nil }
            return ReplayStore.Refusal(try row.integer(0), errors, isOfRecord: false)
        }
        let own = more.filter { entry.ordinals.contains($0.key) }
            .map { ReplayStore.Refusal($0.key, [$0.value], isOfRecord: true) }
        return (known + own).sorted { $0.ordinal < $1.ordinal }
    }
}
