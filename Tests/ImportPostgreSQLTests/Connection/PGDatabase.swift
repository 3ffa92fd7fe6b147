import Foundation
import Importer
import Synchronization
import TestSupport

@testable import ImportPostgreSQL

/// A database of its own on the server that tests share.
struct PGDatabase {
    let server: PostgreSQLServer
    /// As psql is given it.
    let url: String
    private let session: PostgreSQLSession

    init() throws {
        server = try PostgreSQLServer.shared()
        url = try server.makeDatabase()
        session = server.session(with: url)
    }

    /// One on another server, its database `postgres`.
    init(on server: PostgreSQLServer) {
        self.server = server
        url = server.url
        session = server.session(with: url)
    }

    /// Its address with other parameters than those that connections need.
    func address(_ parameters: String = "") throws -> PostgreSQLAddress {
        try PostgreSQLAddress(server.withPasswordFile(url) + parameters)
    }

    func connect(_ parameters: String = "", _ interruption: Interruption = Interruption()) throws -> PGConnection {
        try PGConnection(address(parameters), interruption: interruption)
    }

    @discardableResult
    func query(_ text: String) throws -> [[String?]] { try session.query(text) }

    /// Does something on another thread as soon as a connection of this database waits for what `event` says.
    ///
    /// - Parameter event: of `pg_stat_activity`: `PgSleep`, `relation`, `transactionid`.
    func whenWaiting(for event: String, _ body: @escaping @Sendable (_ process: pid_t) throws -> Void) {
        Thread.detachNewThread { [self] in
            do {
                let watcher = server.session(with: url)
                let process = try wait(for: "a process that waits for \(event)") {
                    try watcher.query(
                        """
                        SELECT pid FROM pg_stat_activity
                        WHERE datname = current_database() AND wait_event = '\(event)'
                        """
                    ).first?.first?.flatMap { pid_t($0) }
                }
                try body(process)
            } catch {
                FileHandle.standardError.write(Data("whenWaiting: \(error)\n".utf8))
            }
        }
    }
}

/// What threads count.
final class SharedCount: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func add() { count.withLock { $0 += 1 } }
}
