import ImportModel
import Importer

/// Lists that only add to what is there.
extension RelationshipStatements {
    /// What gives links of a join table their places, where lists add behind the last: a link stays where it was added.
    func placing(_ side: Side, _ told: String, own: [String], pair: [String]) -> [String] {
        let lists = staged.lists(side.relationship).quoted
        let index = "\(StagingName.prefix(of: staged.job))u\(side.relationship)"
        let emptied = """
            SELECT count(*) FROM \(lists) AS l WHERE l._emptied = 1 \
            AND \(same(columns("l", 0..<own.count), own.map { "f.\($0)" })) \
            AND (l._ordinal, l._child) <= (f._ordinal, f._child)
            """
        return [
            """
            CREATE INDEX IF NOT EXISTS \(index) ON \(lists) \
            (\(list(own.indices.map { "c\($0)" })), _ordinal, _child) WHERE _emptied = 1
            """,
            """
            UPDATE \(told) AS s SET _position = p.place FROM (
                SELECT \(list(pair)), run, CASE WHEN _ordinal = 0 THEN _position ELSE CASE WHEN part = 0 THEN stored + 1 ELSE 0 END
                    - 1 + count(*) FILTER (WHERE _ordinal > 0) OVER (
                        PARTITION BY \(list(own)), part ORDER BY _ordinal, _child, _position
                    ) END AS place
                FROM (
                    SELECT f.*, coalesce(max(_position) FILTER (WHERE _ordinal = 0) OVER (PARTITION BY \(list(own))), -1) AS stored,
                        (\(emptied)) AS part
                    FROM (
                        SELECT DISTINCT ON (\(list(pair)), run) \(list(pair)), run, _ordinal, _child, _position FROM \(told)
                        WHERE side = \(side.isSource) AND is_in ORDER BY \(list(pair)), run, _ordinal, _child
                    ) AS f
                ) AS firsts
            ) AS p WHERE s.side = \(side.isSource) AND s.run = p.run \
            AND \(same(pair.map { "s.\($0)" }, pair.map { "p.\($0)" }))
            """,
        ]
    }
}
