import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// A SQLite store in which the records of a job are taken one after the other, for a store of another kind that cannot do that.
///
/// It is given the rows that are there, then the chunks; the caller writes back what has changed. It is in a folder of
/// its own, and of no use once that is done.
///
/// Belongs to one thread.
package final class ReplayStore {
    /// A row of what waits for objects, or is there for references alone: the values of keys.
    package struct Waiting: Sendable {
        /// `order.lines`.
        package let relationship: String
        /// The key of the object that has the relationship.
        package let source: [StoredValue]
        /// The key of the object that it leads to, or the values by which that is named.
        package let target: [StoredValue]
        /// True if the latter.
        package let isNamed: Bool
        /// Its index in the list; -1 for none.
        package let position: Int64

        package init(
            relationship: String,
            source: [StoredValue],
            target: [StoredValue],
            isNamed: Bool,
            position: Int64
        ) {
            self.relationship = relationship
            self.source = source
            self.target = target
            self.isNamed = isNamed
            self.position = position
        }
    }

    /// What has become of a row.
    package enum Change: Int64, Sendable {
        case gone, changed, new
    }

    package let layout: ModelLayout
    package let path: String
    package let model: ModelDescription
    private let options: JobOptions
    private let sources: [StoredJob.Source]
    private let transformers: TransformerRegistry
    package let interruption: Interruption
    package let session: StoreSession
    var isPrepared = false
    package private(set) var job: Int64 = 0

    /// Makes an empty one.
    ///
    /// - Parameters:
    ///   - folder: exists, and has nothing of that name in it.
    ///   - job: whose records are taken; it has a model whose entities relate to one another.
    /// - Throws: `ImportError` where the file cannot be made.
    package init(
        in folder: String,
        of job: StoredJob,
        _ transformers: TransformerRegistry,
        _ interruption: Interruption
    ) throws {
        guard var model = job.model else { throw ImportError(.fault, at: folder, "the job has no model") }
        // Nothing is looked for in it.
        for entity in model.entities.indices { model.entities[entity].indexes = [] }
        self.model = model
        layout = try ModelLayout(importing: model)
        var options = job.options
        options.nul = .error
        self.options = options
        sources = job.sources
        var replacing = transformers
        if job.options.nul == .replace {
            replacing.replacementOfNUL = .text
        } else if job.options.onError == .null {
            replacing.replacementOfNUL = .null
        }
        self.transformers = replacing
        self.interruption = interruption
        path = folder + "/serial.sqlite"
        session = try StoreSession(path, file: StoreFile.made(path), keepsWAL: false, durability: .off)
    }

    /// Ends its connection.
    package func close() { try? session.close(leavesWAL: true) }

    // MARK: Records

    /// Why a record is a reject whatever the store has.
    package struct Refusal {
        package let ordinal: Int64
        package let errors: [ImportModel.RecordError]
        /// True if they are about the record itself, and have no place yet.
        package let isOfRecord: Bool

        package init(_ ordinal: Int64, _ errors: [ImportModel.RecordError], isOfRecord: Bool) {
            self.ordinal = ordinal
            self.errors = errors
            self.isOfRecord = isOfRecord
        }
    }

    /// A chunk, and what is known of its records.
    package struct Chunk {
        package let chunk: SealedChunk
        /// What they are, in a retry.
        package let retried: RetriedRecords?
        /// Those that are rejects whatever the store has, in order.
        package let refused: [Refusal]

        package init(
            _ chunk: SealedChunk,
            _ retried: RetriedRecords?,
            refused: [Refusal]
        ) {
            self.chunk = chunk
            self.retried = retried
            self.refused = refused
        }
    }

    /// Takes all records of the job, in order, and settles it.
    ///
    /// - Parameters:
    ///   - isRetry: whether chunks have what their records are.
    ///   - last: the last record that is taken; nothing is settled then. nil for all.
    ///   - forEachChunk: calls its argument with each chunk, in order; it is called once more where records turn out to be rejects that
    ///     others depend on.
    /// - Throws: `ImportError`, also where there are more rejects than the job may have.
    package func take(
        isRetry: Bool,
        upTo last: Int64? = nil,
        _ forEachChunk: (_ take: (Chunk) throws -> Void) throws -> Void
    ) throws {
        try keepRows()
        let planned = StoredJob(
            options: options,
            takesChunks: true,
            sources: sources,
            model: model,
            chunkDirectory: path + ".chunks"
        )
        let begun = try session.begin(
            planned,
            JobStart(
                transformers: transformers,
                indexes: StoreIndexes(wanted: []),
                makesChunkDirectory: false
            )
        ).job
        job = begun.id
        repeat {
            try takeOnce(begun, isRetry: isRetry, upTo: last ?? .max, forEachChunk)
            if last != nil { return }
        } while try session.takeBackUnresolved(begun, interruption) != nil
        _ = try session.settle(begun, SourceOpener(), interruption)
    }

    private func takeOnce(
        _ job: StoredJob,
        isRetry: Bool,
        upTo last: Int64,
        _ forEachChunk: (_ take: (Chunk) throws -> Void) throws -> Void
    ) throws {
        let writers = try StoreWriterFactory(session, job, model, durability: .off, started: .now, interruption)
        defer { try? writers.close() }
        let graph = try GraphPlan(model, onConflict: options.onConflict, transformers: transformers)
        let writer = try writers.writer(graph.plans, graph, writers.progress)
        defer { try? writer.close() }
        let decoder = ChunkDecoder(
            plans: sources.map { source in
                isRetry
                    ? graph.plans : source.entities.compactMap { name in graph.plans.first { $0.entity.name == name } }
            },
            columns: sources.map(\.columns),
            entities: graph.plans.count,
            graph: graph,
            options: options
        )
        var progress = writers.progress
        try forEachChunk { chunk in
            do {
                try take(chunk, upTo: last, decoder, writer, graph.plans, &progress)
            } catch let excess as RejectLimit.Excess {
                throw excess.error(in: sources[chunk.chunk.entry.source].description.name)
            }
        }
    }

    private func take(
        _ chunk: Chunk,
        upTo last: Int64,
        _ decoder: ChunkDecoder,
        _ writer: StoreWriter,
        _ plans: [EntityPlan],
        _ progress: inout CommitState
    ) throws {
        let entry = chunk.chunk.entry
        let source = sources[entry.source].description.name
        try decoder.open([chunk.chunk], skipping: .none, source: source, retried: chunk.retried)
        var refused = chunk.refused[...]
        let batch = BoxedBatch()
        repeat {
            try interruption.check()
            let next = entry.firstOrdinal + Int64(entry.records - decoder.recordsLeft)
            guard next <= last else { return }
            // What is refused is a batch of its own.
            let isRefused = refused.first?.ordinal == next
            let end = isRefused ? next + 1 : min(refused.first?.ordinal ?? .max, last == .max ? last : last + 1)
            decoder.decode(upTo: Int(min(end - next, 8_192)), into: &batch.content)
            if isRefused, let first = refused.popFirst() {
                batch.content.rows.refuse(LateRejects(plans: plans, chunkBytes: decoder.bytes), first)
            }
            _ = try writer.commit(
                [batch],
                chunkBytes: decoder.bytes,
                progress: &progress,
                isSynced: false
            )
        } while !decoder.isExhausted
    }

    // MARK: Its connection

    package func inDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try ImportError.explaining(path) { try session.database.inDatabase(body) }
    }
}

extension RowBatch {
    /// Makes a reject of the one record that it has, unless it is one already.
    fileprivate mutating func refuse(_ late: LateRejects, _ refusal: ReplayStore.Refusal) {
        guard let record = graph.records.first, let place = places.first else { return }
        let row = rows[record.row]
        let errors = refusal.errors.map { error in
            guard refusal.isOfRecord else { return error }
            var error = error
            if error.entity.isEmpty { error.entity = late.plans[Int(row.entity)].entity.name }
            error.byteOffset = place.byteOffset
            return error
        }
        reject(late.reject(row, place, errors))
        for entity in graph.repeated.indices { graph.repeated[entity] = 0 }
        graph.records = []
        graph.operations = []
        rows = []
        places = []
    }
}
