import Foundation
import TestSupport
import Testing

/// A server's schema knows its sources as a store does.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGKnownSourceTests {
    private let directory: TemporaryDirectory
    private let database: PGDatabase

    init() throws {
        directory = try TemporaryDirectory()
        database = try PGDatabase()
        try FileManager.default.createDirectory(atPath: directory.path("logs"), withIntermediateDirectories: true)
    }

    private func night(_ options: String...) throws -> ChildProcess.Result {
        try database.importer(["import", directory.path("logs"), "--into", database.url, "--entity", "log"] + options)
    }

    private func write(_ ids: ClosedRange<Int>, _ rest: String = "", to name: String) throws {
        try directory.write(ids.map { "{\"id\":\($0)}\n" }.joined() + rest, to: "logs/\(name)")
    }

    private func ids() throws -> String { try database.query("SELECT string_agg(id::text, ' ' ORDER BY id) FROM log") }

    @Test func eachNightBringsWhatIsNew() throws {
        try write(1...3, to: "app.ndjson")
        #expect(try night().ending == .exit(0))
        try write(4...4, to: "web.ndjson")
        try write(1...3, "{\"id\":5}\n", to: "app.ndjson")
        let grown = try night()
        #expect(grown.ending == .exit(0) && grown.errorText.contains("has grown"), "\(grown.errorText)")
        #expect(try ids() == "1 2 3 4 5")
        // Rotated, in the middle of a line.
        try write(1...3, "{\"id\":5}\n{\"id\":", to: "app.ndjson")
        #expect(try night().ending == .exit(65))
        try FileManager.default.removeItem(atPath: directory.path("logs/app.ndjson"))
        try write(1...3, "{\"id\":5}\n{\"id\":6}\n", to: "app.1.ndjson")
        try write(7...7, to: "app.ndjson")
        let rotated = try night()
        #expect(rotated.ending == .exit(0), "\(rotated.errorText)")
        #expect(rotated.errorText.contains("the import goes on in it"), "\(rotated.errorText)")
        #expect(try ids() == "1 2 3 4 5 6 7")
        #expect(try night().outputText.contains("already"))
        #expect(try ids() == "1 2 3 4 5 6 7")
        try write(8...9, to: "web.ndjson")
        let changed = try night()
        #expect(changed.ending == .exit(65) && changed.errorText.contains("--again"), "\(changed.errorText)")
        #expect(try night("--replace-source").ending == .exit(64))
        #expect(try database.isVerified())
    }
}
