import CPostgreSQL
import Glibc
import Importer

/// A connection of libpq, and all calls that need it; what is between them, `PGConnection` knows.
///
/// Nothing blocks in libpq but the resolution of a host's name: what has to be waited for is waited for here, with
/// `poll(2)` (<https://www.postgresql.org/docs/current/libpq-async.html>). It is used by one thread at a time. A
/// connection that breaks off never raises SIGPIPE: libpq sees to that for each call.
final class LibPQConnection {
    /// When a wait ends because somebody has asked to stop.
    enum InterruptionPolicy {
        case never
        case atOnce
        /// When it has lasted so long without any progress.
        case after(Duration)
    }

    private(set) var handle: OpaquePointer?
    let interruption: Interruption
    /// Between two looks at the interruption.
    private static let pause: Int32 = 50
    /// How long a server may take to end what was cancelled; then the connection is given up.
    private static let patience = Duration.seconds(5)

    // MARK: Connecting

    /// Connects to the first host that takes it.
    ///
    /// - Parameters:
    ///   - settings: by libpq's names; later ones count before earlier ones, and `dbname` may be a URI.
    ///   - timeout: how long a host may take.
    /// - Throws: `PGError`, whose `needsPassword` says whether one would help; the interruption's `ImportError`.
    init(_ settings: [(name: String, value: String)], timeout: Duration, interruption: Interruption) throws {
        self.interruption = interruption
        var settings = settings
        while true {
            let made = try Self.start(settings)
            switch Self.finish(made, timeout, interruption) {
            case .connected:
                cPQsetErrorVerbosity(made, PQERRORS_DEFAULT)
                cPQsetnonblocking(made, 1)
                handle = made
                return
            case .interrupted:
                cPQfinish(made)
                throw interruption.error
            case .failed:
                let needsPassword = cPQconnectionNeedsPassword(made) == 1
                let failure = PGError(connecting: Self.message(of: made), needsPassword: needsPassword)
                cPQfinish(made)
                throw failure
            case .timedOut(let host):
                // Where libpq does not wait itself, it does not go on to the next host either.
                let rest = Self.hosts(of: made).settings(after: host)
                cPQfinish(made)
                guard !rest.isEmpty else { throw PGError(connecting: "\(host): timeout expired") }
                settings += rest
            }
        }
    }

    private static func start(_ settings: [(name: String, value: String)]) throws -> OpaquePointer {
        let pairs = settings.map { (strdup($0.name), strdup($0.value)) }
        defer {
            for (name, value) in pairs {
                free(name)
                free(value)
            }
        }
        let names = pairs.map { UnsafePointer<CChar>($0.0) } + [nil]
        let values = pairs.map { UnsafePointer<CChar>($0.1) } + [nil]
        guard let handle = cPQconnectStartParams(names, values, 1) else {
            throw ImportError(.fault, "there is no memory for a connection")
        }
        // Without one, libpq writes notices to standard error.
        cPQsetNoticeProcessor(handle, { _, _ in }, nil)
        // A refused login has its SQLSTATE in its text alone.
        cPQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        return handle
    }

    private enum Start {
        case connected
        case failed
        case interrupted
        case timedOut(host: String)
    }

    private static func finish(_ handle: OpaquePointer, _ timeout: Duration, _ interruption: Interruption) -> Start {
        var next = PGRES_POLLING_WRITING
        var host = currentHost(of: handle)
        var deadline = ContinuousClock.now + timeout
        while cPQstatus(handle) != CONNECTION_BAD {
            if interruption.isRequested { return .interrupted }
            let events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT
            guard wait(cPQsocket(handle), Int16(events)) != 0 else {
                guard ContinuousClock.now < deadline else { return .timedOut(host: host) }
                continue
            }
            next = cPQconnectPoll(handle)
            if next == PGRES_POLLING_OK { return .connected }
            if next == PGRES_POLLING_FAILED { return .failed }
            let present = currentHost(of: handle)
            if present != host {
                host = present
                deadline = .now + timeout
            }
        }
        return .failed
    }

    private static func currentHost(of handle: OpaquePointer) -> String {
        let host = cPQhost(handle).map { String(cString: $0) } ?? ""
        return HostList.name(host, port: cPQport(handle).map { String(cString: $0) } ?? "")
    }

