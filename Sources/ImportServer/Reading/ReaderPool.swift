import Importer

/// The connections by which requests read the store: a few, each for one request at a time.
///
/// A query is on a thread of its own, and stopped when it takes too long.
actor ReaderPool {
    /// So many requests read at a time.
    static let mostReaders = 4
    /// So many wait for their turn.
    static let mostWaiting = 64
    /// A query takes no longer.
    static let limit = Duration.seconds(10)

    private let store: String
    private let limit: Duration
    private var idle: [StoreReader] = []
    private var free = ReaderPool.mostReaders
    private var isClosed = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(store: String, limit: Duration = ReaderPool.limit) {
        self.store = store
        self.limit = limit
    }

    /// Calls `body` on a thread of its own.
    ///
    /// - Parameters:
    ///   - shorter: stops it after this time already; nil for no other than all have.
    ///   - body: gets a reader that nobody else uses meanwhile, and what ends it.
    /// - Throws: `ResponseError` where too many wait, or it takes too long; what `body` throws.
    func read<Result: Sendable>(
        within shorter: Duration? = nil,
        _ body: @escaping @Sendable (StoreReader, Interruption) throws -> Result
    ) async throws -> Result {
        try await enter()
        defer { leave() }
        let (store, known, limit) = (store, idle.popLast(), shorter ?? limit)
        let interruption = Interruption()
        let alarm = Task {
            try await Task.sleep(for: limit)
            interruption.request(.interrupt)
        }
        defer { alarm.cancel() }
        do {
            let (reader, result) = try await SystemThread.run(to: "read the store", interruption) {
                let reader = try known.flatMap { $0.isInPlace ? $0 : nil } ?? StoreReader(awaiting: store)
                return (reader, try body(reader, interruption))
            }
            if !isClosed { idle.append(reader) }
            return result
        } catch let error as ImportError where error.isInterruption {
            throw ResponseError.tooSlow(limit)
        }
    }

    /// Closes the connections that are idle, and each of the others when its request is answered.
    func close() {
        isClosed = true
        idle = []
    }

    private func enter() async throws {
        guard free == 0 else {
            free -= 1
            return
        }
        guard waiting.count < Self.mostWaiting else {
            throw ResponseError(.unavailable, code: "busy", "too many queries are waiting", advice: "Try again later.")
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
