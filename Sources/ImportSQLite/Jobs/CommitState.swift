import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// How far a job is, as far as committing needs to know.
///
/// Belongs to the worker whose turn it is to commit.
package struct CommitState: CommitProgress {
    /// At most this many names are counted one by one, per entity and kind; the rest are counted together.
    static let namedLedgerEntries = 1_000
    /// What the rest of the names are counted under.
    static let otherNames = "…"

    private struct Names: Hashable {
        let entity: String
        let kind: LedgerKind
    }

    package var marker: Marker
    package var rejects: Int64
    /// What the job has done so far, by entity.
    package var totals: [EntityTotals]
    /// The indexes in the job of the entities whose identifiers are not looked at before the end.
    var deferredIdentifiers: Set<Int>
    /// True if records are appended to tables that were empty when the job began, without the indexes that links need.
    var isAppending: Bool
    /// What is known of objects, while records are appended.
    var cache = AppendCache()
    package var errorGroups: ErrorGroupTable
    /// Time that the job had taken before this run.
    private let secondsBefore: Double
    private let started: ContinuousClock.Instant
    private var names: [Names: Set<BytewiseString>] = [:]

    /// Where the job is in the store.
    package init(_ database: Database, job: Int64, started: ContinuousClock.Instant) throws {
        self.started = started
        marker = try Marker(database, job: job) ?? Marker()
        secondsBefore = marker.seconds
        totals = try EntityTotals.all(of: job, database)
        rejects = totals.reduce(Int64(0)) { $0.addingClamped($1.rejected) }
        deferredIdentifiers = try DeferredUniqueIndex.positions(job: job, database)
        isAppending = try AppendMode.exists(job, database)
        errorGroups = try ErrorGroupTable(database, job: job)
        for row in try BookkeepingRow.ledger(of: job, database) {
            guard let kind = LedgerKind(rawValue: try row.text("kind")) else { continue }
            let key = Names(entity: try row.text("entity"), kind: kind)
            names[key, default: []].insert(BytewiseString(try row.text("attribute")))
        }
    }

    /// The time that the job has taken up to now, in all of its runs.
    package var seconds: Double { secondsBefore + (ContinuousClock.now - started).inSeconds }

    /// What is known of objects, which is forgotten here.
    mutating func takeCache() -> AppendCache {
        defer { cache = AppendCache() }
        return cache
    }

    /// Counts a commit.
    mutating func commitEnded() {
        marker.commits += 1
        marker.seconds = seconds
    }

    /// Moves the marker to the end of a batch.
    package mutating func advance(to end: BatchEnd, of chunk: ChunkEntry, path: String) {
        var before = marker.source == chunk.source ? marker.byteOffset : 0
        // What an earlier job has imported is before the first chunk; so is a byte order mark, which counts.
        if before == 0, chunk.firstByte > 4 { before = chunk.firstByte }
        marker.bytes += max(0, end.byteOffset - before)
        marker.source = chunk.source
        marker.byteOffset = end.byteOffset
        marker.recordOrdinal = end.ordinal
        if end.chunkRecords > 0 { marker.recordPath = path }
        if end.isChunkEnd {
            marker.chunksDone += 1
            marker.chunkRecords = 0
            marker.chunkHash = ""
            if chunk.isLast {
                marker.source = chunk.source + 1
                marker.byteOffset = 0
                marker.chunkStart = .start
            } else {
                marker.chunkStart = chunk.end
            }
        } else {
            marker.chunkRecords = end.chunkRecords
            marker.chunkHash = end.chunkHash
        }
    }

    /// The name that a ledger entry is counted under.
    ///
    /// Names come in source order, so which ones are counted one by one does not depend on who decoded them.
    mutating func ledgerName(_ name: BytewiseString, kind: LedgerKind, entity: String) -> String {
        // The splitter bounds the names of outside values.
        guard kind == .unknownKey else { return name.text }
        let key = Names(entity: entity, kind: kind)
        var known = names[key] ?? []
        if known.contains(name) { return name.text }
        guard known.count < Self.namedLedgerEntries else { return Self.otherNames }
        known.insert(name)
        names[key] = known
        return name.text
    }
}
