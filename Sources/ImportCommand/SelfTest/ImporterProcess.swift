import Foundation
import Importer

/// This program as a child process of its own, with its output in a file.
final class ImporterProcess {
    enum Ending: Equatable {
        case exit(Int32)
        case signal(Int32)

        var text: String {
            switch self {
            case .exit(let code): "exit code \(code)"
            case .signal(let number): "signal \(number)"
            }
        }
    }

    /// Where the output of all of them goes, in their folder.
    static let output = "output.txt"
    /// What `ulimit -f` counts in (POSIX), in bytes.
    static let blockBytes = 512

    private let identifier: pid_t
    private(set) var ending: Ending?

    /// Starts it.
    ///
    /// - Parameters:
    ///   - program: the path of the executable.
    ///   - folder: its working directory, which is also its temporary directory.
    ///   - input: what is piped into standard input; nil for nothing.
    ///   - blocks: the largest file that it may write; nil for any.
    /// - Throws: `ImportError` if the system does not start it.
    init(_ program: String, _ arguments: [String], in folder: String, input: Data?, blocks: Int?) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var ends: [Int32] = [-1, -1]
        if input == nil {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        } else {
            guard pipe(&ends) == 0 else { throw ImportError.system(errno, "open a pipe for", program) }
            // No other thread starts processes.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        }
        posix_spawn_file_actions_addopen(&actions, 1, "\(folder)/\(Self.output)", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)

        // In a group of its own: Ctrl-C is for this process, which ends the other one.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETPGROUP))

        // The shell becomes the importer: it is the way to a working directory and a limit that are not this process's own.
        let limit = blocks.map { "ulimit -f \($0) && " } ?? ""
        let words = ["/bin/sh", "-c", "cd \"$0\" && \(limit)exec \"$@\"", folder, program] + arguments
        var variables = ProcessInfo.processInfo.environment
        variables["TMPDIR"] = folder
        let argumentPointers = words.map { strdup($0) } + [nil]
        let variablePointers = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in argumentPointers + variablePointers { free(pointer) } }
        var started: pid_t = 0
        let code = posix_spawn(&started, words[0], &actions, &attributes, argumentPointers, variablePointers)
        if input != nil { close(ends[0]) }
        guard code == 0 else {
            if input != nil { close(ends[1]) }
            throw ImportError.system(code, "run", words[0])
        }
        identifier = started
        guard let input else { return }
        let end = Descriptor(owning: ends[1])
        // It ends with the process that reads.
        try SystemThread.start(to: "feed an import") {
            _ = input.withUnsafeBytes { RawOutput.writeAll($0, to: end.number) }
        }
    }

    deinit { kill() }

    /// True if it has ended.
    var hasEnded: Bool { waited(WNOHANG) }

    func send(_ signal: Int32) {
        if ending == nil { _ = Foundation.kill(identifier, signal) }
    }

    /// Kills it, and waits for its end.
    func kill() {
        send(SIGKILL)
        _ = waited(0)
    }

    private func waited(_ options: Int32) -> Bool {
        guard ending == nil else { return true }
        var status: Int32 = 0
        var found: pid_t
        repeat { found = waitpid(identifier, &status, options) } while found < 0 && errno == EINTR
        guard found == identifier else { return false }
        let signal = status & 0x7F
        ending = signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
        return true
    }
}
