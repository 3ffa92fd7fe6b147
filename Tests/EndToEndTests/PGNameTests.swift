import Foundation
import TestSupport
import Testing

/// Objects that records name by other attributes than the identifier are in a server's schema those of a SQLite store.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGNameTests {
    private let database: PGDatabase

    init() throws {
        database = try PGDatabase()
    }

    private static let model = """
        {"entities": {
          "book": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "author": {"entity": "person", "by": "name", "inverse": "books"},
            "owner": {"entity": "person", "by": "name"},
            "sequel": {"entity": "book", "inverse": "prequel"},
            "prequel": {"entity": "book", "inverse": "sequel", "from": []},
            "readers": {"entity": "person", "toMany": true, "by": "name"}}},
          "person": {"identifier": ["id"],
            "attributes": {"id": {"type": "integer64"}, "name": {"type": "string", "optional": true}},
            "relationships": {"books": {"entity": "book", "toMany": true, "inverse": "author"}}}}}
        """

    /// Imports one source after the other into the server and into a store, and expects the same of both after each.
    private func compare(
        _ steps: [(entity: String, records: [String])],
        model: String = model,
        tables: [String] = ["book", "person", "book_readers"]
    ) throws {
        let files = try ImportFiles(records: steps.map(\.records), model: model)
        for (source, step) in zip(files.sources, steps) {
            let options = ["--entity", step.entity]
            let report = try database.imported(files, [source], options + ["--chunk-size", "60"])
            let same = try files.storeOfTheSame([source], options)
            #expect(report == same.report)
            for table in tables {
                #expect(try database.difference(of: table, from: same.path).isEmpty, "\(table)")
            }
            #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
            #expect(try unresolved(database.url) == unresolved(same.path))
            #expect(try database.isVerified())
        }
    }

    private func unresolved(_ place: String) throws -> [String] {
        try database.importer(["status", place, "--unresolved"]).outputText.split(separator: "\n").map(String.init)
            .sorted()
    }

    /// What is not there yet waits, and each later job applies it.
    @Test func waitUntilTheyAreThere() throws {
        try compare([
            ("person", [#"{"id": 1, "name": "Ada"}"#, #"{"id": 2, "name": "Bob"}"#]),
            (
                "book",
                [
                    #"{"id": 7, "author": "Ada", "owner": "Cid", "readers": ["Bob", "Cid", {"id": 2}, "Ada"]}"#,
                    #"{"id": 8, "author": "Cid", "readers": ["Cid"]}"#, #"{"id": 9, "author": "Cid"}"#,
                    #"{"id": 9, "author": {"id": 2}}"#,
                ]
            ),
        ])
        #expect(
            try unresolved(database.url) == [
                "book.author\t\"Cid\"\t1", "book.owner\t\"Cid\"\t1", "book.readers\t\"Cid\"\t2",
            ]
        )
        try database.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        try compare([
            ("book", [#"{"id": 7, "author": "Cid", "owner": "Cid", "readers": ["Cid", {"id": 2}]}"#]),
            ("person", [#"{"id": 2, "name": "Bob"}"#, #"{"id": 3, "name": "Cid"}"#, #"{"id": 4, "name": "Cid"}"#]),
        ])
        #expect(try database.query("SELECT author_id, owner_id FROM book") == "3|3")
        #expect(try database.query("SELECT readers_id FROM book_readers ORDER BY position") == "3\n2")
        #expect(try database.query("SELECT count(*) FROM _import_link") == "0")
    }

    /// A name means who has it then, whoever has it later.
    @Test func areThoseWhoHaveTheNameThen() throws {
        try compare([
            (
                "book",
                [
                    #"{"id": 1, "author": {"id": 5, "name": "Ada"}, "owner": "Ada"}"#,
                    #"{"id": 2, "owner": {"id": 5, "name": "Bob"}, "author": "Ada"}"#,
                    #"{"id": 3, "owner": "Bob", "author": "Bob"}"#,
                    #"{"id": 4, "owner": {"id": 4, "name": "Bob"}, "author": "Bob"}"#,
                    #"{"id": 5, "owner": "Bob", "readers": [{"id": 3, "name": "Ada"}, "Ada", "Bob"]}"#,
                ]
            ),
            ("book", [#"{"id": 1, "owner": "Bob"}"#, #"{"id": 3, "owner": "Bob", "author": "Eve"}"#]),
        ])
        #expect(try database.query("SELECT owner_id FROM book ORDER BY id") == "4\n5\n4\n4\n4")
        #expect(try database.query("SELECT author_id FROM book ORDER BY id") == "5\n5\n\n5\n")
        let ambiguous =
            "SELECT attribute, sum(count) FROM _import_ledger WHERE kind = 'ambiguous' GROUP BY 1 ORDER BY 1"
        #expect(try database.query(ambiguous) == "owner|3\nreaders|1")
    }

    /// What an object says of its own reference later, or a list around it, takes the place of what waits.
    @Test func waitNoLongerThanNothingElseIsSaid() throws {
        try compare([
            (
                "person",
                [
                    #"{"id": 1, "name": "Ada", "books": [{"id": 1, "author": "Eve"}, {"id": 2, "author": "Eve"}, 3]}"#,
                    #"{"id": 2, "name": "Bob", "books": [2]}"#, #"{"id": 3, "books": [{"id": 3, "author": "Fay"}]}"#,
                    #"{"id": 4, "name": "Eve"}"#, #"{"id": 3, "books": []}"#, #"{"id": 5, "name": "Fay"}"#,
                ]
            ),
            ("person", [#"{"id": 6, "name": "Eve", "books": [{"id": 1, "author": "Eve"}]}"#]),
        ])
        #expect(try database.query("SELECT id, author_id FROM book ORDER BY id") == "1|4\n2|2\n3|5")
    }

    private static let partners = """
        {"entities": {
          "seat": {"identifier": ["id"],
            "attributes": {"id": {"type": "string"}, "no": {"type": "integer32", "optional": true}},
            "relationships": {"guest": {"entity": "guest", "by": ["name", "year"], "from": [["name", "year"], "guest"], "inverse": "seat"}}},
          "guest": {"identifier": ["id"],
            "attributes": {"id": {"type": "string"}, "name": {"type": "string", "optional": true},
              "year": {"type": "date", "optional": true}},
            "relationships": {"seat": {"entity": "seat", "by": "no", "inverse": "guest"}}}}}
        """

    /// Partners of a one-to-one that several attributes name, from either side.
    @Test func mayBePartners() throws {
        try compare(
            [
                (
                    "seat",
                    [
                        #"{"id": "a", "no": 1, "name": "Ada", "year": "2000-01-01"}"#,
                        #"{"id": "b", "no": 2, "guest": {"id": "x", "name": "Ada", "year": "2000-01-01"}}"#,
                        #"{"id": "c", "name": "Ada", "year": "2001-01-01"}"#,
                    ]
                ),
                (
                    "guest",
                    [
                        #"{"id": "y", "name": "Ada", "year": "2001-01-01"}"#, #"{"id": "z", "seat": 3}"#,
                        #"{"id": "x", "seat": 2}"#, #"{"id": "w", "seat": 1}"#,
                    ]
                ),
                ("seat", [#"{"id": "d", "no": 3}"#, #"{"id": "e", "name": "Ada", "year": "2001-01-01"}"#]),
            ],
            model: Self.partners,
            tables: ["seat", "guest"]
        )
        #expect(try database.query("SELECT id, guest_id FROM seat ORDER BY id") == "a|w\nb|x\nc|\nd|z\ne|y")
    }

    /// Lists that only add, and links that imports leave, may name their objects, too.
    @Test(.enabled(if: Cases.areAll, "one of all cases"), arguments: ["\"list\": \"union\"", "\"owner\": \"local\""])
    func areAddedToLists(
        keys: String
    ) throws {
        let model = Self.model.replacing("\"toMany\": true, \"by\"", with: "\"toMany\": true, \(keys), \"by\"")
        try compare(
            [
                ("person", [#"{"id": 1, "name": "Ada"}"#, #"{"id": 2, "name": "Bob"}"#]),
                ("book", [#"{"id": 7, "readers": ["Bob", "Cid"]}"#, #"{"id": 7, "readers": ["Ada"]}"#]),
                ("person", [#"{"id": 3, "name": "Cid"}"#]),
            ],
            model: model
        )
    }
}
