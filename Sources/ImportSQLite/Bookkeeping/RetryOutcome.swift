import GRDB

/// What became of a record of a retry.
package enum RetryOutcome: String {
    /// Its reject was not open any more.
    case ignored
    /// It does not fit again; its reject stays open.
    case rejected
    /// It is in the store, and its reject is repaired.
    case accepted = "taken"

    /// True if the reject that a retry's record repairs is open.
    package static func isOpen(_ ordinal: Int64, of job: Int64, _ database: Database) throws -> Bool {
        let sql = """
            SELECT EXISTS (
                SELECT 1 FROM _import_retry JOIN _import_reject ON id = reject
                WHERE _import_retry.job = ? AND _import_retry.ordinal = ? AND state = 'open'
            )
            """
        return try Bool.fetchOne(database.cachedStatement(sql: sql), arguments: [job, ordinal]) ?? false
    }

    /// Notes that a retry's record is a reject again.
    package static func reject(_ ordinal: Int64, of job: Int64, _ database: Database) throws {
        try database.cachedStatement(
            sql: "UPDATE _import_retry SET outcome = 'rejected' WHERE job = ? AND ordinal = ?"
        ).execute(arguments: [job, ordinal])
    }

    /// Settles a retry's records: what is not rejected is accepted, and its reject is repaired with that.
    ///
    /// - Parameter ordinals: of one commit.
    package static func settle(_ ordinals: ClosedRange<Int64>, of job: Int64, _ database: Database) throws {
        try database.cachedStatement(
            sql: """
                UPDATE _import_retry SET outcome =
                    CASE (SELECT state FROM _import_reject WHERE id = reject) WHEN 'open' THEN 'taken' ELSE 'ignored' END
                WHERE job = ? AND ordinal BETWEEN ? AND ? AND outcome IS NULL
                """
        ).execute(arguments: [job, ordinals.lowerBound, ordinals.upperBound])
        try database.cachedStatement(
            sql: """
                UPDATE _import_reject SET state = 'repaired' WHERE state = 'open' AND id IN (
                    SELECT reject FROM _import_retry WHERE job = ? AND ordinal BETWEEN ? AND ? AND outcome = 'taken'
                )
                """
        ).execute(arguments: [job, ordinals.lowerBound, ordinals.upperBound])
    }

    /// Settles again what was taken back of a retry.
    static func settleAgain(_ job: Int64, _ database: Database) throws {
        try set("repaired", of: job, from: "'open', 'undone'", database)
    }

    /// Takes back what a retry has settled.
    static func unsettle(_ job: Int64, _ database: Database) throws {
        try set("open", of: job, from: "'repaired'", database)
    }

    /// Sets the states of the rejects that a retry has repaired, of those that are in others.
    private static func set(_ state: String, of job: Int64, from states: String, _ database: Database) throws {
        guard try database.hasTable("_import_retry") else { return }
        try database.execute(
            sql: """
                UPDATE _import_reject SET state = ? WHERE state IN (\(states)) AND id IN (
                    SELECT reject FROM _import_retry WHERE job = ? AND outcome = 'taken'
                )
                """,
            arguments: [state, job]
        )
    }
}
