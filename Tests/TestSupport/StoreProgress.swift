import Foundation

/// Waits for what a running import has made durable, so that a test can act in the middle of it.
package enum StoreProgress {
    /// Waits until the user tables hold at least `count` rows, and says how many they hold then.
    ///
    /// - Returns: nil if `child` ended before.
    package static func rows(in store: String, reach count: Int, of child: ChildProcess) throws -> Int? {
        try wait(["rows", store, "\(count)"], for: child).flatMap(Int.init)
    }

    /// Waits until the manifest in a chunk directory lists at least `count` sealed chunks.
    ///
    /// - Returns: false if `child` ended before.
    package static func chunks(in directory: String, reach count: Int, of child: ChildProcess) throws -> Bool {
        try wait(["chunks", directory, "\(count)"], for: child) != nil
    }

    /// Counts rows again and again while `child` runs.
    ///
    /// - Returns: the different counts that were seen, in order.
    package static func countsSeen(in store: String, while child: ChildProcess) throws -> [Int] {
        let text = try wait(["watch", store, "\(child.processIdentifier)"], for: nil) ?? ""
        return text.split(separator: "\n").compactMap { Int($0) }
    }

    private static func wait(_ arguments: [String], for child: ChildProcess?) throws -> String? {
        let watcher = try ChildProcess([Project.python, Project.check("store_progress.py")] + arguments)
        while watcher.isRunning {
            if let child, !child.isRunning {
                watcher.signal(SIGKILL)
                watcher.wait()
                return nil
            }
            usleep(500)
        }
        let result = watcher.wait()
        guard result.ending == .exit(0) else { throw StoreContent.Failure(description: result.errorText) }
        return result.outputText.trimmingCharacters(in: .newlines)
    }
}
