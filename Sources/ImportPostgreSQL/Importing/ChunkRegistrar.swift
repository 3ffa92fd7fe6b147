import Foundation
import Importer

/// Puts chunks before the workers while the next ones are cut: each is on the disk when its row is there.
///
/// Those that wait are registered together: the disk and the server are waited for once.
final class ChunkRegistrar: Sendable {
    /// So many chunks may be cut and not registered.
    private static let capacity = 4

    private struct State {
        var waiting: [ChunkEntry] = []
        var isClosed = false
        var isDone = false
        var failure: (any Error)?
    }

    // Guarded by `condition`; a `Mutex` cannot be waited on.
    nonisolated(unsafe) private var state = State()
    private let condition = NSCondition()

    /// Starts a thread that registers what is put.
    ///
    /// - Parameter register: registers chunks, in order; called on that thread alone.
    /// - Throws: `ImportError` with `.noResources` when the system gives no thread.
    func start(_ register: @escaping ([ChunkEntry]) throws -> Void) throws {
        // Nobody else calls it.
        nonisolated(unsafe) let register = register
        try SystemThread.start(to: "register chunks") { [self] in
            do {
                while let entries = take() { try register(entries) }
                end(nil)
            } catch {
                end(error)
            }
        }
    }

    private func end(_ error: (any Error)?) {
        condition.withLock {
            state.failure = error
            state.isDone = true
            condition.broadcast()
        }
    }

    /// All that wait, and nil when no more come.
    private func take() -> [ChunkEntry]? {
        condition.withLock {
            while state.waiting.isEmpty, !state.isClosed { condition.wait() }
            guard !state.waiting.isEmpty else { return nil }
            defer {
                state.waiting.removeAll()
                condition.broadcast()
            }
            return state.waiting
        }
    }

    /// Adds a chunk; waits while many do.
    ///
    /// - Throws: the error that has ended the registering.
    func put(_ entry: ChunkEntry) throws {
        try condition.withLock {
            while state.failure == nil, state.waiting.count >= Self.capacity { condition.wait() }
            if let failure = state.failure { throw failure }
            state.waiting.append(entry)
            condition.broadcast()
        }
    }

    /// Waits until all that was put is registered.
    ///
    /// - Throws: the error that has ended the registering.
    func finish() throws {
        try condition.withLock {
            state.isClosed = true
            condition.broadcast()
            while !state.isDone { condition.wait() }
            if let failure = state.failure { throw failure }
        }
    }
}
