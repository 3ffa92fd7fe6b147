import ImportPostgreSQL
import Importer

/// What can be asked of a store's jobs, whatever the store is.
protocol JobInspection {
    func status() throws -> ImportReport
    func status(of job: Int64) throws -> ImportReport
    func unfinished() throws -> [ImportReport]
    func jobs(newest limit: Int?) throws -> [StoreInspection.JobSummary]
    func jobCount() throws -> Int
    func forEachReject(_ selection: RejectSelection, _ body: (StoreInspection.Reject) throws -> Void) throws
    func exportRejects(
        _ selection: RejectSelection,
        as format: RejectExport.Format,
        _ body: ([UInt8]) throws -> Void
    ) throws -> RejectExport
    func exportRejects(
        _ selection: RejectSelection,
        as format: RejectExport.Format,
        toFile path: String,
        overwrites: Bool
    ) throws -> RejectExport
    func forEachSource(
        of job: Int64?,
        includingOutside includesOutside: Bool,
        _ body: (StoreInspection.Source) throws -> Void
    ) throws
    func verify() throws -> [StoreInspection.Check]
}

extension StoreInspection: JobInspection {}
extension PostgreSQLInspection: JobInspection {}

/// What an argument names as a store: a file, or a schema of a server.
enum StoreLocation {
    case file(String)
    case server(PostgreSQLStore)

    /// - Parameter others: more options of a server, and whether they are given.
    /// - Throws: `ImportError` with `.usage` where an address of a server cannot be read, and where a file is given options of
    ///   one.
    init(_ text: String, _ arguments: PostgreSQLArguments, _ others: [(String, Bool)] = [], showsValues: Bool = false)
        throws
    {
        guard PostgreSQLAddress.isOne(text) else {
            try arguments.checkThatNoneIsGiven(others)
            self = .file(text)
            return
        }
        self = .server(try arguments.store(at: text, showsValues: showsValues))
    }

    /// Reads records back.
    ///
    /// - Throws: `ImportError` where the store cannot be read, and as `SignalForwarding.start(to:)` does.
    func reader() throws -> any RecordReading {
        switch self {
        case .file(let path): return try StoreReader(store: path)
        case .server(let store):
            // The server goes on with a statement until it is told that nobody waits.
            let interruption = Interruption()
            try SignalForwarding.endSoon(after: interruption)
            return PostgreSQLReader(store, interruption: interruption)
        }
    }

    /// Checks that the job and the entity of rejects exist; called if none was found.
    func check(_ rejects: RejectArguments) throws {
        if let job = rejects.job { _ = try inspection.status(of: job) }
        if let entity = rejects.entity { _ = try reader().entity(named: entity) }
    }

    /// Takes the bookkeeping out, of a copy where one is to be made.
    func stripped(allowsLoss: Bool = false, to copy: String? = nil) throws -> StripTool.Outcome {
        switch self {
        case .file(let path): try StripTool(store: path, allowsLoss: allowsLoss).run(to: copy)
        case .server(let store): try StripTool.run(on: store, allowsLoss: allowsLoss)
        }
    }

    var inspection: any JobInspection {
        switch self {
        case .file(let path): StoreInspection(store: path)
        case .server(let store): PostgreSQLInspection(store)
        }
    }
}
