import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

extension StoreInspection {
    /// References to an object that does not exist.
    public struct UnresolvedReference: Sendable, Hashable, Codable {
        /// The relationship: `order.customer`.
        public let relationship: String
        /// The identifier of the object, or the values of the attributes of the relationship's `by`: as JSON, in their order.
        public let identifier: [String]
        /// The number of references.
        public let count: Int64

        package init(relationship: String, identifier: [String], count: Int64) {
            self.relationship = relationship
            self.identifier = identifier
            self.count = count
        }
    }

    /// How many references of each relationship led nowhere when a job was settled.
    package func unresolved(of job: StoredJob, _ database: Database) throws -> [String: Int64]? {
        guard job.model?.isFlat == false else { return nil }
        return try BookkeepingRow.all(database, from: "_import_unresolved", of: job.id)
            .reduce(into: [:]) { counts, row in counts[try row.text("relationship")] = try row.number("count") }
    }

    /// Calls `body` with the references to objects that do not exist, by relationship in the model's order.
    ///
    /// The relationships are those of the last job whose entities relate to one another.
    ///
    /// - Throws: `ImportError` as `status` does, and what `body` throws.
    public func forEachUnresolved(_ body: (UnresolvedReference) throws -> Void) throws {
        try read { database in
            guard try StoredJob.isAnyThere(database) else { throw noImport }
            guard let model = try StoredJob.lastGraphModel(database) else { return }
            let layout = try ModelLayout(importing: model)
            let statements = try LinkStatementCache(database)
            for relationship in layout.relationships.indices {
                try forEachUnresolved(LinkStatements(relationship, layout), layout, statements, body)
            }
        }
    }

    private func forEachUnresolved(
        _ form: LinkStatements,
        _ layout: ModelLayout,
        _ statements: LinkStatementCache,
        _ body: (UnresolvedReference) throws -> Void
    ) throws {
        let placement = layout.relationships[form.relationship]
        let width = Int32(form.destinationKey.count)
        let key = layout.key(of: placement.destination)
        if placement.shape == .join || placement.owner == form.relationship && placement.shape != .ownedDestination {
            let references = LinkStatements.all(form.relationship, layout).map { _, form in
                "SELECT \(form.danglingKey) FROM \(form.dangling(in: layout, destination: placement.destination))"
            }
            let columns = (1...max(1, width)).map(String.init).joined(separator: ", ")
            try statements.run(
                "SELECT *, count(*) FROM (\(references.joined(separator: " UNION ALL "))) GROUP BY \(columns)"
            ) { row in
                let identifier = RowKey(row, columns: 0..<width).texts(in: key)
                let count = sqlite3_column_int64(row, width)
                try body(UnresolvedReference(relationship: form.name, identifier: identifier, count: count))
            }
        }
        guard try statements.database.hasTable("_import_link") else { return }
        try statements.run(
            "SELECT target, count(*) FROM _import_link WHERE relationship = ? GROUP BY target",
            [.text(form.name)]
        ) { row in
            let bytes = row.bytes(of: 0)
            let target = RowKey(bytes: bytes.first == LinkWriter.mark ? Array(bytes.dropFirst()) : bytes)
            let identifier = target.texts(in: form.names.isEmpty ? key : [])
            let count = sqlite3_column_int64(row, 1)
            try body(UnresolvedReference(relationship: form.name, identifier: identifier, count: count))
        }
    }
}
