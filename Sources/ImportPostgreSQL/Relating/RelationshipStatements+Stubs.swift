import ImportModel
import Importer

/// Rows that are there for references alone.
extension RelationshipStatements {
    /// A condition: the object with this key is there for references alone.
    func isStub(_ entity: Int, _ key: [String]) -> String {
        """
        EXISTS (SELECT FROM _import_stub AS b WHERE b.table_name = \(literal(tables.layout.table(of: entity))) \
        AND b.key::text = \(self.key(key))::text)
        """
    }

    /// Takes away rows that were there for references alone and that the job has objects for, and says how many of which entity.
    ///
    /// The objects are then new, as they are.
    func fillingStubs(of entity: Int) -> String {
        let staged = tables.keyPlaces(of: entity).map { "s.c\($0)" }
        let names = staged.indices.map { "k\($0)" }
        let named = zip(staged, names).map { "\($0) AS \($1)" }
        let own = names.map { "k.\($0)" }
        return """
            WITH _import_keys AS (SELECT DISTINCT \(list(named)) FROM \(stage(of: entity)) AS s),
            _import_filled AS (
                DELETE FROM _import_stub AS b USING _import_keys AS k
                WHERE b.table_name = \(literal(tables.layout.table(of: entity))) AND b.key::text = \(key(own))::text
                RETURNING \(list(own))
            ), gone AS (
                DELETE FROM \(tables.table(of: entity)) AS t USING _import_filled AS k
                WHERE \(same(quoted(tables.key(of: entity), of: "t"), own))
                RETURNING \(subentity(ofStored: "t", entity)) AS kind
            ) SELECT kind, count(*) FROM gone WHERE kind IS NOT NULL GROUP BY kind
            """
    }

    /// Makes rows for what references lead to, with their keys alone, and says how many.
    func makingStubs(_ dangling: Dangling) -> String {
        let target = tables.layout.relationships[dangling.relationship].destination
        let names = tables.key(of: target).map(\.quoted)
        let subentity = subentityOfStubs(target)
        return """
            WITH made AS (
                INSERT INTO \(tables.table(of: target)) (\(list(names + subentity.names)))
                SELECT DISTINCT \(list(dangling.columns.map { "r.\($0)" } + subentity.values)) FROM \(dangling.table) AS r
                WHERE \(dangling.condition) RETURNING \(list(names))
            ), noted AS (
                INSERT INTO _import_stub SELECT \(literal(tables.layout.table(of: target))), \(key(names)) FROM made
            ) SELECT count(*) FROM made
            """
    }

    /// The column that says of which entity a row of an entity is, and what it has then; none where the table has no other.
    private func subentityOfStubs(_ entity: Int) -> (names: [String], values: [String]) {
        guard let place = tables.subentityColumn(of: entity) else { return ([], []) }
        return ([tables.columns[entity][place].quoted], [literal(tables.layout.entities[entity].name)])
    }

    /// Makes rows for what lists name, linked to the objects that have the lists, and says how many.
    func makingStubs(_ reference: RelationshipTables.Reference) -> String? {
        guard let relationship = reference.list else { return nil }
        let own = Array(tables.columns[reference.holder][reference.columns])
        let keys = tables.key(of: reference.holder)
        let position = reference.position.map { [tables.columns[reference.holder][$0].quoted] } ?? []
        // What identifies a row may be what it refers to.
        let references = reference.isParent ? [] : own
        let subentity = subentityOfStubs(tables.layout.relationships[relationship].destination)
        let names = (keys + references).map(\.quoted) + position + subentity.names
        let table = tables.table(of: reference.holder)
        let isThere = same(quoted(keys, of: "t"), keys.enumerated().map { part("w.target", $0, $1) })
        // Another relationship may have made the row.
        let sets =
            references.enumerated().map { "\($1.quoted) = \(part("w.source", $0, $1))" }
            + position.map { "\($0) = nullif(w.position, -1)" }
        let linked =
            sets.isEmpty
            ? "" : "linked AS (UPDATE \(table) AS t SET \(list(sets)) FROM _import_waiting AS w WHERE \(isThere)), "
        let values =
            keys.enumerated().map { part("target", $0, $1) } + references.enumerated().map { part("source", $0, $1) }
            + position.map { _ in "nullif(position, -1)" } + subentity.values
        return """
            WITH _import_waiting AS (
                DELETE FROM _import_link
                WHERE relationship = \(literal(tables.name(of: relationship))) AND \(Self.isIdentified)
                RETURNING source, target, position
            ), \(linked)made AS (
                INSERT INTO \(table) (\(list(names))) SELECT \(list(values)) FROM _import_waiting AS w
                WHERE NOT EXISTS (SELECT FROM \(table) AS t WHERE \(isThere))
                RETURNING \(list(keys.map(\.quoted)))
            ), noted AS (
                INSERT INTO _import_stub
                SELECT \(literal(tables.layout.table(of: reference.holder))), \(key(keys.map(\.quoted))) FROM made
            ) SELECT count(*) FROM made
            """
    }
}
