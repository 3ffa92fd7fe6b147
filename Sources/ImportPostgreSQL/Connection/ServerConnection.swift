import CPostgreSQL
import Foundation
import ImportModel
import Importer

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One connection to a server; the only way to libpq.
///
/// It is used by one thread at a time. Calls do not block in libpq: they wait for the socket, and hear an interruption meanwhile
/// where they say so (<https://www.postgresql.org/docs/current/libpq-async.html>).
final class ServerConnection {
    /// Blocks of COPY are collected to this size before libpq gets them.
    static let copyBlock = 64 << 10

    private let handle: OpaquePointer
    private let interruption: Interruption
    private var isOpen = true
    /// The schema that unqualified names are in.
    private(set) var schema = ""
    /// Whether an interruption ends a running statement; otherwise it is waited for.
    var isInterruptible = false

    /// Connects, and makes sure that the server can be written to.
    ///
    /// - Parameters:
    ///   - address: the server's; its schema is made if it is not there.
    ///   - interruption: ends the waiting, and the running statement with it.
    ///   - askForPassword: asks a person, with a text that says for what; nil where nobody can be asked.
    /// - Throws: `ServerFailure`, and `ImportError` where the server is of no use.
    init(
        _ address: ServerAddress,
        interruption: Interruption,
        askForPassword: (@Sendable (String) -> String?)? = nil
    ) throws {
        self.interruption = interruption
        var made = try Self.connect(address, password: nil, interruption)
        if PQstatus(made) != CONNECTION_OK, PQconnectionNeedsPassword(made) != 0,
            let password = askForPassword?("Password for \(address.label): ")
        {
            PQfinish(made)
            made = try Self.connect(address, password: password, interruption)
        }
        handle = made
        guard PQstatus(made) == CONNECTION_OK else {
            let failure = ServerFailure(message: Self.message(of: made), isConnectionLost: true)
            PQfinish(made)
            isOpen = false
            throw failure
        }
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        PQsetnonblocking(handle, 1)
        do {
            try prepare(address)
        } catch {
            close()
            throw error
        }
    }

    deinit { close() }

    private static func connect(
        _ address: ServerAddress,
        password: String?,
        _ interruption: Interruption
    ) throws -> OpaquePointer {
        var settings: [(String, String)] = [
            ("dbname", address.uri), ("fallback_application_name", "importer"), ("client_encoding", "UTF8"),
        ]
        if let password { settings.append(("password", password)) }
        let pairs = settings.map { (strdup($0.0), strdup($0.1)) }
        defer {
            for (name, value) in pairs {
                free(name)
                free(value)
            }
        }
        let names = pairs.map { UnsafePointer<CChar>($0.0) } + [nil]
        let values = pairs.map { UnsafePointer<CChar>($0.1) } + [nil]
        guard let handle = PQconnectStartParams(names, values, 1) else {
            throw ImportError(.fault, "there is no memory for a connection")
        }
        var next = PGRES_POLLING_WRITING
        // The server's own limit is connect_timeout; without one a silent host is waited for so long.
        let deadline = ContinuousClock.now + .seconds(30)
        while next != PGRES_POLLING_OK, next != PGRES_POLLING_FAILED, PQstatus(handle) != CONNECTION_BAD {
            guard ContinuousClock.now < deadline, !interruption.isRequested else { break }
            let socket = PQsocket(handle)
            if socket >= 0 { _ = wait(socket, reads: next == PGRES_POLLING_READING, milliseconds: 100) }
            next = socketIsReady(socket, reads: next == PGRES_POLLING_READING) ? PQconnectPoll(handle) : next
        }
        guard !interruption.isRequested else {
            PQfinish(handle)
            throw interruption.error
        }
        return handle
    }

    private static func socketIsReady(_ socket: Int32, reads: Bool) -> Bool {
        wait(socket, reads: reads, milliseconds: 0)
    }

