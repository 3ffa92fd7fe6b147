import ImportEngine
import ImportModel
import ImportSources

/// Runs one stage of an import at a time over chunks that are there, so that each can be measured by itself.
///
/// The benchmarks use it, the pipeline does not. It does a chunk's work in one call, as a worker does, so that all of it
/// stays specialised in this module. Made and used by one thread.
package final class StageProbe {
    /// A chunk's rows, with the bytes that their texts are slices of.
    struct DecodedChunk {
        let bytes: [UInt8]
        let batches: [BoxedBatch]
    }

    let job: StoredJob
    let model: ModelDescription
    private let chunks: [SealedChunk]
    private let plans: [EntityPlan]
    private let images: DatabaseImageSchema?

    /// Takes the chunks that `ImportPipeline.split` has made.
    ///
    /// - Parameters:
    ///   - path: their directory; they are of one source with one record path.
    ///   - model: of one entity, whose records they hold.
    /// - Throws: `ImportError` when they are not there, or cannot be imported with the model.
    package init(chunks path: String, model: ModelDescription) throws {
        let directory = try ChunkDirectory(path: path, creates: false)
        guard let content = try ChunkManifest.read(in: directory), content.header.sources.count == 1 else {
            throw ImportError(
                .chunksNotFound,
                at: path,
                "has no chunks of one source",
                advice: "Make them with \(call: .splitting)."
            )
        }
        let shape = content.header.shapes[0]
        let source = StoredJob.Source(
            description: content.header.sources[0],
            shape: shape,
            entities: model.entities.map(\.name)
        )
        self.model = model
        job = StoredJob(
            options: JobOptions(model: model),
            takesChunks: true,
            sources: [source],
            model: model,
            chunkDirectory: path
        )
        chunks = content.entries.map {
            SealedChunk($0, in: directory, shape: shape, maxRecordBytes: content.header.limits.maxRecordBytes)
        }
        plans = try model.entities.enumerated().map { try EntityPlan(entity: $1, index: $0) }
        images = DatabaseImageSchema(plans)
    }

    /// Reads and checks all chunks and puts each of their records on a tape.
    ///
    /// - Returns: how many records there were, and how many tokens they had.
    /// - Throws: `ImportError` when a chunk cannot be read.
    package func parse() throws -> (records: Int, tokens: Int) {
        let reader = ChunkReader(job.options)
        var (records, tokens) = (0, 0)
        for chunk in chunks {
            try reader.open([chunk])
            reader.read(chunk.entry.records) { line in
                guard case .record = line.content else { return true }
                records += 1
                tokens += reader.record(of: line).tape.count
                return true
            }
        }
        return (records, tokens)
    }

    /// Does what a worker does before it commits: reads all chunks, parses their records and makes rows of them.
    ///
    /// - Parameter commitEvery: how many records a batch has.
    /// - Returns: how many rows and rejects there were.
    /// - Throws: `ImportError` when a chunk cannot be read.
    package func decode(commitEvery: Int = 10_000) throws -> (rows: Int, rejects: Int) {
        let decoder = makeDecoder(imaging: true)
        var (rows, rejects) = (0, 0)
        var batch = DecodedBatch()
        for chunk in chunks {
            try decoder.open([chunk], skipping: .none, source: chunk.directory.path)
            while !decoder.isExhausted {
                decoder.decode(upTo: commitEvery, into: &batch)
                rows += batch.rows.rows.count
                rejects += batch.rows.rejects.count
            }
        }
        return (rows, rejects)
    }

    /// Decodes all chunks and keeps their rows, for stores to be filled with.
    ///
    /// - Parameters:
    ///   - commitEvery: how many records a batch has.
    ///   - imaging: whether they are to be copied, and not bound one by one.
    /// - Throws: `ImportError` when a chunk cannot be read.
    package func rows(commitEvery: Int = 10_000, imaging: Bool) throws -> ProbeRows {
        let decoder = makeDecoder(imaging: imaging)
        return ProbeRows(
            chunks: try chunks.map { chunk in
                try decoder.open([chunk], skipping: .none, source: chunk.directory.path)
                var batches: [BoxedBatch] = []
                while !decoder.isExhausted {
                    let batch = BoxedBatch()
                    decoder.decode(upTo: commitEvery, into: &batch.content)
                    batches.append(batch)
                }
                return DecodedChunk(bytes: decoder.bytes, batches: batches)
            }
        )
    }

    /// Makes a new store with the model's tables, ready to be filled.
    ///
    /// - Parameter path: where; nothing may be there.
    /// - Throws: `ImportError` when it cannot be made.
    package func store(at path: String) throws -> StoreProbe {
        try StoreProbe(path, job: job, model: model, plans: plans)
    }

    private func makeDecoder(imaging: Bool) -> ChunkDecoder {
        for plan in plans { plan.laysOutRows = imaging }
        return ChunkDecoder(plans: [plans], entities: plans.count, layouts: images, options: job.options)
    }
}

/// Rows that are decoded, batch by batch.
package struct ProbeRows {
    let chunks: [StageProbe.DecodedChunk]
}
