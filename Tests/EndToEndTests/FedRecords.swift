import Foundation
import TestSupport

/// Records on a pipe, which an import reads as far as a test feeds it.
final class FedRecords {
    private static let entity = """
        {"entities": {"people": {"records": "$", "identifier": ["id"], "attributes": {"id": {"type": "integer64"},
        "city": {"type": "string"}, "age": {"type": "integer16"}, "note": {"type": "string"}}}}}
        """
    /// Names that are wide, combined, and meant for the terminal.
    private static let cities = [
        "Oslo", "東京", "e\u{301}vian", "\\u001b[2J\\u0007\\u009b31m\\u202e", "👨‍👩‍👧",
    ]
    /// An import looks into the first MiB before it begins.
    private static let padding = ", \"pad\": \"\(String(repeating: "x", count: 8_000))\""
    /// So many make more than that.
    static let first = 200

    let store: String
    /// How many have been fed.
    private(set) var count = 0
    /// It goes with the last who holds it.
    private let directory: TemporaryDirectory
    private let pipe: String
    private let model: String
    private var descriptor: Int32
    private var reader: (any RunningProgram)?

    init(_ directory: TemporaryDirectory) throws {
        self.directory = directory
        store = directory.path("store.sqlite")
        model = try directory.write(Self.entity, to: "model.json")
        pipe = directory.path("pipe-\(UUID().uuidString)")
        guard mkfifo(pipe, 0o600) == 0 else { throw StoreContent.Failure("mkfifo: \(errno)") }
        // For both directions, so that neither end waits for the other to be opened.
        descriptor = open(pipe, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw StoreContent.Failure("\(pipe): \(errno)") }
    }

    deinit { close() }

    private var arguments: [String] {
        ["import", "-", "--into", store, "--model", model, "--chunk-size", "20K", "--commit-every", "10"]
    }

    /// Starts to import them.
    func startImport(_ options: [String] = []) throws -> ChildProcess {
        let child = try ChildProcess([Project.importer] + arguments + options, input: pipe)
        reader = child
        return child
    }

    /// The same in a terminal, and with a live view in it.
    func startWatchedImport() throws -> TerminalSession {
        let command = ([Project.importer] + arguments + ["--watch"]).map { "'\($0)'" }.joined(separator: " ")
        let session = try TerminalSession("\(command) < '\(pipe)'")
        reader = session
        return session
    }

    /// Feeds more of them, and waits until they are in the pipe or read.
    ///
    /// - Throws: `NeverCame` with what the import has to say where it has ended, or does not read.
    func feed(_ more: Int) throws {
        for number in count + 1...count + more { try feed(text: Self.record(number, Self.padding)) }
        count += more
    }

    /// Feeds anything.
    func feed(text: String) throws {
        var rest = Array(text.utf8)[...]
        let deadline = ContinuousClock.now + patience
        while !rest.isEmpty {
            let (written, code) = rest.withUnsafeBytes { (write(descriptor, $0.baseAddress, $0.count), errno) }
            if written > 0 {
                rest = rest.dropFirst(written)
                continue
            }
            guard code == EAGAIN else { throw NeverCame("the pipe cannot be written: \(code)") }
            guard try reader?.isRunning ?? true, ContinuousClock.now < deadline else {
                throw NeverCame("nothing reads the pipe\n" + (reader?.account ?? "nothing was started"))
            }
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&room, 1, 1_000)
        }
    }

    /// Ends them.
    func close() {
        guard descriptor >= 0 else { return }
        _ = Foundation.close(descriptor)
        descriptor = -1
    }

    /// What a watcher says of them at the end.
    var endText: String {
        let digits = String(count)
        return (count < 1_000 ? digits : "\(digits.dropLast(3)),\(digits.suffix(3))") + " records, done in"
    }

    /// The rows that come of those that were fed.
    var rowCount: Int { (1...count).filter { !Self.isReject($0) }.count }

    /// Imports some of them to the end.
    ///
    /// - Returns: the store.
    static func finishedStore(_ directory: TemporaryDirectory, count: Int = 400) throws -> String {
        let store = directory.path("store.sqlite")
        let source = try directory.write((1...count).map { record($0) }.joined(), to: "people.ndjson")
        let model = try directory.write(Self.entity, to: "model.json")
        let result = try runImporter("import", source, "--into", store, "--model", model)
        guard result.ending == .exit(0) else { throw StoreContent.Failure(result.errorText) }
        return store
    }

    private static func record(_ number: Int, _ padding: String = "") -> String {
        let age = isReject(number) ? "\"old\"" : "\(number % 90)"
        return """
            {"id": \(number), "city": "\(cities[number % cities.count])", "age": \(age), "note": "n\(number)e"\(padding)}

            """
    }

    private static func isReject(_ number: Int) -> Bool { number % 50 == 7 }
}
