import Importer

extension ChunkWorker.Task {
    /// Decodes a chunk once more whose records workers have staged: what has become of some of them is known only now.
    ///
    /// - Parameters:
    ///   - decoder: one that `decoder(_:)` has made, which reads the chunk.
    ///   - body: called with some records after the other, and with what makes rejects of them.
    /// - Throws: `ImportError` where the chunk's file is not as it was written, and what `body` throws.
    func forEachBatch(
        of entry: ChunkEntry,
        _ plans: [EntityPlan],
        _ decoder: ChunkDecoder,
        _ connection: PGConnection,
        _ body: (RowBatch, LateRejects) throws -> Void
    ) throws {
        let retried = try RetryTable(of: job)?.records(of: entry, areOpen: true, connection)
        try open(entry, decoder, retried)
        var batch = DecodedBatch()
        while !decoder.isExhausted {
            try interruption.check()
            decoder.decode(upTo: ChunkWorker.batchSize, into: &batch)
            try body(batch.rows, LateRejects(plans: plans, chunkBytes: decoder.bytes))
        }
    }
}

extension ChunkEntry {
    /// The numbers of its records in the job.
    var ordinals: Range<Int64> { firstOrdinal..<firstOrdinal + Int64(records) }
}
