import Foundation

/// A terminal of its own for a command (tmux), whose screen can be read and whose keys can be pressed.
///
/// Nothing waits for a time: anyone who presses a key waits for what it does.
package final class TerminalSession: Sendable, RunningProgram {
    /// Whether there is a tmux, for `.enabled(if:)`.
    package static let isPossible: Bool = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/tmux") }
    }()

    private let directory: TemporaryDirectory
    private var socket: String { directory.path("t") }

    /// Runs a shell command in a terminal.
    ///
    /// - Parameters:
    ///   - command: for `sh`; its process is the one that signals reach.
    ///   - environment: set for it; `NO_COLOR` is not, unless it is among them.
    package init(
        _ command: String,
        columns: Int = 80,
        rows: Int = 24,
        environment: [String: String] = ["LC_ALL": "C.UTF-8"]
    ) throws {
        directory = try TemporaryDirectory()
        try directory.write("echo $$ > '\(directory.path("pid"))'\nexec \(command)\n", to: "command")
        let variables = environment.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
        // The modes before and after, the exit code, and a terminal that stays to be looked at. Ctrl-C reaches this shell
        // too, which is to continue, and not to have it ignored by what it starts. The Swift runtime's handler of crashes would
        // stop on a terminal and ask what to do. No terminal outlives a test that was killed.
        let script = """
            trap : INT QUIT
            ulimit -c 0
            cd '\(directory.path)'
            (while kill -0 \(getpid()); do sleep 2; done; tmux -S t kill-server) </dev/null >/dev/null 2>&1 &
            stty -g > before
            env -u NO_COLOR SWIFT_BACKTRACE=enable=no \(variables) sh command
            echo $? > status.part
            stty -g > after
            mv status.part status
            exec cat
            """
        let file = try directory.write(script, to: "script")
        try tmux(["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "sh", file])
    }

    deinit {
        // What is stopped would not see its terminal go.
        if let identifier = knownProcessIdentifier, processState("/proc/\(identifier)") == "T" {
            kill(identifier, SIGCONT)
        }
        _ = try? tmux(["kill-server"])
    }

    // MARK: The screen

    /// The rows of the screen, without the spaces at their ends.
    package func screen() throws -> [String] {
        try tmux(["capture-pane", "-p"]).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
            String($0)
        }
    }

    /// The screen with the sequences that its colours and styles take.
    package func styledScreen() throws -> String { try tmux(["capture-pane", "-p", "-e"]) }

    /// All that was printed, scrolled away or not, with lines as they were before they had to be broken.
    package func transcript() throws -> String { try tmux(["capture-pane", "-p", "-J", "-S", "-"]) }

    /// Waits for the screen to be as wanted, and gives it back.
    ///
    /// A screen that is just being drawn is seen too: all that is wanted must be wanted of one and the same screen.
    @discardableResult
    package func screen(_ what: String, until isWanted: ([String]) throws -> Bool) throws -> [String] {
        try wait(for: what) {
            let lines = try screen()
            return try isWanted(lines) ? lines : nil
        }
    }

    /// Waits for a text to have been printed.
    package func printed(_ text: String) throws {
        try wait(for: text) { try transcript().contains(text) ? true : nil }
    }

    /// The column in which a word begins, from 0, as the terminal counts them; nil where it is not on the screen.
    ///
    /// - Parameter word: ASCII letters and digits.
    package func column(of word: String) throws -> Int? {
        try tmux(["copy-mode"])
        try tmux(["send-keys", "-X", "search-backward", word])
        let found = try tmux(["display-message", "-p", "#{copy_cursor_word} #{copy_cursor_x}"])
        try tmux(["send-keys", "-X", "cancel"])
        let parts = found.split(whereSeparator: \.isWhitespace)
        return parts.count == 2 && parts[0] == word ? Int(parts[1]) : nil
    }

    /// Whether something of the terminal is not as a shell has it: its alternate screen, its cursor, or lines that wrap.
    package func isTaken() throws -> Bool {
        try tmux(["display-message", "-p", "#{alternate_on} #{cursor_flag} #{wrap_flag}"]) != "0 1 1\n"
    }

    // MARK: What is done to it

    /// Presses keys, as tmux names them.
    package func press(_ keys: String...) throws {
        try tmux(["send-keys"] + keys)
    }

    /// Gives the terminal another size.
    package func resize(columns: Int, rows: Int) throws {
        try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// Sends the command's process a signal.
    package func signal(_ number: Int32) throws {
        kill(try processIdentifier(), number)
    }

    /// Stops the command's process, and waits until it is stopped.
    package func suspend() throws {
        let identifier = try processIdentifier()
        kill(identifier, SIGSTOP)
        try wait(for: "the stop") { processState("/proc/\(identifier)") == "T" ? true : nil }
    }

    /// Lets a suspended process continue.
    package func resume() throws {
        try signal(SIGCONT)
    }

    /// Takes the terminal away, as a window that is closed does, and waits for the command's process to end.
    package func close() throws {
        let identifier = try processIdentifier()
        try tmux(["kill-server"])
        // It has nobody left who asks for its status.
        try wait(for: "the end") { [nil, "Z", "X"].contains(processState("/proc/\(identifier)")) ? true : nil }
    }

    /// Whether the command has not ended yet.
    package var isRunning: Bool {
        get throws { try exitStatus() == nil }
    }

    package var account: String {
        let status = (try? exitStatus()).flatMap { $0 }
        let screen = (try? transcript()) ?? "there is no terminal"
        let state = knownProcessIdentifier.map(accountOfThreads) ?? "no process"
        return "exit code: \(status.map(String.init) ?? "none")\n\(state)\n\(screen)"
    }

    // MARK: The end

    /// The command's exit code as its shell has it; nil while it runs.
    package func exitStatus() throws -> Int? {
        guard FileManager.default.fileExists(atPath: directory.path("status")) else { return nil }
        return Int(try file("status").trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
    }

    /// Waits for the command to end.
    ///
    /// - Returns: its exit code.
    @discardableResult
    package func end() throws -> Int {
        try wait(for: "the end") { try exitStatus() }
    }

    /// Waits for the command to have ended and for the terminal's screen to be given back.
    ///
    /// - Returns: whether the terminal's modes are as they were before.
    package func isRestored() throws -> Bool {
        try end()
        // What was written last may still be on its way.
        try wait(for: "the terminal as it was") { try isTaken() ? nil : true }
        return try !file("before").isEmpty && file("before") == file("after")
    }

    // MARK: Parts

    @discardableResult
    private func wait<Result>(for what: String, _ body: () throws -> Result?) throws -> Result {
        try TestSupport.wait(for: what, instead: { account }, body)
    }

    private var knownProcessIdentifier: pid_t? {
        (try? file("pid")).flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    private func processIdentifier() throws -> pid_t {
        try wait(for: "a process") { knownProcessIdentifier }
    }

    private func file(_ name: String) throws -> String {
        try String(contentsOfFile: directory.path(name), encoding: .utf8)
    }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> String {
        // `-u`: this end takes UTF-8 whatever the locale.
        let result = try run(["tmux", "-u", "-f", "/dev/null", "-S", socket] + arguments)
        guard result.ending == .exit(0) else { throw NeverCame("tmux \(arguments): \(result.errorText)") }
        return result.outputText
    }
}
