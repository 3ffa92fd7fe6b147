import Foundation
import Synchronization
import TestSupport

/// What this process writes to standard error.
enum StandardError {
    // It is the process's: one at a time.
    private static let lock = Mutex(())

    /// What is written while `body` runs, by whichever thread.
    static func text(_ body: () throws -> Void) throws -> String {
        try lock.withLock { _ in
            let directory = try TemporaryDirectory()
            let file = try directory.write("", to: "stderr")
            let kept = dup(STDERR_FILENO)
            let descriptor = open(file, O_WRONLY | O_APPEND | O_CLOEXEC)
            dup2(descriptor, STDERR_FILENO)
            defer {
                dup2(kept, STDERR_FILENO)
                close(kept)
                close(descriptor)
            }
            try body()
            return try String(contentsOfFile: file, encoding: .utf8)
        }
    }
}
