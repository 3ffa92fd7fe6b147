import Foundation
import GRDB
import ImportModel
import Importer
import TestSupport

/// A store in which a job has begun, its source cut into chunks, and what a worker commits them with.
final class BegunImport {
    let files: LibraryImport
    let run: JobRun
    /// In the order of the source.
    let chunks: [SealedChunk]
    let decoder: ChunkDecoder
    /// How far the job is, as the worker knows it.
    private(set) var progress: CommitState
    private let destination: SQLiteDestination
    private let writers: StoreWriterFactory
    private let writer: StoreWriter
    private let batch = BoxedBatch()

    /// - Parameters:
    ///   - records: the source.
    ///   - options: with a model of one entity, `item`.
    ///   - sql: what somebody has done in the store before.
    init(_ records: String, _ options: JobOptions, chunkSize: Int = 1 << 20, after sql: String = "") throws {
        files = try LibraryImport(records)
        if !sql.isEmpty { try Self.execute(sql, files.store) }
        destination = SQLiteDestination(files.store, durability: .normal)
        try destination.lock()
        run = try files.begin(options, RunOptions(workers: 1, chunkSize: chunkSize), in: destination)
        guard let model = run.job.model else { throw StoreContent.Failure("the job has no model") }
        let queue = ChunkQueue(capacity: .max)
        _ = try ChunkFeed(run).feed(keepsAll: true) { try queue.put($0, committed: $1) }
        queue.close()
        var chunks: [SealedChunk] = []
        while let item = try queue.take() { chunks += item.chunks }
        self.chunks = chunks
        writers = try destination.writers(run.job, model, started: run.started, Interruption())
        progress = writers.progress
        let plan = try EntityPlan(entity: model.entities[0], index: 0, onConflict: options.onConflict)
        writer = try writers.writer([plan], nil, progress)
        decoder = ChunkDecoder(plans: [[plan]], entities: 1, layouts: writer.layoutSchema, options: options)
    }

    deinit {
        try? writer.close()
        try? writers.close()
        destination.fail(run.job)
        destination.unlock()
    }

    /// Begins to decode a chunk after what of it is committed.
    func open(_ chunk: Int = 0) throws {
        try decoder.open([chunks[chunk]], skipping: progress.marker.committed, source: files.source)
    }

    /// Decodes the next records and commits them.
    func commit(_ records: Int) throws -> MergeNotification {
        decoder.decode(upTo: records, into: &batch.content)
        return try writer.commit(
            [batch],
            chunkBytes: decoder.bytes,
            progress: &progress,
            isSynced: false
        )
    }

    /// What the store has, for anybody who opens it.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let queue = try DatabaseQueue(path: files.store)
        defer { try? queue.close() }
        return try queue.read(body)
    }

    /// What another program does in the store.
    func execute(_ sql: String) throws { try Self.execute(sql, files.store) }

    private static func execute(_ sql: String, _ store: String) throws {
        let queue = try DatabaseQueue(path: store)
        defer { try? queue.close() }
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    }
}
