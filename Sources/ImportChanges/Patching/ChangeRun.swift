import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// A conflict under a policy that stops.
package struct ConflictStop: Error {
    package let conflicts: [PatchConflict]
}

/// One run of a job that changes what is there.
package protocol ChangeRun: AnyObject {
    var job: StoredJob { get }
    /// The time that the job has taken up to now.
    var seconds: Double { get }

    /// Does all that is left.
    ///
    /// - Throws: `ImportError`; `ConflictStop` where conflicts are to stop it. What was committed before stays.
    func apply() throws

    /// The tables that it is about.
    func tables(_ database: Database) throws -> [String]
}

/// The part of a job's source that a commit has.
package struct ChunkRange {
    package let firstByte: Int64
    package let endByte: Int64
    package let hash: String
}

extension ChangeRun {
    /// Adds to a commit's changes the rows that it has touched, and keeps in the log what they are now.
    ///
    /// - Parameters:
    ///   - log: nil where none is kept.
    ///   - counts: get what has gone or come beside what the changes name.
    ///   - isJoin: whether a table has nothing but links.
    /// - Returns: whether more has changed than can be said.
    package func note(
        _ log: UndoLog?,
        in changes: inout [EntityChanges],
        _ counts: inout PatchCounts,
        isJoin: (String) -> Bool
    ) throws -> Bool {
        defer { counts.note(in: &changes) }
        guard let log else { return true }
        var needsRefresh = false
        var gains: [Int: Int64] = [:]
        var places: [BytewiseString: Int] = [:]
        for (place, entity) in changes.enumerated().reversed() { places[ExistingEntity.folded(entity.table)] = place }
        try log.complete { touched in
            let place = places[ExistingEntity.folded(touched.table.name)]
            if let place, touched.wasThere != touched.isThere { gains[place, default: 0] += touched.isThere ? 1 : -1 }
            guard let place, let rowID = touched.rowID else {
                if place != nil || !isJoin(touched.table.name) { needsRefresh = true }
                return
            }
            switch (touched.wasThere, touched.isThere) {
            case (true, true): changes[place].update(rowID)
            case (true, false): changes[place].delete(rowID)
            case (false, true): changes[place].insert(rowID)
            case (false, false): break
            }
        }
        let shared = Dictionary(grouping: changes.indices) { places[ExistingEntity.folded(changes[$0].table)] ?? $0 }
        for (place, entities) in shared { counts.balance(entities, gain: gains[place] ?? 0) }
        return needsRefresh
    }

    /// Ends a commit: its marker, and what is announced of it.
    package func end(
        _ marker: inout Marker,
        _ changes: [EntityChanges],
        needsRefresh: Bool,
        _ database: Database
    ) throws -> MergeNotification {
        marker.recordPath = "$"
        marker.commits += 1
        marker.chunksDone += 1
        marker.seconds = seconds
        try marker.save(database, job: job.id)
        let merge = MergeNotification(
            job: job.id,
            commit: marker.commits,
            changes: changes,
            totals: try EntityTotals.all(of: job.id, database),
            marker: marker,
            isFinished: false,
            needsRefresh: needsRefresh
        )
        return try MergeLog.append(merge, database)
    }

    /// Keeps which part of its source a commit has, as an import keeps its chunks.
    package func save(_ chunk: ChunkRange, _ counts: PatchCounts, firstOrdinal: Int64, _ database: Database) throws {
        let read = counts.lines.enumerated().filter { $0.element > 0 }
        for (position, count) in read.isEmpty ? [(offset: -1, element: Int64(0))] : read {
            try database.execute(
                sql: """
                    INSERT INTO _import_chunk (
                        job, source, first_byte, entity, end_byte, source_hash, first_ordinal, records, inserted,
                        is_complete
                    ) VALUES (?, 0, ?, ?, ?, ?, ?, ?, 0, 1)
                    """,
                arguments: [
                    job.id, chunk.firstByte, position, chunk.endByte, chunk.hash, firstOrdinal, count,
                ]
            )
        }
    }
}
