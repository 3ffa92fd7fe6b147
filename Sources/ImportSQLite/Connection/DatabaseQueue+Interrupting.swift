import GRDB
import ImportSources

extension DatabaseQueue {
    /// Does something on this connection that may take long, and that an interruption ends at once (`sqlite3_interrupt`).
    ///
    /// - Throws: the interruption's error where there was one; the transaction is to be rolled back then.
    package func interruptible<Result>(by interruption: Interruption, _ body: () throws -> Result) throws -> Result {
        try interruption.check()
        let isRunning = SharedFlag()
        interruption.onRequest { [self] in
            isRunning.ifSet { interrupt() }
        }
        defer { isRunning.clear() }
        do {
            return try body()
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_INTERRUPT {
            throw interruption.error
        }
    }
}
