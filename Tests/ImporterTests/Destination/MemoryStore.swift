import Foundation
import ImportModel
import Importer
import Synchronization

@testable import ImportEngine

/// A destination that is no database: rows as texts, in an array per entity.
///
/// It has only what the boundary asks for, and does it in the slowest and most obvious way: jobs with a model, without
/// identifiers, on one thread at a time.
final class MemoryStore: OrderedDestination, RecordDestination, Sendable {
    /// What a commit is refused with.
    struct Failure: Error {}

    struct State {
        var job: StoredJob?
        var progress = MemoryProgress()
        var seconds = 0.0
        var files: [RecordedFile] = []
        /// The chunks that are committed, by source.
        var committed: [Int: [HashedRange]] = [:]
        var rows: [[String]] = []
        var rejects: [Int64] = []
        var read: Int64 = 0
        /// So many commits are accepted; nil for any number.
        var commitsLeft: Int?
        var isLocked = false
        /// What settling gives.
        var settlement: MergeNotification?
        /// How often it was asked for.
        var settled = 0
    }

    let state = Mutex(State())

    private static let unsupported = ImportError(.fault, "a store in memory does not do this")

    // MARK: Destination

    var exists: Bool { state.withLock { $0.job != nil } }
    var isLost: Bool { false }

    func check() {}

    func lock() { state.withLock { $0.isLocked = true } }

    func unlock() { state.withLock { $0.isLocked = false } }

    func read<Result>(_ body: (any JournalReader) throws -> Result) throws -> Result { try body(self) }

    func tidyUp() {}

    func open(for bytes: Int64?) throws -> any Journal { self }

    func writers(
        _ job: StoredJob,
        _ model: ModelDescription,
        started: ContinuousClock.Instant,
        _ interruption: Interruption
    ) throws -> MemoryWriters {
        MemoryWriters(store: self, model: model, job: job)
    }

    func report(of job: StoredJob) throws -> ImportReport { try report(of: job.id) }

    func report(of job: Int64) throws -> ImportReport {
        try state.withLock { state in
            guard let job = state.job else { throw Self.unsupported }
            let marker = state.progress.marker
            var report = ImportReport(
                state: job.state,
                job: job.id,
                entities: [:],
                sources: job.sources.map(\.description.name)
            )
            report.recordsRead = state.read
            report.inserted = Int64(state.rows.reduce(0) { $0 + $1.count })
            report.rejected = state.progress.rejects
            report.chunks = marker.chunksDone
            report.chunksDone = marker.chunksDone
            report.bytes = marker.bytes
            report.seconds = state.seconds
            report.message = job.message
            return report
        }
    }

    func close(after job: StoredJob) throws -> ImportReport {
        try report(of: job.id)
    }

    func fail(_ job: StoredJob) {}

    func abandon() {}

    func build(_ indexes: StoreIndexes, of job: StoredJob, _ interruption: Interruption) throws -> [String] { [] }

    func makeRepairFile<Result>(
        at path: String,
        token: String,
        _ body: (_ write: (ArraySlice<UInt8>) throws -> Void) throws -> Result
    ) throws -> Result {
        throw Self.unsupported
    }

    func explain(_ error: any Error) -> ImportError {
        error as? ImportError ?? ImportError(.storeFailed, "the store in memory: \(error)")
    }
}

extension MemoryStore: Journal {
    func jobs() -> [StoredJob] { state.withLock { $0.job.map { [$0] } ?? [] } }

    func marker(of job: StoredJob) -> Marker { state.withLock { $0.progress.marker } }

    func committed(of job: StoredJob, source: Int, from byte: Int64) -> CommittedSource {
        let ranges = state.withLock { $0.committed[source] ?? [] }.filter { $0.firstByte >= byte }
        return CommittedSource(ranges: ranges, hasReachedLimit: false)
    }

    func recordCounts(of job: StoredJob) -> (read: Int64, rejected: Int64) {
        state.withLock { ($0.read, $0.progress.rejects) }
    }

    func readEntities(of job: StoredJob) -> Set<String> {
        state.withLock { state in
            Set(zip(job.model?.entities ?? [], state.rows).filter { !$1.isEmpty }.map { $0.0.name })
        }
    }

    func outsideNames(of job: StoredJob) -> [String] { [] }
    func unfoundPaths(of job: StoredJob) -> [String] { [] }
    func badSources(of job: StoredJob) -> [String] { [] }
    func indexes(of job: StoredJob) -> StoreIndexes { StoreIndexes(wanted: []) }
    func files() -> [RecordedFile] { state.withLock { $0.files } }

