import Foundation
import TestSupport
import Testing

/// One-to-ones that are their own inverse are in a server's schema what they are in a SQLite store.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGPartnerTests {
    private static func people(_ options: String = "") -> String {
        """
        {"entities": {"person": {"identifier": ["id"],
          "attributes": {"id": {"type": "integer64"}, "name": {"type": "string", "optional": true}},
          "relationships": {"spouse": {"entity": "person", \(options) "inverse": "spouse"},
            "friend": {"entity": "person", "unresolved": "stub"}}}}}
        """
    }

    /// Imports one source after the other, and expects the same of a server and a store after each.
    ///
    /// - Parameter partners: after each, who is with whom.
    private static func compare(
        _ steps: [(records: [String], policy: String, partners: String)],
        model: String = people()
    ) throws {
        let files = try ImportFiles(records: steps.map(\.records), model: model, options: ["--entity", "person"])
        let database = try PGDatabase()
        for (source, step) in zip(files.sources, steps) {
            let options = ["--on-conflict", step.policy]
            let report = try database.imported(files, [source], options + ["--chunk-size", "60"])
            let same = try files.storeOfTheSame([source], options)
            #expect(report == same.report)
            #expect(try database.difference(of: "person", from: same.path).isEmpty)
            #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
            let partners = """
                SELECT string_agg(id || ':' || coalesce(spouse_id::text, '-'), ',' ORDER BY id) FROM person
                """
            #expect(try database.query(partners) == step.partners)
            #expect(try database.isVerified())
        }
    }

    /// Partners that are there, that come later, and that are never to come.
    @Test func partnersReferToEachOther() throws {
        try Self.compare([
            ([#"{"id": 1}"#, #"{"id": 2, "spouse": 1}"#, #"{"id": 3, "spouse": 4}"#], "merge", "1:2,2:1,3:4"),
            (
                [#"{"id": 4, "name": "d"}"#, #"{"id": 5, "spouse": {"id": 6, "name": "f"}}"#], "merge",
                "1:2,2:1,3:4,4:3,5:6,6:5"
            ),
            // Whoever loses a partner refers to nothing.
            ([#"{"id": 1, "spouse": 3}"#, #"{"id": 5, "spouse": null}"#], "merge", "1:3,2:-,3:1,4:-,5:-,6:-"),
            (
                [#"{"id": 5, "spouse": 2}"#, #"{"id": 6, "spouse": 6}"#, #"{"id": 6, "spouse": 5}"#], "merge",
                "1:3,2:-,3:1,4:-,5:6,6:5"
            ),
            // A record that lacks it has none any more, unless its object is new.
            (
                [#"{"id": 1}"#, #"{"id": 7, "spouse": 8}"#, #"{"id": 8}"#, #"{"id": 8, "friend": 9}"#], "replace",
                "1:-,2:-,3:-,4:-,5:6,6:5,7:-,8:-,9:-"
            ),
            (
                [#"{"id": 9, "spouse": 7}"#, #"{"id": 1, "spouse": 4}"#], "ignore",
                "1:-,2:-,3:-,4:-,5:6,6:5,7:9,8:-,9:7"
            ),
        ])
    }

    /// What is there for references alone has a partner, too, and keeps it when its object comes.
    @Test func stubsReferBack() throws {
        try Self.compare(
            [
                (
                    [#"{"id": 1, "spouse": 2}"#, #"{"id": 3, "spouse": 4}"#, #"{"id": 5, "spouse": 4}"#], "merge",
                    "1:2,2:1,3:-,4:5,5:4"
                ),
                (
                    [#"{"id": 2, "name": "b"}"#, #"{"id": 4, "name": "d", "spouse": 3}"#], "merge",
                    "1:2,2:1,3:4,4:3,5:-"
                ),
            ],
            model: Self.people(#""unresolved": "stub","#)
        )
    }
}
