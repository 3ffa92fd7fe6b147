import ImportModel
import Importer

/// References to what is not there.
extension RelationStatements {
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
            func condition(_ columns: [ServerColumn]) -> String {
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
            guard let reference = tables.reference(index) else { return [] }
            let own = Array(tables.columns[reference.holder][reference.columns])
            let position = reference.position.map { [tables.columns[reference.holder][$0]] } ?? []
            return [
                Dangling(
                    relationship: index,
                    table: tables.table(of: reference.holder),
                    condition: condition(own),
                    columns: own.map(\.quoted),
                    cleared: (own + position).map(\.quoted)
                )
            ]
        }
    }

    /// How many elements of lists refer to an object that is not there.
    func countOfLost(_ reference: RelatedTables.Reference) -> String {
        let own = quoted(Array(tables.columns[reference.holder][reference.columns]), of: "r")
        let key = quoted(tables.key(of: reference.target), of: "t")
        return """
            SELECT count(*) FROM \(tables.table(of: reference.holder)) AS r WHERE \(areSet(own)) AND NOT EXISTS (
                SELECT FROM \(tables.table(of: reference.target)) AS t WHERE \(same(key, own))
            )
            """
    }

    /// How many objects refer to what another one of the same entity refers to.
    func countOfShared(_ reference: RelatedTables.Reference) -> String {
        let own = quoted(Array(tables.columns[reference.holder][reference.columns]), of: "t")
        return """
            SELECT count(*) FROM (SELECT FROM \(tables.table(of: reference.holder)) AS t WHERE \(areSet(own)) \
            GROUP BY \(list(own)) HAVING count(*) > 1) AS shared
            """
    }

    /// How many mandatory to-ones are empty, whose other side might have stated them; nil for any other relationship.
    func missing(_ index: Int) -> String? {
        let placement = tables.layout.relationships[index]
        guard !placement.description.isOptional, !placement.description.isToMany, placement.shape == .oneToMany,
            let reference = tables.reference(index)
        else { return nil }
        let own = quoted(Array(tables.columns[reference.holder][reference.columns]), of: "t")
        let isEmpty = own.map { "\($0) IS NULL" }.joined(separator: " OR ")
        return "SELECT count(*) FROM \(tables.table(of: reference.holder)) AS t WHERE \(isEmpty)"
    }
}