    func leftFiles() -> [RecordedFile] {
        state.withLock { state in
            state.files.filter { $0.state == .left || $0.token != state.job?.token || state.job?.state == .finished }
        }
    }

    func hasTable(_ name: String) -> Bool { false }
    func presence(of job: StoredJob) -> JobPresence { .whole }
    func checkTables(_ names: [String]) {}
    func identifiedEntities(excluding job: Int64?) -> [EntityDescription] { [] }
    func continuedEntities(of job: StoredJob) -> [String: ExistingEntity] { [:] }
    func hasUntried(_ selection: RejectSelection, besidesThoseOf retries: [Int64]) -> Bool { false }

    func forEachRepairLine(_ selection: RejectSelection, _ body: (ArraySlice<UInt8>) throws -> Void) throws -> Int64 {
        0
    }

    func retryPlan(
        _ name: String,
        maxRecordBytes: Int,
        _ lines: (_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Void
    ) throws -> any RetryPlan {
        throw Self.unsupported
    }

    func bringUp() {}

    func begin(_ job: StoredJob, _ beginning: JobStart) throws -> JobModelResult {
        var job = job
        job.id = 1
        state.withLock { state in
            state.job = job
            state.rows = Array(repeating: [], count: job.model?.entities.count ?? 0)
            state.files.append(RecordedFile(chunksOf: job, isMade: beginning.makesChunkDirectory))
        }
        return JobModelResult(job: job)
    }

    func resume(_ job: StoredJob, building indexes: StoreIndexes) -> StoreIndexes { indexes }

    func adopt(
        by job: StoredJob,
        _ transformers: TransformerRegistry,
        isFinal: Bool,
        _ infer: ([String: ExistingEntity], _ isTaken: @escaping (String) throws -> Bool) throws -> ModelDescription
    ) throws -> JobModelResult {
        var job = job
        let model = try infer([:]) { _ in false }
        job.model = model
        job.isModelFinal = isFinal
        state.withLock { state in
            state.job = job
            state.rows = Array(repeating: [], count: model.entities.count)
        }
        return JobModelResult(job: job)
    }

    func refresh(
        _ job: StoredJob,
        _ sources: [SourceDescription],
        retry: (any RetryPlan)?
    ) throws -> (job: StoredJob, merge: MergeNotification?) {
        var job = job
        for (index, source) in sources.enumerated() { job.sources[index].description = source }
        return (job, nil)
    }

    func remove(_ job: StoredJob) -> MergeNotification? {
        state.withLock { state in
            state.job = nil
            state.rows = []
        }
        return nil
    }

    private func note(_ state: ImportReport.State, _ message: String?, seconds: Double) {
        self.state.withLock {
            $0.job?.state = state
            $0.job?.message = message
            $0.seconds = seconds
        }
    }

    func start(_ job: StoredJob, seconds: Double) -> StoredJob {
        note(.running, nil, seconds: seconds)
        return job
    }

    func stop(_ job: StoredJob, _ state: ImportReport.State, _ message: String, seconds: Double) {
        note(state, message, seconds: seconds)
    }

    func putBack(
        _ job: StoredJob,
        _ state: ImportReport.State,
        _ message: String?,
        seconds: Double,
        _ indexes: StoreIndexes
    ) {
        note(state, message, seconds: seconds)
    }

    func finish(_ job: StoredJob, message: String?, seconds: Double, keepsChunks: Bool) throws -> MergeNotification {
        note(.finished, message, seconds: seconds)
        return MergeNotification(
            job: job.id,
            commit: 0,
            changes: [],
            totals: [],
            marker: marker(of: job),
            isFinished: true
        )
    }

    func takeBackUnresolved(_ job: StoredJob, _ interruption: Interruption) -> MergeNotification? { nil }

    func update(_ sources: [SourceUpdate]) {}

    func join(_ job: StoredJob, to first: Int64) -> Bool { false }

    func replace(_ job: StoredJob, _ interruption: Interruption) throws -> MergeNotification? { nil }

    func mirror(
        _ job: StoredJob,
        _ options: MirrorOptions,
        _ transformers: TransformerRegistry,
        _ interruption: Interruption
    ) -> MergeNotification? { nil }

    func settle(_ job: StoredJob, _ opener: SourceOpener, _ interruption: Interruption) -> MergeNotification? {
        state.withLock { state in
            state.settled += 1
            return state.settlement
        }
    }

    func record(_ files: [RecordedFile], chunksOf job: StoredJob?) throws {
        state.withLock { state in
            for file in files {
                state.files.removeAll { $0.path == file.path }
                state.files.append(file)
            }
            if let job { state.job?.chunkDirectory = job.chunkDirectory }
        }
    }

    func removeLeftFiles() throws {
        for file in leftFiles() {
            try file.remove(store: "")
            state.withLock { $0.files.removeAll { $0.path == file.path } }
        }
    }
}

struct MemoryProgress: CommitProgress {
    var marker = Marker()
    var rejects: Int64 = 0
}

struct MemoryWriters: BatchWriterFactory {
    let store: MemoryStore
    let model: ModelDescription
    let job: StoredJob

