import Importer

/// The entities of a store with their counts, as they were read last.
///
/// Counting reads each table from one end to the other; so it is done at most once a second, and so seldom that it takes a
/// fiftieth of one processor.
actor EntityCache {
    /// Links are counted as long as that takes together; those of what is left then have no counts.
    private static let linkTime = Duration.seconds(1)

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
            var summaries = try await pool.read { reader, interruption in try reader.entitySummaries(interruption) }
            await Self.countLinks(of: &summaries, pool)
            return summaries
        }
        reading = (task, generation)
        defer { if reading?.generation == generation { reading = nil } }
        let start = ContinuousClock.now
        let summaries = try await task.value
        next = .now + max(.seconds(1), start.duration(to: .now) * 50)
        (known, self.generation) = (summaries, generation)
        return summaries
    }

    private static func countLinks(of summaries: inout [EntitySummary], _ pool: ReaderPool) async {
        let end = ContinuousClock.now + linkTime
        for place in summaries.indices where !summaries[place].links.isEmpty {
            let (name, rest) = (summaries[place].entity.name, ContinuousClock.now.duration(to: end))
            guard rest > .zero,
                let counts = try? await pool.read(within: rest, { try $0.linkCounts(of: name, $1) })
            else { continue }
            for link in summaries[place].links.indices {
                summaries[place].links[link].count = counts[summaries[place].links[link].relationship.name]
            }
        }
    }
}
