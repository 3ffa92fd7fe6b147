import ImportModel
import Importer

extension PostgreSQLInspection {
    /// Calls `body` with the references to objects that do not exist, by relationship in the model's order.
    ///
    /// The relationships are those of the last job whose entities relate to one another.
    ///
    /// - Throws: `ImportError` as `status` does, and what `body` throws.
    public func forEachUnresolved(_ body: (StoreInspection.UnresolvedReference) throws -> Void) throws {
        try read { connection in
            let jobs = try StoredJob.all(connection, label: label)
            guard !jobs.isEmpty else { throw noImport }
            guard let job = jobs.last(where: { $0.model?.isFlat == false }),
                let tables = try PGModel(stored: job, label: label)?.related
            else { return }
            let statements = RelationshipStatements(
                staged: RelationshipStagingTables(job: job.id, tables: tables),
                filled: [],
                filledJoins: []
            )
            for relationship in tables.layout.relationships.indices {
                let name = tables.name(of: relationship)
                for query in statements.listingUnresolved(relationship) {
                    try store.forEachRow(query.sql, [], connection) { row in
                        let identifier = try (0..<query.width).map { try row.text($0) }
                        try body(
                            StoreInspection.UnresolvedReference(
                                relationship: name,
                                identifier: identifier,
                                count: try row.integer(query.width)
                            )
                        )
                    }
                }
            }
        }
    }
}
