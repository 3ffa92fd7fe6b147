import Importer

/// The entities of a store with their counts, as they were read last.
///
/// Counting reads each table from one end to the other; so it is done at most once a second, and so seldom that it takes a
/// fiftieth of one processor.
actor EntityMemory {
    private let pool: ReaderPool
    private var known: [EntitySummary]?
    private var next = ContinuousClock.now
    private var reading: Task<[EntitySummary], any Error>?

    init(pool: ReaderPool) {
        self.pool = pool
    }

    /// The entities, read again where it is time to.
    ///
    /// - Throws: as reading does.
    func summaries() async throws -> [EntitySummary] {
        if let known, ContinuousClock.now < next { return known }
        if let reading { return try await reading.value }
        let task = Task { [pool] in
            try await pool.read { reader, interruption in try reader.entitySummaries(interruption) }
        }
        reading = task
        defer { reading = nil }
        let start = ContinuousClock.now
        let summaries = try await task.value
        next = .now + max(.seconds(1), start.duration(to: .now) * 50)
        known = summaries
        return summaries
    }
}
