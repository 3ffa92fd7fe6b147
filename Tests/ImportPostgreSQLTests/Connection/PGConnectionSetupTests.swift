import Foundation
import Importer
import TestSupport
import Testing

@testable import ImportPostgreSQL

@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGConnectionSetupTests {
    /// What a person is told whose connection does not come about.
    private func error(_ address: PostgreSQLAddress, ask: (@Sendable (String) -> String?)? = nil) throws -> ImportError
    {
        do {
            _ = try PGConnection(address, interruption: Interruption(), askForPassword: ask)
        } catch let failure as PGError {
            return failure.importError(at: address.label, showsValues: false)
        } catch let error as ImportError {
            return error
        }
        throw NeverCame("an error")
    }

    // MARK: Login

    @Test func aPasswordIsAskedForWhereNoneIsFound() throws {
        let database = try PGDatabase()
        let entry = try String(contentsOfFile: database.server.folder + "/pgpass", encoding: .utf8)
        let password = try #require(entry.split(whereSeparator: \.isNewline).first?.split(separator: ":").last)
            .description
        let address = try PostgreSQLAddress(database.url + "&passfile=/nowhere")
        #expect(try error(address).reason == .loginRefused)
        #expect(try error(address, ask: { _ in nil }).reason == .loginRefused)
        let wrong = try error(address, ask: { _ in "sesam" })
        #expect(wrong.reason == .loginRefused)
        #expect(wrong.code == .noPermission)
        #expect(!wrong.description.contains("sesam"))
        let questions = SharedCount()
        let connection = try PGConnection(address, interruption: Interruption()) { question in
            #expect(question.contains(address.label))
            questions.add()
            return password
        }
        #expect(questions.value == 1)
        #expect(try connection.execute("SELECT 1").first?.integer(0) == 1)
    }

    @Test func aPasswordFileThatOthersMayReadIsNamed() throws {
        let database = try PGDatabase()
        let directory = try TemporaryDirectory()
        let file = try directory.write("*:*:*:*:x\n", to: "pgpass")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let address = try PostgreSQLAddress(database.url + "&passfile=\(file)")
        let text = try StandardError.text {
            let error = try error(address)
            #expect(error.reason == .loginRefused)
            #expect(error.message.contains("\(file) is ignored"))
        }
        // Libpq would say so itself, for each connection.
        #expect(!text.contains(file))
    }

    @Test func aDatabaseThatIsNotThereIsNoInput() throws {
        let server = try PostgreSQLServer.shared()
        let url = server.withPasswordFile(server.url).replacing("/postgres?", with: "/nothing?")
        let error = try error(PostgreSQLAddress(url))
        #expect(error.reason == .storeNotFound)
        #expect(error.message.contains("nothing"))
    }

    @Test func whatAUserMayNotDoIsSaid() throws {
        let database = try PGDatabase()
        let (role, address) = try makeUser(database)
        var other = address
        other.schema = "new"
        let connection = try PGConnection(other, interruption: Interruption())
        let failure = #expect(throws: PGError.self) { try connection.makeSchema() }
        #expect(failure?.importError(at: "s", showsValues: false).reason == .permissionMissing)
        connection.close()

        try database.query("ALTER ROLE \(role) CONNECTION LIMIT 0")
        let refused = try error(address)
        #expect(refused.reason == .serverUnavailable)
        #expect(refused.advice?.contains("workers") == true)

        try database.query(
            "ALTER ROLE \(role) CONNECTION LIMIT -1; ALTER ROLE \(role) SET default_transaction_read_only = on"
        )
        #expect(try error(address).reason == .storeReadOnly)
        let reader = try PGConnection(address, interruption: Interruption(), writes: false)
        #expect(try reader.execute("SELECT 1").first?.integer(0) == 1)

        try database.query("ALTER ROLE \(role) NOLOGIN")
        #expect(try error(address).reason == .loginRefused)
    }

    /// A user without rights in a database of its own.
    private func makeUser(_ database: PGDatabase) throws -> (role: String, address: PostgreSQLAddress) {
        let role = "user_\(UUID().uuidString.prefix(8).lowercased())"
        try database.query("CREATE ROLE \(role) LOGIN PASSWORD 'x'")
        let directory = database.server.folder
        let file = "\(directory)/pgpass-\(role)"
        try Data("*:*:*:*:x\n".utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        let url = database.url.replacing("importer@", with: "\(role)@")
        return (role, try PostgreSQLAddress(url + "&passfile=\(file)"))
    }

    // MARK: The server

    @Test func aServerThatIsNotThereIsUnavailable() throws {
        let directory = try TemporaryDirectory()
        for url in [
            "postgresql://importer@/postgres?host=\(directory.path)", "postgresql://importer@127.0.0.1:1/postgres",
        ] {
            let error = try error(PostgreSQLAddress(url))
            #expect(error.code == .unavailable)
            #expect(error.path == url)
        }
    }

    @Test func aServerWithoutEncryptionIsRefusedWhereItIsAskedFor() throws {
        let host = try FakeHost(answer: Array("N".utf8))
        let error = try error(
            PostgreSQLAddress("postgresql://importer@127.0.0.1:\(host.port)/postgres?sslmode=require")
        )
        #expect(error.code == .unavailable)
        #expect(error.advice?.contains("sslmode") == true)
    }

    @Test func aHostThatSaysNothingIsLeftForTheNext() throws {
        let server = try PostgreSQLServer.shared()
        let host = try FakeHost(answer: [])
        let parameters = "host=127.0.0.1,\(server.folder)&port=\(host.port),5432&connect_timeout=2&sslmode=disable"
        let address = try PostgreSQLAddress(server.withPasswordFile("postgresql://importer@/postgres?\(parameters)"))
        let connection = try PGConnection(address, interruption: Interruption())
        #expect(try connection.execute("SELECT 1").first?.integer(0) == 1)
        let alone = "postgresql://importer@127.0.0.1:\(host.port)/postgres?connect_timeout=2&sslmode=disable"
        let error = try error(PostgreSQLAddress(alone))
        #expect(error.code == .unavailable)
        #expect(error.message.contains("timeout expired"))
    }

    @Test func anInterruptionEndsTheWaitingForAHost() throws {
        let host = try FakeHost(answer: [])
        let interruption = Interruption()
        host.whenAsked { interruption.request(.interrupt) }
        let address = try PostgreSQLAddress("postgresql://importer@127.0.0.1:\(host.port)/postgres?connect_timeout=0")
        let error = #expect(throws: ImportError.self) { try PGConnection(address, interruption: interruption) }
        #expect(error?.reason == .interrupted)
    }

    @Test func aDatabaseOfAnotherEncodingIsRefused() throws {
        let server = try PostgreSQLServer.shared()
        let name = "latin_\(UUID().uuidString.prefix(8).lowercased())"
        try server.query("CREATE DATABASE \(name) ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        let url = server.withPasswordFile(server.url).replacing("/postgres?", with: "/\(name)?")
        let error = try error(PostgreSQLAddress(url))
        #expect(error.reason == .storeUnusable)
        #expect(error.message.contains("LATIN1"))
    }

    @Test func aPoolerThatGivesSessionsAwayIsRefusedAndLeftAsItIs() throws {
        let database = try PGDatabase()
        let proxy = try PostgreSQLProxy(to: database.server, pooling: .transaction)
        let url = database.server.withPasswordFile(proxy.url(of: database.url))
        let other = PostgreSQLSession(url)
        let settings = "SELECT name, setting FROM pg_settings WHERE source = 'session' ORDER BY name"
        let before = try other.query(settings)
        let address = try PostgreSQLAddress(url)
        let error = try error(address)
        #expect(error.reason == .storeUnusable)
        #expect(error.message.contains("reassigns the server's sessions"))
        #expect(error.advice?.contains("pool_mode") == true)
        #expect(try other.query(settings) == before)
        #expect(try other.query("SHOW search_path") == [[#""$user", public"#]])
    }

    @Test func aPoolerWhoseSessionsStayIsAsGoodAsTheServer() throws {
        let database = try PGDatabase()
        let proxy = try PostgreSQLProxy(to: database.server, pooling: .session)
        let address = try PostgreSQLAddress(database.server.withPasswordFile(proxy.url(of: database.url)))
        let connection = try PGConnection(address, interruption: Interruption())
        #expect(try connection.execute("SHOW search_path").first?.text(0) == #""public", pg_temp"#)
        #expect(try connection.execute("SHOW DateStyle").first?.text(0) == "ISO, YMD")
    }

    // MARK: Its end

    @Test func aServerThatHasGoneWhileNobodyAskedKeepsNobodyWaiting() throws {
        let database = try PGDatabase()
        var proxy: PostgreSQLProxy? = try PostgreSQLProxy(to: database.server, pooling: .session)
        let url = try #require(proxy).url(of: database.url)
        var store = try PostgreSQLStore(PostgreSQLAddress(database.server.withPasswordFile(url)))
        // A connection that is lost in the middle of a question is not made again.
        store.reconnect = 0
        let inspection = PostgreSQLInspection(store)
        try BookkeepingSchema.prepare(database.connect(), label: "test")
        #expect(try inspection.unfinished().isEmpty)
        try database.query(
            """
            SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        )
        #expect(try inspection.unfinished().isEmpty)
        proxy = nil
        let gone = #expect(throws: ImportError.self) { try inspection.unfinished() }
        #expect(gone?.reason == .serverUnavailable)
        #expect(gone?.message.contains("tried again") == false)
    }

    @Test func aStatementThatSomebodyCancelsIsNoInterruption() throws {
        let database = try PGDatabase()
        let connection = try database.connect()
        database.whenWaiting(for: "PgSleep") { try database.query("SELECT pg_cancel_backend(\($0))") }
        let failure = #expect(throws: PGError.self) { try connection.execute("SELECT pg_sleep(3600)") }
        #expect(failure?.sqlState == "57014")
        #expect(failure?.importError(at: "s", showsValues: false).advice != nil)
    }

    @Test func aDiskThatIsFullIsSaid() throws {
        let connection = try PGDatabase().connect()
        let failure = #expect(throws: PGError.self) {
            try connection.execute("DO $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END $$")
        }
        #expect(failure?.isTransient == false)
        #expect(failure?.importError(at: "s", showsValues: false).reason == .diskFull)
    }

    @Test func aServerThatCrashesIsFoundAgain() throws {
        let server = try PostgreSQLServer()
        let database = PGDatabase(on: server)
        let connection = try database.connect()
        try connection.execute("CREATE TABLE t (a int)")
        database.whenWaiting(for: "PgSleep") { _ in
            try server.crash()
            try server.start()
        }
        let failure = #expect(throws: PGError.self) { try connection.execute("SELECT pg_sleep(3600)") }
        #expect(failure?.isConnectionLost == true)
        #expect(failure?.isTransient == true)
        #expect(throws: PGError.self) { try connection.execute("SELECT 1") }

        var reconnection = ReconnectPolicy(for: patience)
        let address = try database.address()
        let again = try { () throws -> PGConnection in
            while true {
                do {
                    return try PGConnection(address, interruption: Interruption())
                } catch let failure as PGError {
                    try reconnection.wait(after: failure, label: address.label, Interruption())
                }
            }
        }()
        #expect(try again.execute("SELECT count(*) FROM t").first?.integer(0) == 0)
    }
}
