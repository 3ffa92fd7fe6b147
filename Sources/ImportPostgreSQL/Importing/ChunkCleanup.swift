import Dispatch
import Importer
import Synchronization

/// Removes chunks that are committed, while those who have committed them go on.
final class ChunkCleanup: Sendable {
    private let directory: ChunkDirectory
    private let queue = DispatchQueue(label: "chunk removal", qos: .utility)
    private let failure = Mutex<(any Error)?>(nil)

    init(_ directory: ChunkDirectory) {
        self.directory = directory
    }

    /// Removes a chunk, soon.
    ///
    /// - Throws: the error of one before it.
    func remove(_ number: Int) throws {
        try check()
        queue.async { [self] in
            do {
                try directory.remove(chunk: number)
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
        }
    }

    /// Waits until all are removed.
    ///
    /// - Throws: the first error.
    func finish() throws {
        queue.sync {}
        try check()
    }

    private func check() throws {
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