    /// Waits until a socket can be read from or written to, or the time is over.
    private static func wait(_ socket: Int32, reads: Bool, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(reads ? POLLIN : POLLOUT), revents: 0)
        return poll(&entry, 1, milliseconds) > 0
    }

    private static func message(of handle: OpaquePointer) -> String {
        PQerrorMessage(handle).map { String(cString: $0).trimmedEnd } ?? ""
    }

    private func prepare(_ address: ServerAddress) throws {
        guard PQserverVersion(handle) >= 120_000 else {
            throw ImportError(
                .storeUnusable,
                at: address.label,
                "the server is PostgreSQL \(PQserverVersion(handle) / 10_000), and at least 12 is needed",
                advice: "Use a newer server."
            )
        }
        _ = try execute("SET standard_conforming_strings = on; SET datestyle = ISO; SET extra_float_digits = 1")
        if try execute("SHOW transaction_read_only").first?.text(0) == "on" {
            throw ServerFailure(sqlState: "25006", message: "it is read-only, a replica perhaps")
                .importError(at: address.label, showsValues: false)
        }
        guard try execute("SHOW server_encoding").first?.text(0) == "UTF8" else {
            throw ImportError(
                .storeUnusable,
                at: address.label,
                "the database has another encoding than UTF8, which cannot hold every text",
                advice: "Make a database with ENCODING 'UTF8'."
            )
        }
        if let wanted = address.schema {
            let name = Self.quoted(wanted)
            if try execute("SELECT to_regnamespace($1)", [.text(name)]).first?.optionalText(0) == nil {
                _ = try execute("CREATE SCHEMA IF NOT EXISTS \(name)")
            }
            schema = wanted
        } else {
            guard let current = try execute("SELECT current_schema()").first?.optionalText(0) else {
                throw ImportError(
                    .storeUnusable,
                    at: address.label,
                    "no schema of the search path is there",
                    advice: "Name one with --schema; it is made if it is not there."
                )
            }
            schema = current
        }
        _ = try execute("SET search_path = \(Self.quoted(schema))")
    }

    /// A name in double quotes; those in it are doubled
    /// (<https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS>).
    static func quoted(_ name: String) -> String {
        "\"" + String(name.flatMap { $0 == "\"" ? [$0, $0] : [$0] }) + "\""
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        PQfinish(handle)
    }

    // MARK: Statements

    /// Runs one statement with parameters, or any number without.
    ///
    /// - Returns: the rows of the last statement.
    /// - Throws: `ServerFailure`.
    func execute(_ sql: String, _ parameters: [ServerValue] = []) throws -> ServerRows {
        try send(sql, parameters)
        var rows = ServerRows()
        try forEachResult { result in
            rows = Self.rows(result)
            return true
        }
        return rows
    }

    /// Calls `body` with each row as the server sends it; nothing holds the whole result.
    ///
    /// - Throws: `ServerFailure`, and what `body` throws; the statement is cancelled then.
    func forEachRow(_ sql: String, _ parameters: [ServerValue] = [], _ body: (ServerRow) throws -> Void) throws {
        try send(sql, parameters)
        PQsetSingleRowMode(handle)
        var failure: (any Error)?
        try forEachResult { result in
            guard failure == nil else { return false }
            do {
                for row in Self.rows(result) { try body(row) }
                return true
            } catch {
                failure = error
                cancel()
                return false
            }
        }
        if let failure { throw failure }
    }

    private func send(_ sql: String, _ parameters: [ServerValue]) throws {
        guard isOpen else { throw ServerFailure(message: "the connection is closed", isConnectionLost: true) }
        let isSent: Int32
        if parameters.isEmpty {
            isSent = PQsendQuery(handle, sql)
        } else {
            let texts = parameters.map { $0.text.flatMap { strdup($0) } }
            defer { for text in texts { free(text) } }
            let values = texts.map { UnsafePointer<CChar>($0) }
            isSent = PQsendQueryParams(handle, sql, Int32(values.count), nil, values, nil, nil, 0)
        }
        guard isSent == 1 else { throw lost() }
        try flush()
    }

    /// Sends what libpq has collected.
    private func flush() throws {
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                // The server may be sending what has to be read before it takes more.
                var entry = pollfd(fd: PQsocket(handle), events: Int16(POLLIN | POLLOUT), revents: 0)
                _ = poll(&entry, 1, 100)
                if entry.revents & Int16(POLLIN) != 0, PQconsumeInput(handle) == 0 { throw lost() }
            default: throw lost()
            }
        }
    }

    /// Calls `body` with each result that is no error; false leaves the rest unread.
    ///
    /// - Throws: the first error of the server; `ServerFailure` where the connection is lost.
    private func forEachResult(_ body: (OpaquePointer) -> Bool) throws {
        var failure: ServerFailure?
        while true {
            var isCancelled = false
            while PQisBusy(handle) == 1 {
                _ = Self.wait(PQsocket(handle), reads: true, milliseconds: 100)
                if interruption.isRequested, isInterruptible, !isCancelled {
                    isCancelled = true
                    cancel()
                }
                guard PQconsumeInput(handle) == 1 else { throw failure ?? lost() }
            }
            guard let result = PQgetResult(handle) else { break }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR:
                if failure == nil { failure = self.failure(of: result) }
            case PGRES_COPY_IN:
                // The statement is a COPY, whose rows come next.
                if failure == nil { return }
            default:
                if failure == nil { _ = body(result) }
            }
            if PQstatus(handle) == CONNECTION_BAD { throw failure ?? lost() }
        }
        if let failure { throw failure }
    }

    private func lost() -> ServerFailure {
        ServerFailure(message: Self.message(of: handle), isConnectionLost: true)
    }

    private func failure(of result: OpaquePointer) -> ServerFailure {
        func field(_ code: Character) -> String? {
            guard let ascii = code.asciiValue, let text = PQresultErrorField(result, Int32(ascii)) else { return nil }
            return String(cString: text)
        }
        // The letters are those of postgres_ext.h (PG_DIAG_SQLSTATE and so on).
        return ServerFailure(
            sqlState: field("C") ?? "",
            message: field("M") ?? Self.message(of: handle),
            detail: field("D"),
            hint: field("H"),
            context: field("W"),
            isConnectionLost: PQstatus(handle) == CONNECTION_BAD
        )
    }

    private static func rows(_ result: OpaquePointer) -> ServerRows {
        let width = PQnfields(result)
        let rows = (0..<PQntuples(result)).map { row in
            ServerRow(
                values: (0..<width).map { column in
                    guard PQgetisnull(result, row, column) == 0, let text = PQgetvalue(result, row, column) else {
                        return nil
                    }
                    return String(
                        decoding: UnsafeRawBufferPointer(start: text, count: Int(PQgetlength(result, row, column))),
                        as: UTF8.self
                    )
                }
            )
        }
        return ServerRows(rows: rows, affected: PQcmdTuples(result).flatMap { Int64(String(cString: $0)) } ?? 0)
    }

    /// Asks the server to end the running statement (`PQcancel`).
    private func cancel() {
        guard let request = PQgetCancel(handle) else { return }
        defer { PQfreeCancel(request) }
        var message = [CChar](repeating: 0, count: 256)
        PQcancel(request, &message, Int32(message.count))
    }

    // MARK: Transactions

    /// Runs a transaction; it is rolled back where `body` throws.
    ///
    /// - Throws: what `body` throws; `CommitUnknown` where the connection is lost while the COMMIT is on its way.
    func transaction<Result>(_ begin: String = "BEGIN", _ body: () throws -> Result) throws -> Result {
        _ = try execute(begin)
        let result: Result
        do {
            result = try body()
        } catch {
            if PQstatus(handle) == CONNECTION_OK { _ = try? execute("ROLLBACK") }
            throw error
        }
        do {
            _ = try execute("COMMIT")
        } catch let failure as ServerFailure where failure.isConnectionLost || failure.sqlState.hasPrefix("57P") {
            throw CommitUnknown()
        }
        return result
    }

    // MARK: COPY

    /// Copies rows into a table.
    ///
    /// - Parameters:
    ///   - sql: `COPY … FROM STDIN …`.
    ///   - body: writes the rows; what it throws ends the COPY without any.
    /// - Returns: how many rows the server has taken.
    /// - Throws: `ServerFailure`, and what `body` throws.
    func copy(_ sql: String, _ body: (inout CopyStream) throws -> Void) throws -> Int64 {
        try send(sql, [])
        try forEachResult { _ in true }
        var stream = CopyStream { [self] bytes in try put(bytes) }
        do {
            try body(&stream)
            try stream.flush()
        } catch {
            // A refusal of the server comes to light when data is sent: it says more than the failed sending.
            _ = PQputCopyEnd(handle, "ended by the client")
            if let failure = copyFailure(), error is ServerFailure { throw failure }
            throw error
        }
        while true {
            let isSent = PQputCopyEnd(handle, nil)
            if isSent == 1 { break }
            guard isSent == 0 else { throw copyFailure() ?? lost() }
            _ = Self.wait(PQsocket(handle), reads: false, milliseconds: 100)
        }
        try flush()
        var count: Int64 = 0
        try forEachResult { result in
            count = Self.rows(result).affected
            return true
        }
        return count
    }

    /// What the server says of a COPY that was given up.
    private func copyFailure() -> ServerFailure? {
        try? flush()
        do {
            try forEachResult { _ in true }
            return nil
        } catch {
            return error as? ServerFailure
        }
    }

    private func put(_ bytes: UnsafeRawBufferPointer) throws {
        guard let start = bytes.bindMemory(to: CChar.self).baseAddress else { return }
        while true {
            switch PQputCopyData(handle, start, Int32(bytes.count)) {
            case 1:
                // libpq keeps what the socket does not take; it must not keep everything.
                return try flush()
            case 0:
                _ = Self.wait(PQsocket(handle), reads: false, milliseconds: 100)
            default:
                throw lost()
            }
        }
    }
}

/// Where the rows of a COPY go, in its format.
struct CopyStream {
    private let put: (UnsafeRawBufferPointer) throws -> Void
    private var pending: [UInt8] = []

    init(_ put: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.put = put
    }

    /// Adds bytes; large ones go on at once.
    mutating func write(_ bytes: UnsafeRawBufferPointer) throws {
        if bytes.count >= ServerConnection.copyBlock {
            try flush()
            var rest = bytes[...]
            while !rest.isEmpty {
                let block = rest.prefix(1 << 20)
                try put(UnsafeRawBufferPointer(rebasing: block))
                rest = rest.dropFirst(block.count)
            }
            return
        }
        pending.append(contentsOf: bytes)
        if pending.count >= ServerConnection.copyBlock { try flush() }
    }

    mutating func flush() throws {
        guard !pending.isEmpty else { return }
        try pending.withUnsafeBytes { try put($0) }
        pending.removeAll(keepingCapacity: true)
    }
}