    var progress: MemoryProgress { store.state.withLock { $0.progress } }
    var unread: [[AttributeDescription]] { model.entities.map { _ in [] } }

    func writer(_ plans: [EntityPlan], _ graph: GraphPlan?, _ progress: MemoryProgress) throws -> MemoryWriter {
        MemoryWriter(store: store, model: model, job: job)
    }

    func close() {}
}

extension RowBatch {
    /// Its rows of an entity as texts; what a record does not mention is NULL.
    ///
    /// - Parameter chunk: the chunk's bytes.
    func texts(of entity: Int, attributes: Int, _ chunk: [UInt8]) -> [String] {
        rows.filter { $0.entity == entity }.map { row in
            var next = row.firstCell
            let texts = (0..<attributes).map { attribute -> String in
                guard isPresent(attribute, in: row) else { return "NULL" }
                defer { next += 1 }
                let cell = cells[next]
                switch cell.tag {
                case .null: return "NULL"
                case .integer: return "\(cell.integerValue)"
                case .real: return "\(cell.realValue)"
                case .chunkText, .batchText, .generatedText, .batchBlob, .generatedBlob:
                    let bytes = cell.tag == .chunkText ? chunk : self.bytes
                    return String(decoding: bytes[cell.textOffset..<cell.textOffset + cell.textLength], as: UTF8.self)
                }
            }
            return texts.joined(separator: "|")
        }
    }
}

final class MemoryWriter: BatchWriter {
    private let store: MemoryStore
    private let job: StoredJob
    private let model: ModelDescription
    let layoutSchema: DatabaseImageSchema? = nil

    init(store: MemoryStore, model: ModelDescription, job: StoredJob) {
        self.store = store
        self.job = job
        self.model = model
    }

    func commit(
        _ batches: ArraySlice<BoxedBatch>,
        chunkBytes: [UInt8],
        progress: inout MemoryProgress,
        isSynced: Bool
    ) throws -> MergeNotification {
        for batch in batches { try commit(batch, chunkBytes, &progress) }
        return MergeNotification(
            job: job.id,
            commit: progress.marker.commits,
            changes: [],
            totals: [],
            marker: progress.marker,
            isFinished: false
        )
    }

    private func commit(_ batch: BoxedBatch, _ chunkBytes: [UInt8], _ progress: inout MemoryProgress) throws {
        guard let chunk = batch.content.chunk else { throw MemoryStore.Failure() }
        let content = batch.content.rows
        let (end, rejects, read) = (content.end, content.rejects, content.recordsRead.reduce(0, +))
        let rows = model.entities.indices.map { entity in
            content.texts(of: entity, attributes: model.entities[entity].attributes.count, chunkBytes)
        }
        var next = progress
        next.marker.bytes += max(0, end.byteOffset - next.marker.byteOffset)
        next.marker.byteOffset = end.byteOffset
        next.marker.recordOrdinal = end.ordinal
        next.marker.commits += 1
        next.marker.chunkRecords = end.isChunkEnd ? 0 : end.chunkRecords
        next.marker.chunkHash = end.isChunkEnd ? "" : end.chunkHash
        if end.isChunkEnd {
            next.marker.chunksDone += 1
            next.marker.chunkStart = chunk.entry.isLast ? .start : chunk.entry.end
        }
        if end.isChunkEnd, chunk.entry.isLast {
            next.marker.source += 1
            next.marker.byteOffset = 0
        }
        next.rejects += Int64(rejects.count)
        try store.state.withLock { state in
            if let left = state.commitsLeft {
                guard left > 0 else { throw MemoryStore.Failure() }
                state.commitsLeft = left - 1
            }
            for (entity, rows) in rows.enumerated() { state.rows[entity] += rows }
            state.rejects += rejects.map(\.ordinal)
            state.read += read
            state.progress = next
            if end.isChunkEnd {
                let range = HashedRange(
                    firstByte: chunk.entry.firstByte,
                    endByte: chunk.entry.endByte,
                    hash: chunk.entry.sourceHash
                )
                state.committed[chunk.entry.source, default: []].append(range)
            }
        }
        progress = next
    }

    func retriedRecords(of chunk: ChunkEntry) -> RetriedRecords? { nil }
    func close() {}
}
