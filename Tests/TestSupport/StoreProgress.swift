import Foundation

/// Waits for what an import makes durable, so that a test can act in the middle of it.
///
/// Begin before the import does, so that nothing is missed: an import of a few thousand records takes no longer than
/// this takes to start.
package final class StoreProgress: Sendable {
    private let watcher: ChildProcess

    private init(_ arguments: [String]) throws {
        watcher = try ChildProcess([Project.python, Project.check("store_progress.py")] + arguments)
        while watcher.isRunning, !watcher.outputSoFar.contains("ready") { usleep(500) }
    }

    /// Waits for the user tables of a store to hold at least `count` rows.
    package static func rows(in store: String, reach count: Int) throws -> StoreProgress {
        try StoreProgress(["rows", store, "\(count)"])
    }

    /// Waits for the manifest in a chunk directory to list at least `count` sealed chunks.
    package static func chunks(in directory: String, reach count: Int) throws -> StoreProgress {
        try StoreProgress(["chunks", directory, "\(count)"])
    }

    /// Waits until it is so.
    ///
    /// - Returns: what there was then (rows, or chunks); nil if `child` ended before.
    package func reached(by child: ChildProcess) throws -> Int? {
        while watcher.isRunning {
            if !child.isRunning {
                watcher.signal(SIGKILL)
                watcher.wait()
                return nil
            }
            usleep(500)
        }
        let result = watcher.wait()
        guard result.ending == .exit(0) else { throw StoreContent.Failure(result.errorText) }
        return result.outputText.split(separator: "\n").last.flatMap { Int($0) }
    }

    /// Runs a command that imports into a store, and kills it when the store's user tables hold `rows` rows and a while has
    /// passed.
    ///
    /// - Parameter microseconds: how long to wait then, so that it is killed at various places of what comes afterwards.
    /// - Returns: whether it was killed; not so if it ended before.
    package static func kills(
        _ command: [String],
        in store: String,
        atRows rows: Int,
        after microseconds: Int
    ) throws -> Bool {
        let progress = try StoreProgress.rows(in: store, reach: rows)
        let child = try ChildProcess(command)
        _ = try progress.reached(by: child)
        usleep(useconds_t(microseconds))
        child.signal(SIGKILL)
        return child.wait().ending == .signal(SIGKILL)
    }

    /// Counts rows again and again while `child` runs.
    ///
    /// - Returns: the different counts that were seen, in order.
    package static func countsSeen(in store: String, while child: ChildProcess) throws -> [Int] {
        let watch = try StoreProgress(["watch", store, "\(child.processIdentifier)"])
        while child.isRunning { usleep(500) }
        let result = watch.watcher.wait()
        guard result.ending == .exit(0) else { throw StoreContent.Failure(result.errorText) }
        return result.outputText.split(separator: "\n").compactMap { Int($0) }
    }
}
