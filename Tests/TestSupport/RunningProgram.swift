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
func accountOfThreads(of identifier: pid_t) -> String {
    let tasks = "/proc/\(identifier)/task"
    let threads = ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).sorted()
    guard !threads.isEmpty else { return "process \(identifier) is not there" }
    return threads.map { thread in
        func text(_ name: String) -> String {
            let text = try? String(contentsOfFile: "\(tasks)/\(thread)/\(name)", encoding: .utf8)
            return text?.trimmingCharacters(in: .newlines) ?? "?"
        }
        let state = processState("\(tasks)/\(thread)").map(String.init) ?? "?"
        return "thread \(thread): \(text("comm")) \(state) \(text("wchan")) \(text("syscall"))"
    }.joined(separator: "\n")
}

/// The state of a process or thread as `proc(5)` has it; nil where there is none.
///
/// - Parameter directory: its own under `/proc`.
package func processState(_ directory: String) -> Character? {
    guard let text = try? String(contentsOfFile: "\(directory)/stat", encoding: .utf8) else { return nil }
    // A name may have any characters.
    return text.split(separator: ")").last?.first { $0 != " " }
}
