import Importer

/// Retries of records of entities that relate to one another: what becomes of them is known when all of them are staged.
extension RetryTable {
    /// Holds the rejects of all records that are staged until the transaction's end.
    ///
    /// - Parameter ordinals: a table of records, which gets those whose reject is not open any more.
    /// - Returns: how many these are.
    func holdAll(closed ordinals: String, _ connection: PGConnection) throws -> Int64 {
        try connection.execute(
            """
            SELECT count(*) FROM (
                SELECT reject.id FROM _import_retry AS retry JOIN _import_reject AS reject ON reject.id = retry.reject
                WHERE retry.job = $1 AND retry.outcome IS NULL ORDER BY reject.id FOR UPDATE OF reject
            ) AS held
            """,
            [id]
        )
        return try connection.execute(
            """
            WITH closed AS (
                UPDATE _import_retry AS retry SET outcome = 'ignored' FROM _import_reject AS reject
                WHERE retry.job = $1 AND retry.outcome IS NULL AND reject.id = retry.reject AND reject.state <> 'open'
                RETURNING retry.ordinal
            ) INSERT INTO \(ordinals) SELECT ordinal FROM closed
            """,
            [id]
        ).affected
    }

    /// Settles all records that are staged, when the job's own rejects are written.
    func settleAll(_ connection: PGConnection) throws {
        try connection.execute(
            "UPDATE _import_retry SET outcome = 'taken' WHERE job = $1 AND outcome IS NULL",
            [id]
        )
        try settleStaged(connection)
    }
}
