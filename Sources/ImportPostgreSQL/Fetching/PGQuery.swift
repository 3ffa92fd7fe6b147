import ImportModel
import Importer

/// The statements that a request comes to.
struct PGQuery {
    let terms: [PGAttribute]
    /// Reads the terms of each record.
    let selecting: String
    /// Counts the records that meet the predicate.
    let counting: String
    let parameters: [PGValue]

    /// - Parameter names: of the attributes that are read, in order; nil for all.
    /// - Throws: `ImportError` or `RecordPredicateError` where the request does not fit the entity, or a server.
    init(_ request: FetchRequest, attributes names: [String]?, of entity: PGEntity) throws {
        guard request.includes.isEmpty else {
            throw ImportError(
                .optionsConflict,
                "the objects of relationships cannot be read from a server yet",
                advice: "Include none, or read them with SQL."
            )
        }
        terms = try entity.columns(named: names)
        let predicate = try request.predicate.map { try PGPredicate($0, for: entity) }
        parameters = predicate?.parameters ?? []
        let source = "FROM \(entity.source(predicate.map { "(\($0.sql))" }))"
        var selecting = "SELECT \(terms.map(\.column.quoted).joined(separator: ", ")) \(source)"
        selecting += " ORDER BY \(try Self.order(request.sort, of: entity))"
        if let limit = request.limit { selecting += " LIMIT \(max(0, limit))" }
        if request.offset > 0 { selecting += " OFFSET \(request.offset)" }
        self.selecting = selecting
        counting = "SELECT count(*) \(source)"
    }

    /// The order: where nothing else decides, by identifier, and then by where the rows are; in the direction of the last attribute.
    ///
    /// Nulls come before every value, as for SQLite.
    private static func order(_ sort: [RecordSort], of entity: PGEntity) throws -> String {
        var orders: [String] = []
        for sort in sort {
            do throws(UnknownAttribute) {
                orders.append(order(try entity.term(named: sort.attribute), sort.ascending, sort.collation))
            } catch {
                throw ImportError(error)
            }
        }
        let ascending = sort.last?.ascending ?? true
        for name in entity.description.identifier
        where !sort.contains(where: { BytewiseString($0.attribute) == BytewiseString(name) }) {
            if let term = try? entity.term(named: name) { orders.append(order(term, ascending, .binary)) }
        }
        return (orders + ["ctid \(ascending ? "ASC" : "DESC")"]).joined(separator: ", ")
    }

    private static func order(_ term: PGAttribute, _ ascending: Bool, _ collation: RecordSort.Collation) -> String {
        let key =
            switch (term.isText, collation) {
            case (false, _): term.sql
            case (true, .binary): term.text
            case (true, .nocase): "lower(\(term.text))"
            case (true, .rtrim): "rtrim(\(term.text))"
            }
        return "\(key) \(ascending ? "ASC NULLS FIRST" : "DESC NULLS LAST")"
    }
}
