import Dispatch
import Foundation
import Synchronization

/// Runs Python programs by interpreters that stay (`Tests/Checks/resident.py`): starting one takes longer than most programs
/// run.
package enum Python {
    /// Those that have nothing to do.
    ///
    /// Each of them runs one program at a time, so there are as many as tests at a time.
    private static let idle = Mutex<[Interpreter]>([])

    /// Runs a program of `Tests/Checks` to its end.
    @discardableResult
    package static func run(
        _ check: String,
        _ arguments: [String] = [],
        input: String = "/dev/null"
    ) throws -> ChildProcess.Result {
        try run(program: Project.check(check), arguments, input: input)
    }

    /// Runs a text to its end.
    @discardableResult
    package static func run(text: String, _ arguments: [String] = []) throws -> ChildProcess.Result {
        try run(program: text + "\n", arguments, input: "/dev/null")
    }

    private static func run(program: String, _ arguments: [String], input: String) throws -> ChildProcess.Result {
        // One that does not answer is not used again.
        let interpreter = try idle.withLock { $0.popLast() } ?? Interpreter()
        let result = try interpreter.run(Request(program: program, arguments: arguments, input: input))
        idle.withLock { $0.append(interpreter) }
        return result
    }
}

/// What is asked of an interpreter.
private struct Request {
    let program: String
    let arguments: [String]
    let input: String
}

/// A Python that waits for requests; it ends with this process.
private final class Interpreter: Sendable {
    private struct Line: Encodable {
        let program: String
        let arguments: [String]
        let input, output, errors: String
    }

    private let socket: Int32
    private let processIdentifier: pid_t

    init() throws {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw NeverCame("a pair of sockets: \(errno)")
        }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for number in [STDIN_FILENO, STDOUT_FILENO] { posix_spawn_file_actions_adddup2(&actions, ends[1], number) }
        let arguments = [Project.python, "-B", Project.check("resident.py")]
        let pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var identifier: pid_t = 0
        let code = posix_spawnp(&identifier, arguments[0], &actions, nil, pointers, environ)
        guard code == 0 else {
            close(ends[0])
            throw ChildProcess.StartFailure(command: arguments, code: code)
        }
        socket = ends[0]
        processIdentifier = identifier
    }

    deinit {
        close(socket)
        kill(processIdentifier, SIGKILL)
        var status: Int32 = 0
        waitpid(processIdentifier, &status, 0)
    }

    func run(_ request: Request) throws -> ChildProcess.Result {
        let directory = try TemporaryDirectory()
        let line = Line(
            program: request.program,
            arguments: request.arguments,
            input: request.input,
            output: directory.path("output"),
            errors: directory.path("errors")
        )
        try send(JSONEncoder().encode(line) + [UInt8(ascii: "\n")])
        let code = try receive()
        func written(_ path: String) -> Data { (try? Data(contentsOf: URL(filePath: path))) ?? Data() }
        return ChildProcess.Result(
            ending: code < 0 ? .signal(-code) : .exit(code),
            output: written(line.output),
            errors: written(line.errors)
        )
    }

    private func send(_ bytes: Data) throws {
        var rest = [UInt8](bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 || errno == EINTR else { throw NeverCame("Python takes no request: \(errno)") }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    /// The line that answers a request.
    private func receive() throws -> Int32 {
        var answer: [UInt8] = []
        while answer.last != UInt8(ascii: "\n") {
            var readable = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&readable, 1, Int32(patience.components.seconds * 1_000)) > 0 || errno == EINTR else {
                throw NeverCame("Python's answer")
            }
            var byte: UInt8 = 0
            let count = recv(socket, &byte, 1, Int32(MSG_DONTWAIT))
            guard count != 0 else { throw NeverCame("Python has ended") }
            if count == 1 { answer.append(byte) }
        }
        guard let code = Int32(String(decoding: answer.dropLast(), as: UTF8.self)) else {
            throw NeverCame("a code of Python's")
        }
        return code
    }
}

/// Runs a program to its end, and gives back how many bytes of memory it had at most.
///
/// - Throws: `StoreContent.Failure` where it ends with another exit code than 0.
package func peakMemory(of command: [String]) throws -> Int {
    let result = try Python.run("peak_memory.py", command)
    guard result.ending == .exit(0), let peak = Int(result.outputText.trimmingCharacters(in: .newlines)) else {
        throw StoreContent.Failure("\(result.ending): \(result.errorText)")
    }
    return peak
}
