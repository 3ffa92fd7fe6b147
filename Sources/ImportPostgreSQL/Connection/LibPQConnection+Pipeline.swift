import CPostgreSQL
import Importer

/// A statement with its parameters.
struct PGStatement: Hashable, Sendable {
    let sql: String
    let parameters: [PGValue]
    /// True if it is a question about objects' tables, not about the bookkeeping.
    let isAboutTables: Bool

    init(_ sql: String, _ parameters: [PGValue] = [], isAboutTables: Bool = false) {
        self.sql = sql
        self.parameters = parameters
        self.isAboutTables = isAboutTables
    }
}

extension LibPQConnection {
    /// The first statement of some that were sent together that has failed; those after it were not run.
    struct PipelineError: Error {
        let index: Int
        let failure: PGError
    }

    /// Runs statements one after the other in one round trip, up to the first that fails
    /// (<https://www.postgresql.org/docs/current/libpq-pipeline-mode.html>); none of them may be a COPY.
    ///
    /// Where they do not begin or end a transaction themselves, all of them are one.
    ///
    /// - Returns: the rows of each.
    /// - Throws: `PipelineError`; `PGError` where the connection is lost; the interruption's `ImportError`.
    func runTogether(_ statements: [PGStatement], _ policy: InterruptionPolicy) throws -> [PGRows] {
        let handle = try opened()
        guard cPQenterPipelineMode(handle) == 1 else { throw failure() }
        do {
            for statement in statements { try enqueue(statement.sql, statement.parameters, handle) }
            guard cPQpipelineSync(handle) == 1 else { throw failure() }
            try finishSending(policy)
        } catch {
            // What is sent in part cannot be taken back.
            close()
            throw error
        }
        var results: [PGRows] = []
        var error: PipelineError?
        var wait = Wait(policy: policy)
        for index in statements.indices {
            var rows = PGRows()
            while let result = try nextResult(&wait, after: error) {
                defer { cPQclear(result) }
                if let failure = failureIfAny(of: result) {
                    let first = error ?? PipelineError(index: index, failure: failure)
                    if failure.isConnectionLost { throw first.failure }
                    error = first
                } else if cpostgresql_was_skipped(result) == 0 {
                    rows = Self.rows(result)
                }
            }
            results.append(rows)
        }
        // The end of all, which has a result of its own.
        if let end = try nextResult(&wait, after: error) { cPQclear(end) }
        guard cPQexitPipelineMode(handle) == 1 else {
            defer { close() }
            throw error?.failure ?? failure()
        }
        guard let error else { return results }
        if wait.cancelled != nil, error.failure.sqlState == "57014" { throw interruption.error }
        throw error
    }

    private func nextResult(_ wait: inout Wait, after error: PipelineError?) throws -> OpaquePointer? {
        do {
            try awaitResult(&wait)
        } catch let loss as PGError {
            // What the server has said before it went says more.
            throw error?.failure ?? loss
        }
        return try cPQgetResult(opened())
    }

    private func failureIfAny(of result: OpaquePointer) -> PGError? {
        switch cPQresultStatus(result) {
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR: failure(of: result)
        default: nil
        }
    }
}
