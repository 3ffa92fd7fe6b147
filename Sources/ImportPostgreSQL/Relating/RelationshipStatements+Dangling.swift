import ImportModel
import Importer

/// References to what is not there.
extension RelationshipStatements {
    /// References that lead to nothing: their table, and what holds of them.
    struct Dangling {
        let relationship: Int
        let table: String
        let condition: String
        /// Their columns, in double quotes.
        let columns: [String]
        /// The columns that are cleared with them; nil where the whole row goes, of a join table.
        let cleared: [String]?

        var count: String { "SELECT count(*) FROM \(table) AS r WHERE \(condition)" }
        var removal: String {
            guard let cleared else { return "DELETE FROM \(table) AS r WHERE \(condition)" }
            return
                "UPDATE \(table) AS r SET \(cleared.map { "\($0) = NULL" }.joined(separator: ", ")) WHERE \(condition)"
        }
    }

    /// All places where references may lead to nothing, in the order of the relationships.
    var dangling: [Dangling] {
        tables.layout.relationships.indices.flatMap { index -> [Dangling] in
            let placement = tables.layout.relationships[index]
            guard placement.hasReferences(index) else { return [] }
            let target = placement.destination
            func condition(_ columns: [PGColumn]) -> String {
                let own = quoted(columns, of: "r")
                return """
                    \(areSet(own)) AND NOT EXISTS (SELECT FROM \(tables.table(of: target)) AS t \
                    WHERE \(same(quoted(tables.key(of: target), of: "t"), own)))
                    """
            }
            if placement.shape == .join {
                let join = tables.join(placement.owner)
                let columns = placement.owner == index ? join.destinationColumns : join.sourceColumns
                return [
                    Dangling(
                        relationship: index,
                        table: join.table,
                        condition: condition(columns),
                        columns: columns.map(\.quoted),
                        cleared: nil
                    )
                ]
            }
            return tables.references(index).map { reference in
                let own = Array(tables.columns[reference.holder][reference.columns])
                let position = reference.position.map { [tables.columns[reference.holder][$0]] } ?? []
                return Dangling(
                    relationship: index,
                    table: tables.table(of: reference.holder),
                    condition: condition(own),
                    columns: own.map(\.quoted),
                    cleared: (own + position).map(\.quoted)
                )
            }
        }
    }

    /// Queries for references to objects that are not there: the parts of the identifier, `width` in all, as JSON of what a SQLite
    /// store keeps, and how many refer to it.
    func listingUnresolved(_ relationship: Int) -> [(sql: String, width: Int)] {
        let key = tables.key(of: tables.layout.relationships[relationship].destination)
        guard !key.isEmpty else { return [] }
        func query(_ columns: [String], of key: [PGColumn], from rows: String) -> (sql: String, width: Int) {
            let values = zip(columns, key).map { kept($0, $1) }
            let groups = list(zip(columns, key).map { compared($0, $1) })
            return (
                """
                SELECT \(list(values)), count(*) FROM \(rows) GROUP BY \(groups) ORDER BY \(groups)
                """, columns.count
            )
        }
        let waiting = key.enumerated().map { part("target", $0, $1) }
        let isWaiting = "_import_link WHERE relationship = \(literal(tables.name(of: relationship)))"
        let named = tables.names.filter { $0.relationship == relationship }.map { naming in
            let values = naming.columns.enumerated().map { part("target->'by'", $0, $1) }
            return query(values, of: naming.columns, from: "\(isWaiting) AND \(Self.isNamed)")
        }
        return dangling.filter { $0.relationship == relationship }.map { one in
            query(one.columns.map { "r.\($0)" }, of: key, from: "\(one.table) AS r WHERE \(one.condition)")
        } + [query(waiting, of: key, from: "\(isWaiting) AND \(Self.isIdentified)")] + named
    }

    /// A value as JSON of what a SQLite store keeps of it.
    private func kept(_ value: String, _ column: PGColumn) -> String {
        switch column.type {
        case .timestamptz6:
            "to_json(to_char(\(value) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'))::text"
        case .timestamp6: "to_json(to_char(\(value), 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'))::text"
        case .timestamptz:
            "to_json(to_char(\(value) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'))::text"
        case .timestamp: "to_json(to_char(\(value), 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'))::text"
        case .boolean: "(\(value))::integer::text"
        case .numeric: "to_json((\(value))::text)::text"
        case .json: "to_json((\(value))::text)::text"
        case .text, .smallint, .integer, .bigint, .real, .double, .uuid, .bytea: "to_json(\(value))::text"
        }
    }

    /// How many elements of lists refer to an object that is not there.
    func countOfLost(_ reference: RelationshipTables.Reference) -> String {
        let own = quoted(Array(tables.columns[reference.holder][reference.columns]), of: "r")
        let key = quoted(tables.key(of: reference.target), of: "t")
        return """
            SELECT count(*) FROM \(tables.table(of: reference.holder)) AS r WHERE \(areSet(own)) AND NOT EXISTS (
                SELECT FROM \(tables.table(of: reference.target)) AS t WHERE \(same(key, own))
            )
            """
    }

    /// How many objects refer to what another one of the same entity refers to.
    func countOfShared(_ reference: RelationshipTables.Reference) -> String {
        let own = quoted(Array(tables.columns[reference.holder][reference.columns]), of: "t")
        return """
            SELECT count(*) FROM (SELECT FROM \(tables.table(of: reference.holder)) AS t WHERE \(areSet(own)) \
            GROUP BY \(list(own)) HAVING count(*) > 1) AS shared
            """
    }

    /// How many mandatory to-ones are empty, whose other side might have stated them; nil for any other relationship.
    func missing(_ index: Int) -> String? {
        let placement = tables.layout.relationships[index]
        guard !placement.description.isOptional, [.oneToMany, .oneToOne].contains(placement.shape),
            let reference = tables.reference(index)
        else { return nil }
        let own = quoted(Array(tables.columns[reference.holder][reference.columns]), of: "t")
        let isEmpty = own.map { "\($0) IS NULL" }.joined(separator: " OR ")
        return "SELECT count(*) FROM \(tables.table(of: reference.holder)) AS t WHERE \(isEmpty)"
    }
}
