import ImportModel
import Importer

/// What records may say of objects without identifier that statements over whole tables do not settle.
extension RelationStatements {
    /// Queries for whether records say such, each with what it is.
    var contradictions: [(what: String, query: String)] {
        tables.elements.filter(\.isStated).flatMap(contradictions)
            + tables.referring.compactMap { tables.areElements($0.target) ? contradiction($0) : nil }
            + tables.joins.flatMap(contradictions)
    }

    /// Objects that say themselves whose they are, beside lists of the same that have them: which ones the list overwrites depends on
    /// what has come between.
    private func contradictions(_ reference: RelatedTables.Reference) -> [(String, String)] {
        guard let relationship = reference.list else { return [] }
        let (name, said) = (tables.name(of: relationship), tables.name(of: reference.owner))
        let (stage, lists) = (stage(of: reference.holder), staged.lists(relationship).quoted)
        let (own, key) = (columns("s", reference.columns), columns("l", 0..<reference.columns.count))
        let stored = quoted(Array(tables.columns[reference.holder][reference.columns]), of: "t")
        let isOwn = "s._relationship <> \(relationship) AND \(areSet(own))"
        let table = tables.table(of: reference.holder)
        let all = "\(said), which objects in lists of \(name) say, too"
        var found = [
            (
                "\(said), which objects in lists of \(name) say otherwise",
                """
                SELECT FROM \(stage) AS s JOIN \(lists) AS l ON l._ordinal = s._ordinal AND l._child = s._list \
                WHERE s._relationship = \(relationship) AND (\(list(own))) IS DISTINCT FROM (\(list(key)))
                """
            ),
            (all, "SELECT FROM \(stage) AS s JOIN \(lists) AS l ON \(same(own, key)) WHERE \(isOwn)"),
        ]
        if reference.isOneToOne {
            let taken = "\(said), which several objects without identifier say of the same"
            found.append((taken, "SELECT FROM \(stage) AS s WHERE \(isOwn) GROUP BY \(list(own)) HAVING count(*) > 1"))
            if filled.contains(tables.home(of: reference.holder)) {
                found.append(
                    (taken, "SELECT FROM \(stage) AS s JOIN \(table) AS t ON \(same(own, stored)) WHERE \(isOwn)")
                )
            }
        } else if filled.contains(tables.home(of: reference.holder)),
            let position = reference.position.map({ tables.columns[reference.holder][$0].quoted })
        {
            found.append(
                (
                    all,
                    "SELECT FROM \(lists) AS l JOIN \(table) AS t ON \(same(key, stored)) WHERE t.\(position) IS NULL"
                )
            )
        }
        return found
    }

    /// Objects that say something of what they refer to, which is an element of a list, and gone with that maybe.
    private func contradiction(_ reference: RelatedTables.Reference) -> (String, String) {
        let key = tables.key(of: reference.holder)
        let (setters, id) = (staged.setters(reference).quoted, "c\(key.count)")
        let column = tables.columns[reference.holder][reference.columns.lowerBound].quoted
        let isStored =
            filled.contains(tables.home(of: reference.holder))
            ? """
             OR EXISTS (SELECT FROM \(tables.table(of: reference.holder)) AS t WHERE t.\(column) IS NOT NULL \
            AND \(same(quoted(key, of: "t"), columns("s", key.indices))))
            """ : ""
        return (
            "\(tables.name(of: reference.owner)), which objects say beside lists that have them",
            """
            SELECT FROM \(setters) AS s WHERE s._list < 0 AND s.\(id) IS NOT NULL AND (
                EXISTS (SELECT FROM \(setters) AS o WHERE o._list >= 0 \
                AND \(same(columns("o", key.indices), columns("s", key.indices))))\(isStored)
            )
            """
        )
    }

    /// Lists of objects without identifier in a join table, which delete what they leave out.
    private func contradictions(_ join: RelatedTables.Join) -> [(String, String)] {
        sides(of: join).flatMap { side -> [(String, String)] in
            let destination = tables.layout.relationships[side.relationship].destination
            guard tables.isKeyless(destination) else { return [] }
            let what = "\(tables.name(of: side.relationship)), a list of objects without identifier"
            let (lists, key) = (staged.lists(side.relationship).quoted, columns("l", side.own.indices))
            var found: [(String, String)] = []
            for other in sides(of: join) where other.isSource != side.isSource {
                let linked = columns("k", other.own.count..<other.own.count + other.other.count)
                let links = staged.links(other.relationship).quoted
                found.append((what, "SELECT FROM \(lists) AS l JOIN \(links) AS k ON \(same(key, linked))"))
            }
            if filledJoins.contains(join.making) {
                let stored = same(key, quoted(side.own, of: "t"))
                found.append((what, "SELECT FROM \(lists) AS l JOIN \(join.table) AS t ON \(stored)"))
            }
            return found
        }
    }
}

extension RelatedTables {
    /// - Returns: what is said where records have something that cannot be settled; nothing of them is in the tables.
    func unsettled(_ what: String) -> ImportError {
        ImportError(
            .optionsConflict,
            "\(what): this cannot be settled in a server's schema yet",
            advice: "Import into a SQLite store. Nothing of this import is in the tables; \(.restart) forgets it."
        )
    }
}
