import Foundation
import GRDB
import ImportEngine
import ImportModel

/// What the last commits changed, kept in the store for readers in other processes (`_import_merge`).
///
/// Each entry is written in the transaction that it reports, so that a reader finds it together with the rows. Entries are
/// numbered from 1 on, and no number comes twice: old ones go, the last one stays.
package enum MergeLog {
    /// So many entries are kept at least.
    static let storedEntries: Int64 = 1_024
    /// So many go at a time, as each removal is one more page to be written.
    static let trimmedEntries: Int64 = 64
    /// About this many bytes an entry's row ids take at most; there are more where entities are many.
    static let maximumBytes = 4_096

    private static let table = "_import_merge"
    /// The number that tells the store from others, in `_import_meta`.
    private static let identityKey = "store"

    // MARK: Writing

    /// Gives the store a number that distinguishes it from others, unless it has one.
    package static func prepare(_ database: Database) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO _import_meta (key, value) VALUES (?, ?)",
            arguments: [identityKey, Int64.random(in: 1...Int64.max)]
        )
    }

    /// Adds what a transaction changes.
    ///
    /// One that asks for everything to be looked at again replaces all that came before it.
    ///
    /// - Returns: the same, with its position.
    package static func append(_ merge: MergeNotification, _ database: Database) throws -> MergeNotification {
        let stamp = Int64.random(in: Int64.min...Int64.max)
        let marker = merge.marker
        try database.cachedStatement(
            sql: """
                INSERT INTO \(table) (
                    stamp, job, commits, is_finished, needs_refresh, source, byte_offset, record_ordinal, record_path,
                    bytes, chunks_done, seconds, changes, totals
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            stamp, merge.job, merge.commit, merge.isFinished, merge.needsRefresh, marker.source, marker.byteOffset,
            marker.recordOrdinal, Data(marker.recordPath.utf8), marker.bytes, marker.chunksDone, marker.seconds,
            Data(MergeLogCoding.encode(merge.changes, within: maximumBytes)), Data(MergeLogCoding.encode(merge.totals)),
        ])
        let sequence = database.lastInsertedRowID
        if merge.needsRefresh || sequence % trimmedEntries == 0 {
            let last = sequence.subtractingClamped(merge.needsRefresh ? 1 : storedEntries)
            try database.cachedStatement(sql: "DELETE FROM \(table) WHERE sequence <= ?").execute(arguments: [last])
        }
        var merge = merge
        merge.position = StorePosition(store: try identity(database), sequence: sequence, stamp: stamp)
        return merge
    }

    /// Adds what a job has come to outside of its commits.
    ///
    /// - Parameter changes: in any order.
    package static func append(
        _ changes: [EntityChanges],
        of job: Int64,
        isFinished: Bool = false,
        needsRefresh: Bool = false,
        _ database: Database
    ) throws -> MergeNotification {
        let marker = try Marker(database, job: job) ?? Marker()
        let merge = MergeNotification(
            job: job,
            commit: marker.commits,
            changes: changes,
            totals: try EntityTotals.all(of: job, database),
            marker: marker,
            isFinished: isFinished,
            needsRefresh: needsRefresh
        )
        return try append(merge, database)
    }

    /// Adds that what a job has inserted is taken back.
    package static func appendReset(of job: Int64, _ database: Database) throws -> MergeNotification {
        let merge = MergeNotification(
            job: job,
            commit: 0,
            changes: [],
            totals: [],
            marker: Marker(),
            isFinished: false,
            needsRefresh: true
        )
        return try append(merge, database)
    }

    // MARK: Reading

    private static func identity(_ database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT value FROM _import_meta WHERE key = ?"),
            arguments: [identityKey]
        )
    }

    /// After the last entry.
    package static func end(_ database: Database) throws -> StorePosition {
        guard try database.hasTable(table) else { return .start }
        let last = try BookkeepingRow.first(database, "sequence, stamp", from: table, "ORDER BY sequence DESC LIMIT 1")
        guard let last else { return StorePosition(store: try identity(database), sequence: 0, stamp: 0) }
        return StorePosition(
            store: try identity(database),
            sequence: try last.number("sequence", in: 1...(.max)),
            stamp: try last.number("stamp", in: .min ... .max)
        )
    }

    /// What a reader finds after its position.
    package enum Reading {
        /// Nothing new.
        case nothing
        /// Entries of one job, merged; there may be others after them.
        case next(MergeNotification)
        /// The position is one in another store.
        case otherStore
    }

    /// Reads on from a position.
    package static func read(after position: StorePosition, _ database: Database) throws -> Reading {
        let end = try end(database)
        if let store = position.store, store != end.store { return .otherStore }
        guard end.sequence != position.sequence || end.stamp != position.stamp else { return .nothing }
        guard try holds(position, database) else {
            let finished = try Int64.fetchSet(
                database,
                sql: "SELECT id FROM _import_job WHERE state = ?",
                arguments: [ImportReport.State.finished.rawValue]
            )
            return try newest(database).map { .next($0.refreshing(finishedJobs: finished)) } ?? .nothing
        }
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT * FROM \(table) WHERE sequence > ? ORDER BY sequence",
            arguments: [position.sequence]
        )
        var all: MergeNotification?
        var entities: [EntityTotals] = []
        while let next = try rows.next() {
            let row = BookkeepingRow(next, of: table, database)
            guard var merge = all else {
                entities = try Self.entities(of: row.number("job"), database)
                all = try notification(row, entities, store: end.store)
                continue
            }
            guard try merge.job == row.number("job") else { break }
            merge.merge(try notification(row, entities, store: end.store))
            all = merge
        }
        return all.map { .next($0) } ?? .nothing
    }

    /// True if the entry at a position is the one that was seen, so that all after it is there too.
    private static func holds(_ position: StorePosition, _ database: Database) throws -> Bool {
        if position.sequence == 0 {
            return try Int64.fetchOne(database, sql: "SELECT min(sequence) FROM \(table)") == 1
        }
        return try database.exists(
            "SELECT 1 FROM \(table) WHERE sequence = ? AND stamp = ?",
            [position.sequence, position.stamp]
        )
    }

    private static func newest(_ database: Database) throws -> MergeNotification? {
        guard
            let row = try BookkeepingRow.first(database, from: table, "ORDER BY sequence DESC LIMIT 1")
        else { return nil }
        return try notification(row, entities(of: row.number("job"), database), store: identity(database))
    }

    /// The entities of a job in their order, those included that nothing came to.
    private static func entities(of job: Int64, _ database: Database) throws -> [EntityTotals] {
        let counted = try EntityTotals.all(of: job, database)
        guard let model = try StoredJob.find(job, database)?.model, model.entities.count > counted.count else {
            return counted
        }
        let layout = model.isFlat ? nil : try ModelLayout(importing: model)
        return model.entities.enumerated().map { position, entity in
            let isThere = layout?.hasTable(position) ?? true
            let table = isThere ? layout?.table(of: position) ?? entity.table : ""
            return counted.first { $0.entity == entity.name } ?? EntityTotals(entity: entity.name, table: table)
        }
    }

    private static func notification(
        _ row: BookkeepingRow,
        _ entities: [EntityTotals],
        store: Int64?
    ) throws -> MergeNotification {
        var marker = Marker()
        marker.source = try row.index("source")
        marker.byteOffset = try row.number("byte_offset")
        marker.recordOrdinal = try row.number("record_ordinal")
        marker.recordPath = String(decoding: try row.bytes("record_path"), as: UTF8.self)
        marker.bytes = try row.number("bytes")
        marker.chunksDone = try row.index("chunks_done")
        marker.commits = try row.number("commits")
        marker.seconds = try row.seconds("seconds")
        let needsRefresh = try row.flag("needs_refresh")
        let changes = MergeLogCoding.changes(try row.bytes("changes"), of: entities)
        let totals = MergeLogCoding.totals(try row.bytes("totals"), of: entities)
        return MergeNotification(
            job: try row.number("job"),
            commit: marker.commits,
            changes: changes ?? [],
            totals: needsRefresh ? [] : totals ?? entities,
            marker: marker,
            isFinished: try row.flag("is_finished"),
            needsRefresh: needsRefresh || changes == nil || totals == nil,
            position: StorePosition(
                store: store,
                sequence: try row.number("sequence", in: 1...(.max)),
                stamp: try row.number("stamp", in: .min ... .max)
            )
        )
    }
}
