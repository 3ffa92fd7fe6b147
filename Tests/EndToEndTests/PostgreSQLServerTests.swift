import Foundation
import TestSupport
import Testing

/// The servers and the proxy that other tests rely on.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PostgreSQLServerTests {
    @Test func databasesAreApart() throws {
        let server = try PostgreSQLServer.shared()
        let databases = try [server.makeDatabase(), server.makeDatabase()]
        try server.query("CREATE TABLE texts (id integer, text text)", in: databases[0])
        try server.query(#"INSERT INTO texts VALUES (1, NULL), (2, ''), (3, E'a "b",\n''c''')"#, in: databases[0])
        let rows = try server.query("SELECT * FROM texts ORDER BY id", in: databases[0])
        #expect(rows == [["1", nil], ["2", ""], ["3", "a \"b\",\n'c'"]])
        #expect(throws: PostgreSQLServer.Failure.self) { try server.query("TABLE texts", in: databases[1]) }
    }

    /// A password is asked for, and nothing listens on TCP.
    @Test func nobodyElseIsLetIn() throws {
        let server = try PostgreSQLServer.shared()
        #expect(try server.query("SHOW listen_addresses") == [[""]])
        let methods = try server.query("SELECT DISTINCT auth_method FROM pg_hba_file_rules")
        #expect(methods == [["scram-sha-256"]])
        let file = "\(server.folder)/pgpass"
        #expect(server.environment == ["PGPASSFILE": file])
        #expect(try run(["stat", "-c", "%a", file]).outputText == "600\n")
    }

    @Test func whatIsCommittedSurvivesACrash() throws {
        let server = try PostgreSQLServer()
        let database = try server.makeDatabase()
        try server.query("CREATE TABLE numbers (n integer)", in: database)
        try server.query("INSERT INTO numbers SELECT generate_series(1, 1000)", in: database)
        try server.crash()
        #expect(throws: PostgreSQLServer.Failure.self) { try server.query("SELECT 1") }
        try server.start()
        #expect(try server.query("SELECT count(*), sum(n) FROM numbers", in: database) == [["1000", "500500"]])
        try server.stop()
        try server.start(settings: ["work_mem=5MB"])
        #expect(try server.query("SHOW work_mem; SELECT count(*) FROM numbers", in: database) == [["5MB"], ["1000"]])
    }

    /// Nothing stays of a server whose owner has gone.
    @Test func serversEnd() throws {
        func started() throws -> (folder: String, process: String) {
            let server = try PostgreSQLServer()
            let file = try String(contentsOfFile: "\(server.folder)/data/postmaster.pid", encoding: .utf8)
            return (server.folder, String(file.prefix { $0 != "\n" }))
        }
        let server = try started()
        #expect([nil, "Z", "X"].contains(processState("/proc/\(server.process)")))
        #expect(!FileManager.default.fileExists(atPath: server.folder))
    }

    @Test(arguments: [
        (PostgreSQLProxy.Cut.before, ["1"]), (.after, ["1", "2"]), (.late, ["1", "2"]),
    ])
    func connectionsAreCutInCommit(_ cut: PostgreSQLProxy.Cut, _ expected: [String]) throws {
        let server = try PostgreSQLServer.shared()
        let database = try server.makeDatabase()
        try server.query("CREATE TABLE numbers (n integer)", in: database)
        let proxy = try PostgreSQLProxy(to: server, cutting: cut, at: [2], delay: 1)
        func insert(_ number: Int) throws {
            try server.query(
                "BEGIN",
                "INSERT INTO numbers VALUES (\(number))",
                "COMMIT",
                in: proxy.url(of: database)
            )
        }
        try insert(1)
        #expect(throws: PostgreSQLServer.Failure.self) { try insert(2) }
        // Waits for the transaction that the server may still have.
        try server.query("LOCK TABLE numbers; SELECT 1", in: database)
        #expect(try server.query("SELECT n FROM numbers ORDER BY n", in: database) == expected.map { [$0] })
        try insert(3)
        #expect(proxy.commits == [nil, cut, nil])
    }

    @Test func theSeedDecidesWhichAreCut() throws {
        let server = try PostgreSQLServer.shared()
        let database = try server.makeDatabase()
        func commits(seed: UInt64) throws -> [PostgreSQLProxy.Cut?] {
            let proxy = try PostgreSQLProxy(to: server, cutting: .after, probability: 0.5, seed: seed)
            for _ in 1...8 { _ = try? server.query("BEGIN", "COMMIT", in: proxy.url(of: database)) }
            return proxy.commits
        }
        let first = try commits(seed: 1)
        #expect(first.contains(.after) && first.contains(nil))
        #expect(try commits(seed: 1) == first)
        #expect(try commits(seed: 2) != first)
    }
}
