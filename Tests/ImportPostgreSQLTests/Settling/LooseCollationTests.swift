import ImportModel
import TestSupport
import Testing

@testable import ImportPostgreSQL

/// Columns whose collation takes texts of different bytes for equal.
@Suite(.enabled(if: PostgreSQLServer.isAvailable))
struct LooseCollationTests {
    /// A server's collation says which identifiers are the same; of values the bytes count.
    @Test(arguments: [1, 4], [false, true])
    func takesSpellingsOfOneKeyForOne(_ buckets: Int, _ wasEmpty: Bool) throws {
        let database = try PGDatabase()
        let connection = try database.connect()
        defer { connection.close() }
        try database.query("CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
        try database.query("CREATE TABLE thing (name varchar(9) COLLATE loose PRIMARY KEY, a text COLLATE loose)")
        if !wasEmpty { try database.query("INSERT INTO thing VALUES ('ANN', 'x'), ('Zoe', 'x')") }
        let stored = try PGTables.columns(of: "thing", connection).columns
        #expect(stored.map(\.collation) == ["public.loose", "public.loose"] && stored.allSatisfy(\.isLoose))
        let entity = StagedEntity(
            table: "public.thing",
            stage: "public._import_stage_1_0",
            columns: stored.map {
                let type = "text COLLATE \($0.collation ?? "")"
                return StagedEntity.Column(
                    name: $0.name,
                    type: type,
                    isIdentifier: $0.name == "name",
                    isLoose: $0.isLoose
                )
            },
            policy: .merge,
            tableWasEmpty: wasEmpty
        )
        let upsert = StagingUpsert(entity, buckets: buckets)
        for statement in upsert.stageTables { try connection.execute(statement) }
        let records = [
            "ann|x", "Bob|b", "ANN|X", "bob|b", "zoe|X", "Ann|X", "Carl|c", "Zoë|z",
        ].enumerated().map { index, text in
            let parts = text.split(separator: "|")
            return "(\(index + 1), 0, 3, false, '\(parts[0])', '\(parts[1])')"
        }
        try connection.execute("INSERT INTO public._import_stage_1_0 VALUES \(records.joined(separator: ", "))")
        var counts = [0, 0, 0, 0, 0]
        for bucket in 0..<buckets {
            let outcome = try connection.settle(upsert.statements(ofBucket: bucket), .merge)
            counts = zip(counts, outcome.counts).map(+)
            #expect(outcome.rejects.isEmpty)
        }
        let found = try database.query(#"SELECT name, a FROM thing ORDER BY name COLLATE "C""#)
        let others = [["Bob", "b"], ["Carl", "c"]]
        #expect(
            found
                == (wasEmpty
                    ? others + [["Zoë", "z"], ["ann", "X"], ["zoe", "X"]]
                    : [["ANN", "X"]] + others + [["Zoe", "X"], ["Zoë", "z"]])
        )
        #expect(counts == (wasEmpty ? [5, 1, 2, 0, 0] : [3, 2, 3, 0, 0]))
    }
}
