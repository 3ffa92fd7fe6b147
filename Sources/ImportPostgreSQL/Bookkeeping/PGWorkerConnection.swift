import Importer

/// A worker's connection, which is made again where it is lost.
final class PGWorkerConnection {
    private let store: PostgreSQLStore
    private let interruption: Interruption
    private var connection: PGConnection?

    init(_ store: PostgreSQLStore, _ interruption: Interruption) {
        self.store = store
        self.interruption = interruption
    }

    func close() {
        connection?.close()
        connection = nil
    }

    /// Calls `body` with a connection, and again, perhaps with another one, where the server could not do it just then.
    ///
    /// - Parameter body: may be done twice.
    /// - Throws: `ImportError` when the server is away for too long, `UnknownCommitOutcome`, and what else `body` throws.
    func use<Result>(_ body: (PGConnection) throws -> Result) throws -> Result {
        var patience = store.patience
        while true {
            do {
                if let connection { return try body(connection) }
                let made = try store.connectWorker(interruption)
                connection = made
                return try body(made)
            } catch let failure as PGError where failure.isTransient {
                if failure.isConnectionLost { close() }
                try patience.wait(after: failure, label: store.label, interruption)
            } catch let failure as PGError {
                throw failure.importError(at: store.label, showsValues: store.showsValues)
            }
        }
    }

    /// Does a transaction exactly once, also where the answer to its COMMIT is lost.
    ///
    /// - Parameters:
    ///   - body: the transaction, with a fence that lets it through once only; returns whether it let it through.
    ///   - wasDone: asks, on another connection, whether the transaction was committed; waits for it where it is not over.
    /// - Returns: whether this process has committed it.
    func commit(
        _ body: (PGConnection) throws -> Bool,
        wasDone: (PGConnection) throws -> Bool
    ) throws -> Bool {
        var patience = store.patience
        while true {
            do {
                return try use(body)
            } catch is UnknownCommitOutcome {
                close()
                try patience.wait(after: nil, label: store.label, interruption)
                if try use(wasDone) { return true }
            }
        }
    }
}
