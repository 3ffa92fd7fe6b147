import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

extension RecordPredicate {
    /// Calls `body` with the row ids of an entity's objects that meet a predicate, in order.
    ///
    /// - Parameter body: nil only to make sure that the predicate makes sense.
    /// - Throws: `ImportError` with `.usage` where it makes none.
    @Sendable package static func selectRows(
        _ text: String,
        of name: String,
        in database: Database,
        _ body: ((Int64) throws -> Void)?
    ) throws {
        let graph = try StoredGraph(database)
        guard let stored = graph.entities.first(where: { $0.description.name.hasSameBytes(as: name) }) else {
            throw ImportError(.unknownEntity, "the store has no entity \(name.printable)", advice: "Check the model.")
        }
        let entity = FetchedEntity(stored, in: graph)
        let condition: SQLFragment
        do {
            condition = try RecordPredicate(parsing: text).compiled(for: entity).condition
        } catch let error as RecordPredicateError {
            throw ImportError(
                .optionInvalid,
                "\(.mirrorScope): \(error.message)",
                advice:
                    "\(error.advice ?? "It is imported, all, or a predicate on attributes that \(name.printable) has.")"
            )
        }
        guard let body else { return }
        database.add(collation: DecimalText.collation)
        let conditions = [entity.condition, condition].compactMap(\.self)
        let query =
            SQLFragment("SELECT rowid FROM \(stored.description.table.quotedIdentifier) WHERE ") + .all(conditions)
            + SQLFragment(" ORDER BY rowid")
        let statement = try RawRowCursor(database, query)
        defer { statement.reset() }
        while let row = try statement.next() { try body(row.integer(at: 0)) }
    }
}
