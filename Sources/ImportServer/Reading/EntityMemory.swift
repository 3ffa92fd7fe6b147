import Importer

/// The entities of a store with their counts, as they were read last.
///
/// Counting reads each table from one end to the other; so it is done at most once a second, and so seldom that it takes a
/// fiftieth of one processor.
actor EntityMemory {
    private let pool: ReaderPool
    private var known: [EntitySummary]?
    private var next = ContinuousClock.now
    private var generation = 0
    private var reading: (task: Task<[EntitySummary], any Error>, generation: Int)?

    init(pool: ReaderPool) {
        self.pool = pool
    }

    /// The entities as they were read last; nil where it is time to read them again.
    func known(of generation: Int) -> [EntitySummary]? {
        generation == self.generation && ContinuousClock.now < next ? known : nil
    }

    /// The entities, read again where it is time to.
    ///
    /// - Parameter generation: that of what the store is known to be; what was read of another one does not count.
    /// - Throws: as reading does.
    func summaries(of generation: Int) async throws -> [EntitySummary] {
        if let known = known(of: generation) { return known }
        if let reading, reading.generation == generation { return try await reading.task.value }
        let task = Task { [pool] in
            try await pool.read { reader, interruption in try reader.entitySummaries(interruption) }
        }
        reading = (task, generation)
        defer { if reading?.generation == generation { reading = nil } }
        let start = ContinuousClock.now
        let summaries = try await task.value
        next = .now + max(.seconds(1), start.duration(to: .now) * 50)
        (known, self.generation) = (summaries, generation)
        return summaries
    }
}
