import GRDB
import ImportEngine
import ImportModel

/// The groups of a job's errors in the store: the first 1,000 one by one, in source order, and the rest together.
package struct ErrorGroupTable: Sendable {
    package static let name = "_import_ledger"
    /// At most this many groups are counted one by one, per job.
    static let namedGroups = 1_000

    private static let others = ErrorCounts.Key(
        entity: "",
        keyPath: ErrorGroup.others,
        code: "",
        expected: "",
        found: ""
    )

    private let job: Int64
    private var known: Set<ErrorCounts.Key> = []

    /// - Throws: `DatabaseError` when the table cannot be read.
    package init(_ database: Database, job: Int64) throws {
        self.job = job
        for row in try BookkeepingRow.fetchAll(
            database,
            from: Self.name,
            sql: """
                SELECT entity, attribute, kind, expected, found FROM _import_ledger
                WHERE job = ? AND is_error AND attribute <> ?
                """,
            arguments: [job, ErrorGroup.others]
        ) {
            known.insert(
                ErrorCounts.Key(
                    entity: try row.text("entity"),
                    keyPath: try row.text("attribute"),
                    code: try row.text("kind"),
                    expected: try row.text("expected"),
                    found: try row.text("found")
                )
            )
        }
    }

    /// Adds the errors of a batch, in the transaction that has its rejects.
    ///
    /// Batches come in source order, so which groups are counted one by one does not depend on who decoded them. What turns
    /// out to be an error when all records are in may come before all others of its group.
    ///
    /// - Parameter isLimited: whether they are counted with the rest where there are many groups already.
    package mutating func add(
        _ errors: borrowing ErrorCounts,
        source: Int,
        isLimited: Bool = true,
        _ database: Database
    ) throws {
        guard !errors.isEmpty else { return }
        try BookkeepingSchema.make([Self.name], database)
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO _import_ledger (
                    job, is_error, entity, attribute, kind, expected, found, count, first_source, first_byte_offset,
                    first_ordinal
                ) VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET count = count + excluded.count,
                    first_source = iif(excluded.first_ordinal < first_ordinal, excluded.first_source, first_source),
                    first_byte_offset =
                        iif(excluded.first_ordinal < first_ordinal, excluded.first_byte_offset, first_byte_offset),
                    first_ordinal = min(excluded.first_ordinal, first_ordinal)
                """
        )
        for group in errors.inSourceOrder {
            let key = isLimited ? name(group.key) : group.key
            try statement.execute(arguments: [
                job, key.entity.text, key.keyPath.text, key.code, key.expected.text, key.found.text, group.count,
                source, group.firstByteOffset, group.firstOrdinal,
            ])
        }
    }

    private mutating func name(_ key: ErrorCounts.Key) -> ErrorCounts.Key {
        if known.contains(key) { return key }
        guard known.count < Self.namedGroups else { return Self.others }
        known.insert(key)
        return key
    }

    /// The groups of a job in source order.
    ///
    /// - Parameter sources: the names of the job's sources.
    package static func groups(_ database: Database, job: Int64, sources: [String]) throws -> [ErrorGroup] {
        try BookkeepingRow.all(database, from: name, of: job, "AND is_error ORDER BY first_ordinal, id").map { row in
            let source = try row.index("first_source")
            return ErrorGroup(
                entity: try row.text("entity"),
                keyPath: try row.text("attribute"),
                code: try row.text("kind"),
                expected: try row.text("expected"),
                found: try row.text("found"),
                count: try row.number("count"),
                first: ErrorGroup.Place(
                    source: sources.indices.contains(source) ? sources[source] : "",
                    byteOffset: try row.number("first_byte_offset"),
                    record: try row.number("first_ordinal")
                )
            )
        }
    }
}
