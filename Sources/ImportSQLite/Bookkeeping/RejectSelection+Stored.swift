import GRDB
import ImportEngine

extension RejectSelection {
    /// True if the store has an open reject that is whole and that none of these retries has tried.
    package func hasUntried(besidesThoseOf retries: [Int64], _ database: Database) throws -> Bool {
        let numbers = retries.map(String.init).joined(separator: ", ")
        let isNew =
            retries.isEmpty ? "" : "AND id NOT IN (SELECT reject FROM _import_retry WHERE job IN (\(numbers)))"
        return try BookkeepingRow.fetchOne(
            database,
            from: "_import_reject",
            sql: """
                SELECT 1 FROM _import_reject
                WHERE state = 'open' AND length(record) >= length
                    AND (?1 IS NULL OR job = ?1) AND (?2 IS NULL OR entity = ?2) \(isNew)
                LIMIT 1
                """,
            arguments: [job, entity]
        ) != nil
    }
}
