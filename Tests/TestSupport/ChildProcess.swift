import Dispatch
import Foundation
import Synchronization

/// A program that runs beside the test: started, watched, signalled and waited for.
///
/// Its output goes to files, so that no amount of it can block either side.
package final class ChildProcess: Sendable, RunningProgram {
    /// How a process ended.
    package enum Ending: Sendable, Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    /// What a process that has ended left behind.
    package struct Result: Sendable {
        package let ending: Ending
        package let output: Data
        package let errors: Data

        package var outputText: String { String(decoding: output, as: UTF8.self) }
        package var errorText: String { String(decoding: errors, as: UTF8.self) }
    }

    /// A start that the system refused.
    package struct StartFailure: Error {
        package let command: [String]
        package let code: Int32
    }

    package let processIdentifier: pid_t
    private let directory: TemporaryDirectory
    private let finished = Mutex<Ending?>(nil)

    /// Starts `arguments[0]` with the rest as its arguments.
    ///
    /// - Parameters:
    ///   - arguments: the program, looked up in `PATH`, and its arguments.
    ///   - input: a path to read standard input from; a named pipe is opened when its other end is.
    ///   - environment: added to this process's own.
    /// - Throws: `StartFailure`.
    package init(
        _ arguments: [String],
        input: String = "/dev/null",
        environment: [String: String] = [:]
    ) throws {
        directory = try TemporaryDirectory()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        let writing = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 1, directory.path("output"), writing, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, directory.path("errors"), writing, 0o600)

        // A test runner may have been started with signals ignored (nohup, CI); the child must not inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))

        var variables = ProcessInfo.processInfo.environment
        variables.merge(environment) { $1 }
        let argumentPointers = arguments.map { strdup($0) } + [nil]
        let variablePointers = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            for pointer in argumentPointers + variablePointers { free(pointer) }
        }
        var identifier: pid_t = 0
        let code = posix_spawnp(
            &identifier,
            arguments[0],
            &actions,
            &attributes,
            argumentPointers,
            variablePointers
        )
        guard code == 0 else { throw StartFailure(command: arguments, code: code) }
        processIdentifier = identifier
    }

    deinit {
        if finished.withLock({ $0 }) == nil {
            kill(processIdentifier, SIGKILL)
            kill(processIdentifier, SIGCONT)
            _ = ending(options: 0)
        }
    }

    /// Sends a signal.
    package func signal(_ number: Int32) {
        finished.withLock { state in
            if state == nil { _ = kill(processIdentifier, number) }
        }
    }

    /// Whether it has not ended yet.
    package var isRunning: Bool { ending(options: WNOHANG) == nil }

    package var account: String {
        let state = ending(options: WNOHANG).map { "\($0)" } ?? accountOfThreads(of: processIdentifier)
        return "\(state)\n\(outputSoFar)\(errorsSoFar)"
    }

    /// What it has written to standard output so far.
    package var outputSoFar: String { String(decoding: written(to: "output"), as: UTF8.self) }

    /// What it has written to standard error so far.
    package var errorsSoFar: String { String(decoding: written(to: "errors"), as: UTF8.self) }

    /// Waits until it has ended; one that takes longer than `patience` is killed, and ends with that signal.
    @discardableResult
    package func wait() -> Result {
        block(until: WEXITED)
        return Result(
            ending: ending(options: 0) ?? .signal(SIGKILL),
            output: written(to: "output"),
            errors: written(to: "errors")
        )
    }

    /// Stops it where it is and waits for that.
    ///
    /// - Returns: whether it is stopped; not so where it had ended before.
    package func suspend() -> Bool {
        signal(SIGSTOP)
        return isStopped()
    }

    /// Waits until it is stopped, or has ended; one for which neither happens in `patience` is killed.
    ///
    /// - Returns: whether it is stopped.
    package func isStopped() -> Bool {
        while true {
            block(until: WEXITED | WSTOPPED)
            let state: Bool? = finished.withLock { finished in
                guard finished == nil else { return false }
                var status: Int32 = 0
                guard waitpid(processIdentifier, &status, WNOHANG | WUNTRACED) == processIdentifier else { return nil }
                if status & 0xff == 0x7f { return true }
                finished = Self.ending(status)
                return false
            }
            if let state { return state }
        }
    }

    /// Lets a suspended process continue.
    package func resume() {
        signal(SIGCONT)
    }

    /// Waits for one of these of `waitid(2)`, which is still there to be asked for then.
    private func block(until events: Int32) {
        guard finished.withLock({ $0 }) == nil else { return }
        let guardian = DispatchSource.makeTimerSource()
        guardian.schedule(deadline: .now() + .seconds(Int(patience.components.seconds)))
        guardian.setEventHandler { [self] in signal(SIGKILL) }
        guardian.activate()
        defer { guardian.cancel() }
        var what = siginfo_t()
        while waitid(P_PID, id_t(processIdentifier), &what, events | WNOWAIT) == -1, errno == EINTR {}
    }

    private func written(to name: String) -> Data {
        (try? Data(contentsOf: URL(filePath: directory.path(name)))) ?? Data()
    }

    private func ending(options: Int32) -> Ending? {
        finished.withLock { state in
            if let state { return state }
            var status: Int32 = 0
            guard waitpid(processIdentifier, &status, options) == processIdentifier else { return nil }
            let ending = Self.ending(status)
            state = ending
            return ending
        }
    }

    private static func ending(_ status: Int32) -> Ending {
        let number = status & 0x7f
        return number == 0 ? .exit((status >> 8) & 0xff) : .signal(number)
    }
}

/// Runs a program to its end.
@discardableResult
package func run(
    _ arguments: [String],
    input: String = "/dev/null"
) throws -> ChildProcess.Result {
    try ChildProcess(arguments, input: input).wait()
}

/// Runs the built `importer` to its end.
@discardableResult
package func runImporter(
    _ arguments: String...,
    input: String = "/dev/null"
) throws -> ChildProcess.Result {
    try run([Project.importer] + arguments, input: input)
}
