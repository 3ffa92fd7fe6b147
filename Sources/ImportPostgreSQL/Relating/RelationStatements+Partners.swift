import ImportModel
import Importer

/// One-to-ones that are their own inverse: each of two partners refers to the other.
///
/// What objects say of their partners is a line of pairs, for each of the two: an object in a pair has the other one from then on, and
/// those that they had before have nobody. So a pair holds as long as it is the last one in the lines of both.
extension RelationStatements {
    /// In place of a list: the row says nothing of a partner, but that its object is there.
    static let mentioned = -3

    private func pairs(_ reference: RelatedTables.Reference) -> String { "pg_temp._import_set_\(reference.owner)" }
    private func touched(_ reference: RelatedTables.Reference) -> String { "pg_temp._import_touch_\(reference.owner)" }

    /// The names of the columns of an object's key among pairs, and of its partner's.
    private func keys(_ reference: RelatedTables.Reference, of row: String? = nil) -> (own: [String], other: [String]) {
        let width = reference.columns.count
        let prefix = row.map { "\($0)." } ?? ""
        let names = (0..<2 * width).map { "\(prefix)c\($0)" }
        return (Array(names.prefix(width)), Array(names.dropFirst(width)))
    }

    /// Puts the partners that are stored, and that the job may change, before what it says, and keeps which objects records are about:
    /// the staging table of these is gone when partners are settled.
    func takingPartners(_ reference: RelatedTables.Reference) -> [String] {
        let (entity, setters) = (reference.holder, staged.setters(reference).quoted)
        let (said, partners) = keys(reference, of: "e")
        let own = tables.keyPlaces(of: entity).map { "s.c\($0)" }
        let table = tables.table(of: entity)
        let key = quoted(tables.key(of: entity), of: "t")
        let stored = quoted(Array(tables.columns[entity][reference.columns]), of: "t")
        let isFilled = filled.contains(tables.home(of: entity))
        func isSaid(_ columns: [String]) -> [String] {
            [said, partners].map { "EXISTS (SELECT FROM \(setters) AS e WHERE \(same($0, columns)))" }
        }
        var isConcerned = isSaid(own)
        if isFilled {
            // A new object may have a partner already, and what was there for references alone is made anew.
            isConcerned += ["EXISTS (SELECT FROM \(table) AS t WHERE \(same(stored, own)))", isStub(entity, own)]
        }
        let nothing = reference.columns.map { _ in "NULL" }
        let mentions = """
            INSERT INTO \(setters) SELECT _ordinal, _child, \(Self.mentioned), -1, _child, \
            \(list(own.indices.map { "k\($0)" } + nothing)) FROM (
                SELECT s._ordinal, s._child, \(list(own.enumerated().map { "\($1) AS k\($0)" })),
                    row_number() OVER (PARTITION BY \(list(own)) ORDER BY s._ordinal, s._child) AS turn
                FROM \(stage(of: entity)) AS s WHERE \(isConcerned.joined(separator: " OR "))
            ) AS mentioned WHERE turn = 1 OR _child = 0
            """
        guard isFilled else { return [mentions] }
        return [
            mentions,
            """
            INSERT INTO \(setters) SELECT 0, 0, -1, -1, -1, \(list(key + stored)) FROM \(table) AS t \
            WHERE \((isSaid(key) + isSaid(stored)).joined(separator: " OR "))
            """,
        ]
    }

    /// What gives objects the partners that they have in the end.
    func settlingPartners(_ reference: RelatedTables.Reference) -> [String] {
        let setters = staged.setters(reference).quoted
        let (own, other) = keys(reference)
        let ends = "pg_temp._import_link_\(reference.owner)"
        let objectKey = quoted(tables.key(of: reference.holder), of: "t")
        let columns = tables.columns[reference.holder][reference.columns].map(\.quoted)
        let differs = zip(columns, other).map { "t.\($0) IS DISTINCT FROM e.\($1)" }
        return pairing(reference) + touching(reference) + [
            """
            INSERT INTO _import_relinked SELECT \(reference.holder), t.ordinal, 0 FROM \(touched(reference)) AS t \
            JOIN \(setters) AS s ON s._ordinal = t.ordinal AND s._row = 0 \
            AND \(same(keys(reference, of: "s").own, keys(reference, of: "t").own))
            """,
            """
            CREATE TEMPORARY TABLE _import_link_\(reference.owner) ON COMMIT DROP AS
            SELECT \(list(own + other.map { "CASE WHEN other_next IS NULL THEN \($0) END AS \($0)" }))
            FROM \(pairs(reference)) WHERE own_next IS NULL
            UNION ALL SELECT \(list(other + own.map { "CASE WHEN own_next IS NULL THEN \($0) END" }))
            FROM \(pairs(reference)) WHERE is_pair AND other_next IS NULL
            """,
            "ANALYZE \(ends)",
            """
            UPDATE \(tables.table(of: reference.holder)) AS t SET \(list(zip(columns, other).map { "\($0) = e.\($1)" })) \
            FROM \(ends) AS e WHERE \(same(objectKey, keys(reference, of: "e").own)) \
            AND (\(differs.joined(separator: " OR ")))
            """,
        ]
    }

