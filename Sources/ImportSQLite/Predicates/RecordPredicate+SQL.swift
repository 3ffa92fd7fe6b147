import ImportEngine
import ImportModel
import ImportSources

extension RecordPredicate {
    /// Checks the predicate against an entity only; `StoreReader.check(_:for:)` also knows the destinations of relationships.
    ///
    /// - Throws: `RecordPredicateError` when an attribute does not exist, or is compared with a value of another type.
    public func check(for entity: EntityDescription) throws {
        _ = try compiled(for: FetchedEntity(entity))
    }

    /// The condition for `WHERE`, all values as arguments, and the tables beside the entity's that it depends on.
    ///
    /// - Throws: `RecordPredicateError` when an attribute does not exist, or is compared with a value of another type.
    package func compiled(for entity: FetchedEntity) throws -> (condition: SQLFragment, reached: Set<BytewiseString>) {
        let predicate = try checked { name throws(UnknownAttribute) in try entity.term(named: name) }
        return PredicateCompiler.compile(predicate)
    }
}
