import Foundation
import Synchronization

/// A PostgreSQL server in a temporary folder (`scripts/postgres-server`), which ends with this process, however that ends.
///
/// Tests share one, each with a database of its own; one that crashes its server starts another.
package final class PostgreSQLServer: Sendable {
    /// What the script could not do.
    package struct Failure: Error, CustomStringConvertible {
        package let ending: ChildProcess.Ending
        package let description: String
    }

    private static let common = Result { try PostgreSQLServer() }
    /// A server's data, which is copied for each server, as to make it takes much longer.
    private static let data = Result {
        let guardian = try Guardian()
        try output(of: [Guardian.script, "--no-install", guardian.directory.path, "make"])
        return guardian
    }

    /// Whether there is PostgreSQL, for `.enabled(if:)`; why not is in `unavailability`, and said on standard error.
    ///
    /// A server that there is, but that does not start, fails the tests instead.
    package static let isAvailable: Bool = {
        guard let unavailability else { return true }
        FileHandle.standardError.write(Data("Tests are skipped: \(unavailability)\n".utf8))
        return false
    }()

    /// Why there is no PostgreSQL; nil where there is.
    package static let unavailability: String? = {
        guard case .failure(let failure as Failure) = common, failure.ending == .exit(69) else { return nil }
        return failure.description
    }()

    /// The server that tests share, started when the first of them asks for it.
    package static func shared() throws -> PostgreSQLServer { try common.get() }

    /// The folder of its socket.
    package let folder: String
    /// Its database `postgres`.
    package var url: String { Self.url(of: "postgres", in: folder) }
    /// What a program needs in its environment to be let in.
    package var environment: [String: String] { ["PGPASSFILE": passwordFile] }
    /// The same for one that runs psql: what Debian has in its place, a program in Perl, takes many times as long to start.
    package var environmentWithPrograms: [String: String] {
        get throws {
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            return environment.merging(["PATH": "\(try Self.programs.get()):\(path)"]) { $1 }
        }
    }

    private let guardian: Guardian
    private let databases = Atomic<Int>(0)
    private let administration: PostgreSQLSession
    private var passwordFile: String { "\(folder)/pgpass" }

    /// Starts a server of one's own.
    ///
    /// - Parameter settings: `NAME=VALUE` as the server's documentation has them.
    package init(settings: [String] = []) throws {
        guardian = try Guardian()
        folder = guardian.directory.path
        try Self.output(of: ["cp", "-a", "\(Self.data.get().directory.path)/.", folder])
        administration = PostgreSQLSession("\(Self.url(of: "postgres", in: folder))&passfile=\(folder)/pgpass")
        try start(settings: settings)
    }

    /// Starts it again after `crash` or `stop`.
    package func start(settings: [String] = []) throws {
        // Its log takes memory, too.
        try control(["start", "min_wal_size=32MB", "max_wal_size=128MB"] + settings)
    }

    /// Ends it as if it had died.
    ///
    /// Connections break, and what is not committed is gone: not for the shared one.
    package func crash() throws { try control(["crash"]) }

    /// Ends it in order.
    ///
    /// Connections break, and what is not committed is rolled back: not for the shared one.
    package func stop() throws { try control(["stop"]) }

    /// Makes an empty database.
    ///
    /// - Returns: its URL, for `query` and for a program that has `environment`.
    package func makeDatabase() throws -> String {
        let name = "test_\(databases.add(1, ordering: .relaxed).newValue)"
        // The quickest way, which servers before version 15 have without a word.
        let isNamed =
            try administration.query("SELECT current_setting('server_version_num')::integer >= 150000") == [["t"]]
        try administration.query("CREATE DATABASE \(name)\(isNamed ? " STRATEGY FILE_COPY" : "")")
        return Self.url(of: name, in: folder)
    }

    /// A URL that is enough for libpq in this process, as it names the file of the password, too.
    package func withPasswordFile(_ url: String) -> String { "\(url)&passfile=\(passwordFile)" }

    /// Runs SQL by psql, which is independent of the code under test.
    ///
    /// - Parameters:
    ///   - texts: what is sent, one after the other on one connection; the statements of a text are one transaction.
    ///   - url: the database [postgres].
    /// - Returns: the rows, as psql shows their values; nil is NULL.
    /// - Throws: `Failure` with what the server says against it.
    @discardableResult
    package func query(_ texts: String..., in url: String? = nil) throws -> [[String?]] {
        let null = "NULL \(UUID().uuidString)"
        let options = ["-X", "-q", "-t", "--csv", "-v", "ON_ERROR_STOP=1", "-P", "null=\(null)"]
        let arguments = options + ["-d", url ?? self.url] + texts.flatMap { ["-c", $0] }
        let output = try Self.output(of: ["\(Self.programs.get())/psql"] + arguments, environment: environment)
        return fields(ofCSV: output).map { $0.map { $0 == null ? nil : $0 } }
    }

    /// A session of one's own with a database.
    package func session(with url: String) -> PostgreSQLSession { PostgreSQLSession(withPasswordFile(url)) }

    /// The folder of the server's own programs.
    private static let programs = Result {
        let setup = Project.root.appending(path: "scripts/setup.bash").path
        return try output(of: ["bash", "-c", #"source "$0"; printf %s "$(postgresql_programs)""#, setup])
    }

    private static func url(of database: String, in folder: String) -> String {
        "postgresql://importer@/\(database)?host=\(folder)"
    }

    @discardableResult
    private func control(_ arguments: [String]) throws -> String {
        try Self.output(of: [Guardian.script, "--no-install", folder] + arguments)
    }

    @discardableResult
    private static func output(of command: [String], environment: [String: String] = [:]) throws -> String {
        let result = try ChildProcess(command, environment: environment).wait()
        guard result.ending == .exit(0) else {
            throw Failure(ending: result.ending, description: "\(result.errorText)\(result.ending)")
        }
        return result.outputText
    }
}

/// Ends a server and removes its folder when it goes, or when this process has ended in whatever way.
private final class Guardian: Sendable {
    static let script = Project.root.appending(path: "scripts/postgres-server").path

    /// Where files are in memory, if there is room: on a disk, a third of a server's time is spent on files that imports make and
    /// remove.
    private static let memory: URL? = {
        let url = URL(filePath: "/dev/shm")
        let values = try? FileManager.default.attributesOfFileSystem(forPath: url.path)
        guard let free = values?[.systemFreeSize] as? NSNumber, free.int64Value > 4 << 30 else { return nil }
        return url
    }()

    /// Goes after the server has ended.
    let directory: TemporaryDirectory
    /// No other process has it: where it is closed, the shell that reads its other end goes on.
    private let socket: Int32
    private let processIdentifier: pid_t

    init() throws {
        directory = try TemporaryDirectory(in: Self.memory)
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw NeverCame("a pair of sockets: \(errno)")
        }
        defer { close(ends[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO)
        for number in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_WRONLY, 0)
        }
        // In a session of its own: what interrupts or kills the tests' group does not reach it.
        let text = #"cat; "$0" --no-install "$1" crash; rm -rf "$1""#
        let arguments = ["setsid", "sh", "-c", text, Self.script, directory.path]
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
        var status: Int32 = 0
        waitpid(processIdentifier, &status, 0)
    }
}

/// The fields of each line of CSV as psql writes it: a line ends with a line feed that is not in quotes.
private func fields(ofCSV text: String) -> [[String]] {
    var lines: [[String]] = []
    var line: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var last: UInt8?
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "\""):
            isQuoted.toggle()
            // Quotes that end and begin again at once are one of the text.
            if isQuoted, last == byte { field.append(byte) }
        case UInt8(ascii: ",") where !isQuoted, UInt8(ascii: "\n") where !isQuoted:
            line.append(String(decoding: field, as: UTF8.self))
            field = []
            if byte == UInt8(ascii: "\n") {
                lines.append(line)
                line = []
            }
        default: field.append(byte)
        }
        last = byte
    }
    return lines
}
