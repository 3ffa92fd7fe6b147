import CPostgreSQL
import Foundation
import Synchronization

/// A connection by which a test asks a database, or holds locks in it: libpq as it is, without any of the code under test.
///
/// It lasts, as most tests ask often: a psql for each question takes thirty times as long. It is made when it is first asked, and
/// again where its server has ended meanwhile.
package final class PostgreSQLSession: Sendable {
    /// What the server says against a text, or a connection.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        fileprivate var isConnectionLost = false
    }

    private struct State {
        // Only used under the lock.
        nonisolated(unsafe) var connection: OpaquePointer?
    }

    private let url: String
    private let state = Mutex(State())

    /// - Parameter url: with all that lets it in.
    package init(_ url: String) { self.url = url }

    deinit { end() }

    /// Ends it, and with it its transaction and locks; the next question is one on another connection.
    package func end() {
        state.withLock { state in
            if let connection = state.connection { cPQfinish(connection) }
            state.connection = nil
        }
    }

    /// Runs SQL; the statements of a text are one transaction.
    ///
    /// - Returns: the rows of all statements, values as texts; nil is NULL.
    @discardableResult
    package func query(_ text: String) throws -> [[String?]] {
        try state.withLock { state in
            if let connection = state.connection {
                do {
                    return try Self.rows(text, connection)
                } catch let failure as Failure where failure.isConnectionLost {
                    cPQfinish(connection)
                    state.connection = nil
                }
            }
            let connection = try Self.connect(url)
            state.connection = connection
            return try Self.rows(text, connection)
        }
    }

    private static func connect(_ url: String) throws -> OpaquePointer {
        guard cpostgresql_load() != nil else { throw Failure(description: String(cString: dlerror())) }
        let started = "dbname".withCString { name in
            url.withCString { cPQconnectStartParams([name, nil], [$0, nil], 1) }
        }
        guard let connection = started else { throw Failure(description: "no memory for a connection") }
        var next = PGRES_POLLING_WRITING
        while cPQstatus(connection) != CONNECTION_BAD, next != PGRES_POLLING_OK, next != PGRES_POLLING_FAILED {
            let events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT
            var descriptor = pollfd(fd: cPQsocket(connection), events: Int16(events), revents: 0)
            poll(&descriptor, 1, -1)
            next = cPQconnectPoll(connection)
        }
        guard next == PGRES_POLLING_OK else {
            defer { cPQfinish(connection) }
            throw Failure(description: String(cString: cPQerrorMessage(connection)))
        }
        cPQsetNoticeProcessor(connection, { _, _ in }, nil)
        return connection
    }

    private static func rows(_ text: String, _ connection: OpaquePointer) throws -> [[String?]] {
        guard cPQsendQuery(connection, text) == 1 else {
            throw Failure(description: String(cString: cPQerrorMessage(connection)), isConnectionLost: true)
        }
        var rows: [[String?]] = []
        var failure: Failure?
        while let result = cPQgetResult(connection) {
            defer { cPQclear(result) }
            switch cPQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
            case PGRES_TUPLES_OK:
                for row in 0..<cPQntuples(result) {
                    rows.append(
                        (0..<cPQnfields(result)).map { column in
                            guard cPQgetisnull(result, row, column) == 0 else { return nil }
                            return cPQgetvalue(result, row, column).map { String(cString: $0) }
                        }
                    )
                }
            default:
                // What libpq says by itself has no SQLSTATE.
                let isLost = cPQresultErrorField(result, Int32(UInt8(ascii: "C"))) == nil
                let text = String(cString: cPQresultErrorMessage(result))
                failure = failure ?? Failure(description: text, isConnectionLost: isLost)
            }
        }
        if let failure { throw failure }
        return rows
    }
}