    /// Makes a table of pairs in order, each with the numbers of those before and after it in the lines of its two objects.
    ///
    /// Who is alone from now on, or an object's own partner, has one line only.
    private func pairing(_ reference: RelatedTables.Reference) -> [String] {
        let (own, other) = keys(reference)
        return [
            """
            CREATE TEMPORARY TABLE _import_set_\(reference.owner) ON COMMIT DROP AS WITH pairs AS (
                SELECT row_number() OVER (ORDER BY _ordinal, _child, \(list(own))) AS number, _ordinal, _child, _row, \
                    \(list(own + other)), \(areSet(other)) AND (\(list(own))) <> (\(list(other))) AS is_pair
                FROM \(staged.setters(reference).quoted)
                WHERE _list > \(Self.mentioned) AND (_ordinal > 0 OR \(areSet(other)))
            ), lines AS (
                SELECT number, true AS is_own, \(list(own)) FROM pairs
                UNION ALL SELECT number, false, \(list(other)) FROM pairs WHERE is_pair
            ), told AS (
                SELECT number, is_own, lag(number) OVER line AS before, lead(number) OVER line AS next FROM lines
                WINDOW line AS (PARTITION BY \(list(own)) ORDER BY number)
            )
            SELECT p.*, o.before AS own_before, o.next AS own_next, x.before AS other_before, x.next AS other_next,
                least(o.next, x.next) AS next
            FROM pairs AS p JOIN told AS o ON o.number = p.number AND o.is_own
                LEFT JOIN told AS x ON x.number = p.number AND NOT x.is_own
            """,
            "ANALYZE \(pairs(reference))",
        ]
    }

    /// Makes a table of objects that others have given a partner, or taken it from, and finds the rows that have changed their own.
    private func touching(_ reference: RelatedTables.Reference) -> [String] {
        let (own, other) = keys(reference)
        let pairs = pairs(reference)
        let seen = "pg_temp._import_seen_\(reference.owner)"
        func isThere(_ key: [String], before pair: String) -> String {
            """
            EXISTS (SELECT FROM \(seen) AS o WHERE \(same(keys(reference, of: "o").own, key)) \
            AND (o._ordinal, o._child) < (\(pair)._ordinal, \(pair)._child))
            """
        }
        func list(_ columns: [String], _ row: String) -> String { self.list(columns.map { "\(row).\($0)" }) }
        let (broken, mine, theirs) = (own.map { "b.\($0)" }, own.map { "p.\($0)" }, other.map { "p.\($0)" })
        // Partners that say so once more.
        let isAgain = "coalesce(p.own_before = p.other_before, false)"
        let isSame = "\(same(mine, theirs)) IS TRUE"
        let wasSame = """
            EXISTS (SELECT FROM \(pairs) AS e WHERE e.number = p.own_before AND \(same(keys(reference, of: "e").other, mine)) \
            AND NOT e.is_pair)
            """
        let left = own.indices.map {
            "CASE WHEN p.is_pair AND p.next = p.own_next THEN \(theirs[$0]) ELSE \(mine[$0]) END"
        }
        return [
            """
            CREATE TEMPORARY TABLE _import_seen_\(reference.owner) ON COMMIT DROP AS \
            SELECT DISTINCT ON (\(self.list(own))) \(self.list(own)), _ordinal, _child \
            FROM \(staged.setters(reference).quoted) ORDER BY \(self.list(own)), _ordinal, _child
            """,
            "ANALYZE \(seen)",
            // Whoever loses a partner to another, and what an object has been to itself.
            """
            CREATE TEMPORARY TABLE _import_touch_\(reference.owner) ON COMMIT DROP AS
            SELECT _ordinal AS ordinal, \(list(own, "b")), true AS is_broken FROM (
                SELECT q._ordinal, q._child, \(self.list(left.enumerated().map { "\($1) AS \(own[$0])" }))
                FROM \(pairs) AS p JOIN \(pairs) AS q ON q.number = p.next
                WHERE q._ordinal > 0 AND CASE WHEN p.is_pair THEN p.own_next IS DISTINCT FROM p.other_next
                    ELSE \(isSame) AND \(same(own.map { "q.\($0)" }, mine)) AND (q.is_pair OR NOT (\(areSet(other.map { "q.\($0)" })))) END
            ) AS b WHERE \(isThere(broken, before: "b"))
            UNION ALL SELECT p._ordinal, \(self.list(theirs)), false FROM \(pairs) AS p
            WHERE p._ordinal > 0 AND CASE WHEN p.is_pair THEN NOT \(isAgain) ELSE \(isSame) AND NOT \(wasSame) END
                AND \(isThere(theirs, before: "p"))
            """,
            """
            INSERT INTO _import_relinked SELECT \(reference.holder), p._ordinal, p._row FROM \(pairs) AS p \
            LEFT JOIN \(pairs) AS q ON q.number = p.own_before \
            WHERE p._ordinal > 0 AND CASE WHEN p.is_pair THEN NOT \(isAgain) \
            ELSE NOT (\(areSet(theirs))) AND q.is_pair AND q.next = p.number END
            """,
        ]
    }

    /// How many objects have lost their partners to others.
    func unlinkedPartners(_ reference: RelatedTables.Reference) -> (relationship: Int, count: String) {
        (reference.owner, "SELECT count(*) FROM \(touched(reference)) WHERE is_broken")
    }

    /// Lets rows that are there for references alone refer to the partners that refer to them.
    func referringBack(_ entity: Int) -> [String] {
        tables.listed.filter { $0.isMirrored && tables.home(of: $0.holder) == tables.home(of: entity) }.map {
            reference in
            let columns = Array(tables.columns[reference.holder][reference.columns])
            let key = tables.key(of: reference.holder)
            let sets = zip(columns, key).map { "\($0.quoted) = o.\($1.quoted)" }
            let table = tables.table(of: reference.holder)
            return """
                UPDATE \(table) AS t SET \(list(sets)) FROM \(table) AS o \
                WHERE \(same(quoted(columns, of: "o"), quoted(key, of: "t"))) AND t.\(columns[0].quoted) IS NULL \
                AND \(isStub(reference.holder, quoted(key, of: "t")))
                """
        }
    }
}
