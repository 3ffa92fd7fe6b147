import Foundation

/// A program that runs beside a test.
package protocol RunningProgram {
    /// Whether it has not ended yet.
    var isRunning: Bool { get throws }

    /// What it does and what it has said so far, for the message of a test that waited for it in vain.
    var account: String { get }
}

/// What each thread of a process is doing, a line each, as `proc(5)` has it: its name, its state, where it waits in the
/// kernel, and the call that it waits in.
package func accountOfThreads(of identifier: pid_t) -> String {
    let tasks = "/proc/\(identifier)/task"
    let threads = ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).sorted()
    guard !threads.isEmpty else { return "process \(identifier) is not there" }
    return threads.map { thread in
        let parts = ["comm", "stat", "wchan", "syscall"].map { name in
            let text = (try? String(contentsOfFile: "\(tasks)/\(thread)/\(name)", encoding: .utf8)) ?? "?"
            let line = text.split(separator: "\n").first.map(String.init) ?? ""
            return name == "stat" ? String(line.split(separator: ")").last?.first { $0 != " " } ?? "?") : line
        }
        return "thread \(thread): " + parts.joined(separator: " ")
    }.joined(separator: "\n")
}
