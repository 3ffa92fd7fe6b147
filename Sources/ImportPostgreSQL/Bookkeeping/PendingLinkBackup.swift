/// What waited for rows before a job was settled, and which rows were there for references alone: settling changes both, and a job
/// that is taken out of the schema leaves them as they were.
struct PendingLinkBackup {
    private static let tables = ["_import_link", "_import_stub"]

    let job: Int64

    private func copy(_ table: String) -> String { "\(StagingName.prefix(of: job))kept\(table)" }

    /// Keeps both, before the first step; they go with what is staged.
    func keep(_ connection: PGConnection) throws {
        for table in Self.tables { _ = try connection.execute("CREATE TABLE \(copy(table)) AS TABLE \(table)") }
    }

    /// Has both as they were kept, if they were.
    func putBack(_ connection: PGConnection) throws {
        for table in Self.tables {
            guard try BookkeepingSchema.has(copy(table), connection) else { continue }
            _ = try connection.execute("DELETE FROM \(table); INSERT INTO \(table) TABLE \(copy(table))")
        }
    }
}
