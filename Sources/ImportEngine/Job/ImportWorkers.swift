import ImportModel
import ImportSources
import Synchronization

/// The workers of an import: each takes chunks in order, decodes them side by side with the others, and commits them
/// when their turn comes.
///
/// It is generic over the writers, so that it is specialised for the store.
package final class ImportWorkers<Writers: BatchWriterFactory>: Sendable {
    private typealias Writer = Writers.Writer

    private let context: RunContext
    private let job: StoredJob
    private let model: ModelDescription
    private let writers: Writers
    private let queue: ChunkQueue
    private let keepsChunks: Bool
    /// Only the worker whose turn it is to commit changes it.
    private let state: Mutex<Writers.Writer.Progress>

    /// - Parameters:
    ///   - run: the job's, which continues after the store's marker.
    ///   - writers: of the workers, which commit through them.
    package init(_ run: JobRun, _ model: ModelDescription, _ writers: Writers) {
        context = run.context
        job = run.job
        self.model = model
        self.writers = writers
        queue = ChunkQueue(capacity: context.options.workers + 2)
        // What cannot be read again is kept where it may have to be imported again.
        let isReadAgain = model.rejectsUnresolved && !job.sources.allSatisfy(\.description.isRepeatable)
        keepsChunks = context.options.keepsChunks || job.takesChunks || !job.isModelFinal || isReadAgain
        state = Mutex(writers.progress)
    }

    /// Runs the workers until all chunks are committed.
    ///
    /// - Parameter feed: hands them the chunks; returns what was wrong with a source, or nil.
    /// - Returns: what `feed` returned.
    /// - Throws: `ImportError`; what was committed before stays.
    package func run(feed: @escaping (ChunkQueue) throws -> ImportError?) throws -> ImportError? {
        try WorkerPool.run(
            context.options.workers,
            on: queue,
            interruption: context.interruption,
            stop: { self.queue.fail($0) },
            work: { try self.work() },
            feed: { try feed(self.queue) }
        )
    }

    /// One worker's life: until there are no more chunks.
    ///
    /// - Throws: `ImportError`; what was committed before stays.
    private func work() throws {
        let graph = try model.isFlat ? nil : graphPlan()
        let plans = try graph?.plans ?? self.plans()
        // A retry knows of each of its records by itself which entity it is.
        let bySource = job.sources.map { source in
            job.retry != nil
                ? plans
                : source.entities.compactMap { name in plans.first { $0.entity.name == name } }
        }
        let writer = try writers.writer(plans, graph, state.withLock { $0 })
        var batches = BatchPool()
        do {
            let decoder = ChunkDecoder(
                plans: bySource,
                columns: job.sources.map(\.columns),
                entities: plans.count,
                graph: graph,
                layouts: writer.layoutSchema,
                options: job.options
            )
            while let item = try queue.take() {
                try importChunks(item, decoder, writer, &batches)
            }
        } catch {
            try? writer.close()
            throw error
        }
        try writer.close()
    }

    private func plans() throws -> [EntityPlan] {
        try model.entities.enumerated().map {
            try EntityPlan(
                entity: $1,
                index: $0,
                onConflict: job.options.onConflict,
                unread: writers.unread[$0],
                transformers: context.transformers
            )
        }
    }

    private func graphPlan() throws -> GraphPlan {
        let model = try job.options.mirror == nil ? model : model.withWholeLists
        return try GraphPlan(model, onConflict: job.options.onConflict, transformers: context.transformers)
    }

    private func importChunks(
        _ item: ChunkQueue.Item,
        _ decoder: ChunkDecoder,
        _ writer: Writer,
        _ batchPool: inout BatchPool
    ) throws {
        try open(item.chunks, skipping: item.committed, decoder, writer)
        var decoded: [BoxedBatch] = []
        repeat {
            decodeAhead(item, decoder, into: &decoded, &batchPool)
            try queue.wait(for: item.turn)
            do {
                for batches in decoded.commits(of: context.options.commitEvery) {
                    try context.interruption.check()
                    try commit(batches, item.chunks, decoder, writer)
                }
            } catch let layout as LayoutInvalidated {
                decoder.closeLayouts(of: layout.entity)
                try reopen(item.chunks, decoder, writer)
            }
            // The first one is on top: each gets the memory of one like it, as a chunk's last batch is often a small one.
            for batch in decoded.reversed() { batchPool.give(batch) }
            decoded.removeAll(keepingCapacity: true)
        } while !decoder.isExhausted
        queue.finish(item.turn)
        guard !keepsChunks, let first = item.chunks.first else { return }
        try first.directory.remove(chunk: first.entry.fileNumber)
    }

    /// Decodes until it is time to commit: about a chunk's size ahead, no further.
    private func decodeAhead(
        _ item: ChunkQueue.Item,
        _ decoder: ChunkDecoder,
        into decoded: inout [BoxedBatch],
        _ batchPool: inout BatchPool
    ) {
        let allowance = max(context.options.chunkSize, 1 << 20)
        let commitEvery = context.options.commitEvery
        var (footprint, next, records) = (0, 0, 0)
        // Batches of related entities may take that much each, so the next one is estimated.
        while !decoder.isExhausted, footprint < allowance, footprint + next <= allowance + allowance / 4 {
            let batch = batchPool.take()
            decoder.decode(upTo: commitEvery, into: &batch.content)
            let (own, count) = (batch.content.footprint, batch.content.records)
            footprint += own
            records += count
            decoded.append(batch)
            let isFull = records >= commitEvery || !batch.content.rows.end.isChunkEnd
            if isFull, queue.isCurrent(item.turn) { return }
            next = own / max(1, count) * min(commitEvery, decoder.recordsLeft)
        }
    }

    private func open(
        _ chunks: [SealedChunk],
        skipping committed: CommittedPrefix,
        _ decoder: ChunkDecoder,
        _ writer: Writer
    ) throws {
        guard let first = chunks.first?.entry else { return }
        let retried = try writer.retriedRecords(of: first)
        let source = job.sources[first.source].description.name
        try decoder.open(chunks, skipping: committed, source: source, retried: retried)
    }

    /// Begins again from where the store is; only the worker whose turn it is may do so.
    private func reopen(_ chunks: [SealedChunk], _ decoder: ChunkDecoder, _ writer: Writer) throws {
        let marker = state.withLock { $0.marker }
        let left = Array(chunks.drop { marker.hasPassed($0.entry) })
        try open(left, skipping: marker.committed, decoder, writer)
    }

    private func commit(
        _ batches: ArraySlice<BoxedBatch>,
        _ chunks: [SealedChunk],
        _ decoder: ChunkDecoder,
        _ writer: Writer
    ) throws {
        // The chunk goes after its last commit; where it cannot be cut again, that commit must be on the disk by then.
        let isSynced = batches.contains { batch in
            batch.content.rows.end.isChunkEnd
                && batch.content.chunk.map { !job.sources[$0.entry.source].description.isRepeatable } ?? false
        }
        let (notification, rejects): (MergeNotification, Int64)
        do {
            (notification, rejects) = try state.withLock { state in
                let notification = try writer.commit(
                    batches,
                    chunkBytes: decoder.bytes,
                    progress: &state,
                    isSynced: isSynced
                )
                return (notification, state.rejects)
            }
        } catch let excess as RejectLimit.Excess {
            let ordinal = excess.reject.ordinal
            try commitRecords(before: ordinal, of: chunks, decoder, writer)
            let chunk = chunks.last { $0.entry.firstOrdinal <= ordinal } ?? chunks[0]
            throw excess.error(in: job.sources[chunk.entry.source].description.name)
        }
        context.merges.enqueue(notification)
        context.progress.update {
            $0.importedBytes = notification.marker.bytes
            $0.importedRecords = notification.marker.recordOrdinal
            $0.rejects = rejects
        }
    }

    /// Commits what precedes a record that must not be committed.
    ///
    /// Nothing of its batch was committed, so the chunks are read again from where the store is.
    private func commitRecords(
        before ordinal: Int64,
        of chunks: [SealedChunk],
        _ decoder: ChunkDecoder,
        _ writer: Writer
    ) throws {
        for entity in model.entities.indices { decoder.closeLayouts(of: Int32(entity)) }
        try reopen(chunks, decoder, writer)
        var left = Int(ordinal - state.withLock { $0.marker.recordOrdinal }) - 1
        let batch = BoxedBatch()
        while left > 0, !decoder.isExhausted {
            decoder.decode(upTo: min(left, context.options.commitEvery), into: &batch.content)
            try context.interruption.check()
            left -= batch.content.records
            try commit([batch], chunks, decoder, writer)
        }
    }
}

extension [BoxedBatch] {
    /// The batches of each commit: those of several chunks together that have few records, but those with a layout by themselves.
    fileprivate func commits(of records: Int) -> [ArraySlice<BoxedBatch>] {
        var (result, first, count): ([ArraySlice<BoxedBatch>], Int, Int) = ([], 0, 0)
        for place in indices {
            let own = self[place].content.records
            if place > first {
                let before = self[place - 1]
                let isAlone = self[place].content.layout != nil || before.content.layout != nil
                if isAlone || !before.content.rows.end.isChunkEnd || count + own > records {
                    result.append(self[first..<place])
                    (first, count) = (place, 0)
                }
            }
            count += own
        }
        if first < endIndex { result.append(self[first...]) }
        return result
    }
}

/// Batches that are not in use, kept for their memory.
private struct BatchPool {
    private var spare: [BoxedBatch] = []

    mutating func take() -> BoxedBatch { spare.popLast() ?? BoxedBatch() }

    mutating func give(_ batch: BoxedBatch) {
        if spare.count < 4 { spare.append(batch) }
    }
}
