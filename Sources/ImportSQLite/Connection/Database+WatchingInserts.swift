import GRDB
import GRDBSQLite

extension Database {
    /// Calls `watch` now and then while `body` runs, with the row id that was inserted last (`sqlite3_progress_handler`).
    ///
    /// - Parameter watch: must not use the connection.
    package func watchingInserts<Result>(_ watch: @escaping (Int64) -> Void, _ body: () throws -> Result) rethrows
        -> Result
    {
        guard let connection = sqliteConnection else { return try body() }
        let observer = InsertObserver(connection: connection, watch: watch)
        return try withExtendedLifetime(observer) {
            sqlite3_progress_handler(
                connection,
                Int32(InsertObserver.interval),
                { own in
                    guard let own else { return 0 }
                    let observer = Unmanaged<InsertObserver>.fromOpaque(own).takeUnretainedValue()
                    observer.watch(sqlite3_last_insert_rowid(observer.connection))
                    return 0
                },
                Unmanaged.passUnretained(observer).toOpaque()
            )
            defer { sqlite3_progress_handler(connection, 0, nil, nil) }
            return try body()
        }
    }
}

private final class InsertObserver {
    /// How many instructions of SQLite's are between two calls: a moment's work.
    static let interval = 1_000_000

    let connection: OpaquePointer
    let watch: (Int64) -> Void

    init(connection: OpaquePointer, watch: @escaping (Int64) -> Void) {
        self.connection = connection
        self.watch = watch
    }
}