    /// The hosts of a connection, wherever they were named.
    private static func hosts(of handle: OpaquePointer) -> HostList {
        var lists = HostList()
        guard let options = cPQconninfo(handle) else { return lists }
        defer { cPQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { lists[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return lists
    }

    deinit { close() }

    /// True if it may still be of use; a connection that was lost may be found out later.
    var isOpen: Bool { handle.map { cPQstatus($0) == CONNECTION_OK } ?? false }

    /// The server's version as libpq has it: 150004 is 15.4.
    var serverVersion: Int { Int(handle.map { cPQserverVersion($0) } ?? 0) }

    /// The process that the server says serves this connection.
    var backendPID: Int64 { Int64(handle.map { cPQbackendPID($0) } ?? 0) }

    /// Ends it; what is running on the server ends, too, when the server notices.
    func close() {
        if let handle { cPQfinish(handle) }
        handle = nil
    }

    /// A name as SQL has it, in double quotes (`PQescapeIdentifier`).
    ///
    /// - Throws: `PGError`.
    func quoted(_ name: String) throws -> String {
        let handle = try opened()
        guard !name.utf8.contains(0), let text = cPQescapeIdentifier(handle, name, name.utf8.count) else {
            throw PGError(sqlState: "42602", message: "a name cannot be written in SQL")
        }
        defer { cPQfreemem(text) }
        return String(cString: text)
    }

    func opened() throws -> OpaquePointer {
        guard let handle else { throw PGError(message: "the connection is closed", isConnectionLost: true) }
        return handle
    }

    private static func message(of handle: OpaquePointer) -> String {
        cPQerrorMessage(handle).map { String(cString: $0).trimmedEnd } ?? ""
    }

    /// What libpq says went wrong; the connection is lost where it says so.
    func failure() -> PGError {
        guard let handle else { return PGError(message: "the connection is closed", isConnectionLost: true) }
        return PGError(message: Self.message(of: handle), isConnectionLost: cPQstatus(handle) == CONNECTION_BAD)
    }

    // MARK: Waiting

    /// Waits a little for a socket.
    ///
    /// - Returns: what of `events` it is ready for, or that it is broken; 0 where nothing has happened.
    private static func wait(_ socket: Int32, _ events: Int16) -> Int16 {
        var entry = pollfd(fd: socket, events: events, revents: 0)
        return poll(&entry, 1, pause) > 0 ? entry.revents : 0
    }

    /// What a wait knows of the interruption.
    struct Wait {
        let policy: InterruptionPolicy
        let since = ContinuousClock.now
        var cancelled: ContinuousClock.Instant?

        func isOver(_ interruption: Interruption) -> Bool {
            guard interruption.isRequested else { return false }
            switch policy {
            case .never: return false
            case .atOnce: return true
            case .after(let grace): return ContinuousClock.now - since >= grace
            }
        }
    }

    /// Sends what libpq has collected.
    ///
    /// - Throws: `PGError`; the interruption's `ImportError` while the server takes nothing: the connection is of
    ///   no use then.
    private func flush(_ policy: InterruptionPolicy, within limit: Duration? = nil) throws {
        let handle = try opened()
        let wait = Wait(policy: policy)
        while true {
            switch cPQflush(handle) {
            case 0: return
            case 1: break
            default: throw failure()
            }
            // The server may be sending what has to be read before it takes more.
            let ready = Self.wait(cPQsocket(handle), Int16(POLLIN | POLLOUT))
            if ready & Int16(POLLOUT) == 0, ready != 0, cPQconsumeInput(handle) == 0 { throw failure() }
            if ready & Int16(POLLIN) != 0, cPQconsumeInput(handle) == 0 { throw failure() }
            if ready == 0, wait.isOver(interruption) { throw interruption.error }
            if let limit, ContinuousClock.now - wait.since > limit { throw failure() }
        }
    }

    /// Waits until the next result is there.
    ///
    /// - Throws: `PGError`; the interruption's `ImportError` where the server does not end what was cancelled.
    func awaitResult(_ wait: inout Wait) throws {
        let handle = try opened()
        while cPQisBusy(handle) == 1 {
            if Self.wait(cPQsocket(handle), Int16(POLLIN)) == 0 {
                if let cancelled = wait.cancelled {
                    guard ContinuousClock.now - cancelled < Self.patience else {
                        close()
                        throw interruption.error
                    }
                } else if wait.isOver(interruption) {
                    wait.cancelled = .now
                    cancel()
                }
                // What encryption has received already, the socket does not show.
            }
            guard cPQconsumeInput(handle) == 1 else { throw failure() }
        }
    }

    /// Asks the server to end the running statement (`PQcancel`), over a connection of its own.
    private func cancel() {
        guard let handle, let request = cPQgetCancel(handle) else { return }
        defer { cPQfreeCancel(request) }
        var message = [CChar](repeating: 0, count: 256)
        cPQcancel(request, &message, Int32(message.count))
    }

    // MARK: Statements

    /// Runs one statement with parameters, or any number without.
    ///
    /// - Parameters:
    ///   - byRow: whether each row is a result of its own, as soon as it is there.
    ///   - body: gets each result; false leaves the rest unread, and cancels it.
    /// - Throws: `PGError`, and the interruption's `ImportError` where that has ended it.
    func run(
        _ sql: String,
        _ parameters: [PGValue],
        byRow: Bool = false,
        _ policy: InterruptionPolicy,
        _ body: (PGRows) -> Bool
    ) throws {
        try send(sql, parameters, policy)
        if byRow, let handle { cPQsetSingleRowMode(handle) }
        try forEachResult(policy, body)
    }

    private func send(_ sql: String, _ parameters: [PGValue], _ policy: InterruptionPolicy) throws {
        let handle = try opened()
        if parameters.isEmpty {
            try check(sql, parameters)
            guard cPQsendQuery(handle, sql) == 1 else { throw failure() }
        } else {
            try enqueue(sql, parameters, handle)
        }
        try finishSending(policy)
    }

    private func check(_ sql: String, _ parameters: [PGValue]) throws {
        // What comes after would be cut off silently.
        let hasNUL = parameters.contains { if case .text(let text) = $0 { text.utf8.contains(0) } else { false } }
        guard !sql.utf8.contains(0), !hasNUL else {
            throw PGError(sqlState: "22021", message: "a text of a statement has the character U+0000")
        }
    }

    /// Gives libpq one statement, which it may keep until `flush`.
    func enqueue(_ sql: String, _ parameters: [PGValue], _ handle: OpaquePointer) throws {
        try check(sql, parameters)
        var types: [Oid] = []
        var formats: [Int32] = []
        var lengths: [Int32] = []
        var values: [UnsafeMutablePointer<CChar>?] = []
        defer { for value in values { free(value) } }
        for parameter in parameters {
            if case .bytes(let bytes) = parameter {
                guard let length = Int32(exactly: bytes.count), let copy = malloc(max(bytes.count, 1)) else {
                    throw PGError(sqlState: "54000", message: "a value is too large to be sent")
                }
                bytes.withUnsafeBytes {
                    if let start = $0.baseAddress { copy.copyMemory(from: start, byteCount: $0.count) }
                }
                values.append(copy.assumingMemoryBound(to: CChar.self))
                lengths.append(length)
            } else {
                values.append(parameter.text.flatMap { strdup($0) })
                lengths.append(0)
            }
            // Bytes are sent as they are; of all else the server finds the type.
            let isBinary = if case .bytes = parameter { true } else { false }
            types.append(isBinary ? Self.byteaType : 0)
            formats.append(isBinary ? 1 : 0)
        }
        guard let count = Int32(exactly: values.count) else { throw failure() }
        let texts = values.map { UnsafePointer<CChar>($0) }
        guard cPQsendQueryParams(handle, sql, count, types, texts, lengths, formats, 0) == 1 else { throw failure() }
    }

    /// `BYTEAOID` of the server's `pg_type.h`; it never changes.
    private static let byteaType: Oid = 17

    func finishSending(_ policy: InterruptionPolicy) throws {
        do {
            try flush(policy)
        } catch let error as ImportError {
            // Half a statement cannot be taken back.
            close()
            throw error
        }
    }

    /// Calls `body` with each result that is no error, up to the end, or to where a COPY wants its rows.
    ///
    /// - Returns: whether a COPY wants its rows.
    /// - Throws: the server's first error as `PGError`, or the interruption's `ImportError` where that is its cause.
    @discardableResult
    private func forEachResult(_ policy: InterruptionPolicy, _ body: (PGRows) -> Bool) throws -> Bool {
        var wait = Wait(policy: policy)
        var error: PGError?
        var isWanted = true
        while true {
            do {
                try awaitResult(&wait)
            } catch let loss as PGError {
                // What the server has said before it went says more.
                throw error ?? loss
            }
            guard let handle, let result = cPQgetResult(handle) else { break }
            defer { cPQclear(result) }
            switch cPQresultStatus(result) {
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR:
                if error == nil { error = failure(of: result) }
                if error?.isConnectionLost == true { throw error ?? failure() }
            case PGRES_COPY_IN:
                if error == nil { return true }
                cPQputCopyEnd(handle, "ended by the client")
            case PGRES_COPY_OUT, PGRES_COPY_BOTH:
                close()
                throw PGError(sqlState: "0A000", message: "the statement sends a COPY", isConnectionLost: true)
            default:
                guard error == nil, isWanted else { continue }
                isWanted = body(Self.rows(result))
                if !isWanted { cancel() }
            }
        }
        guard let error, isWanted else { return false }
        if wait.cancelled != nil, error.sqlState == "57014" { throw interruption.error }
        throw error
    }

    func failure(of result: OpaquePointer) -> PGError {
        // The letters are those of postgres_ext.h (PG_DIAG_SQLSTATE and so on).
        func field(_ code: UnicodeScalar) -> String? {
            cPQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
        }
        let isFatal = ["FATAL", "PANIC"].contains(field("V"))
        let isLost = handle.map { cPQstatus($0) == CONNECTION_BAD } ?? true
        return PGError(
            sqlState: field("C") ?? "",
            message: field("M") ?? cPQresultErrorMessage(result).map { String(cString: $0).trimmedEnd } ?? "",
            detail: field("D"),
            hint: field("H"),
            context: field("W"),
            table: field("t"),
            column: field("c"),
            constraint: field("n"),
            isConnectionLost: isFatal || isLost
        )
    }

    static func rows(_ result: OpaquePointer) -> PGRows {
        let width = cPQnfields(result)
        let rows = (0..<cPQntuples(result)).map { row in
            PGRow(
                values: (0..<width).map { column in
                    guard cPQgetisnull(result, row, column) == 0, let text = cPQgetvalue(result, row, column) else {
                        return nil
                    }
                    let length = Int(cPQgetlength(result, row, column))
                    return String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
                }
            )
        }
        return PGRows(
            rows: rows,
            affected: cPQcmdTuples(result).flatMap { Int64(String(cString: $0)) } ?? 0,
            tag: cPQcmdStatus(result).map { String(cString: $0) } ?? ""
        )
    }

    // MARK: COPY

    /// Runs `COPY … FROM STDIN`, with the bytes that `body` gives to what it gets (`PQputCopyData`).
    ///
    /// - Returns: how many rows the server has taken.
    /// - Throws: `PGError`, the interruption's `ImportError`, and what `body` throws; no row is taken then.
    func copy(
        _ sql: String,
        _ policy: InterruptionPolicy,
        _ body: (_ put: @escaping (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Int64 {
        try send(sql, [], policy)
        guard try forEachResult(policy, { _ in true }) else {
            throw PGError(sqlState: "0A000", message: "the statement takes no rows")
        }
        do {
            try body { [unowned self] in try put($0, policy) }
            try endCopy(nil)
            try flush(policy)
        } catch {
            let refusal = abandonCopy()
            // Of a connection that breaks off, what the server has said before says more.
            guard let loss = error as? PGError, loss.isConnectionLost else { throw error }
            throw refusal.flatMap { $0.sqlState.isEmpty || $0.sqlState == "57014" ? nil : $0 } ?? loss
        }
        var count: Int64 = 0
        try forEachResult(policy) { rows in
            count = rows.affected
            return true
        }
        return count
    }

    private func put(_ bytes: UnsafeRawBufferPointer, _ policy: InterruptionPolicy) throws {
        let handle = try opened()
        guard let start = bytes.bindMemory(to: CChar.self).baseAddress else { return }
        guard let count = Int32(exactly: bytes.count) else {
            throw PGError(sqlState: "54000", message: "too many bytes at once")
        }
        while true {
            let isTaken = cPQputCopyData(handle, start, count)
            guard isTaken >= 0 else { throw failure() }
            // libpq would keep what the socket does not take, and so everything where the server is slow.
            try flush(policy)
            if isTaken == 1 { return }
        }
    }

    private func endCopy(_ reason: String?) throws {
        let handle = try opened()
        let end = ContinuousClock.now + Self.patience
        while true {
            let isTaken = cPQputCopyEnd(handle, reason)
            guard isTaken >= 0, ContinuousClock.now < end else { throw failure() }
            if isTaken == 1 { return }
            _ = Self.wait(cPQsocket(handle), Int16(POLLOUT))
        }
    }

    /// Makes the server forget a COPY, or closes the connection where it does not.
    ///
    /// - Returns: what the server says of it.
    private func abandonCopy() -> PGError? {
        // The server may be waiting for something else than rows.
        if interruption.isRequested { cancel() }
        do {
            try endCopy("ended by the client")
            try flush(.never, within: Self.patience)
        } catch {
            // Where nothing can be sent any more, the server's last words may have been received, and are read only now.
            guard !isOpen else {
                close()
                return nil
            }
        }
        do {
            try forEachResult(.after(.zero)) { _ in true }
            return nil
        } catch {
            let failure = error as? PGError
            if failure?.isConnectionLost ?? true { close() }
            return failure
        }
    }
}
