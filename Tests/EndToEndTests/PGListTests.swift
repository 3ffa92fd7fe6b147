import Foundation
import TestSupport
import Testing

/// Lists that only add, and links that imports leave, are in a server's schema what they are in a SQLite store.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGListTests {
    private static let order = """
        {"entities": {
          "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "lines": {"entity": "line", "toMany": true, "list": "union"},
            "tags": {"entity": "tag", "toMany": true, "list": "union"},
            "marks": {"entity": "tag", "toMany": true, "owner": "local"},
            "person": {"entity": "tag", "owner": "local"}}},
          "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string"}}},
          "line": {"attributes": {"sku": {"type": "string"}}, "relationships": {
            "notes": {"entity": "note", "toMany": true, "list": "union"}}},
          "note": {"attributes": {"text": {"type": "string", "from": "@value"}}}}}
        """

    private static let records = [
        #"{"id": 1, "lines": [{"sku": "a", "notes": ["x"]}], "tags": ["b", "a"], "marks": ["m"], "person": "p"}"#,
        #"{"id": 1, "lines": [{"sku": "a"}, {"sku": "b"}], "tags": ["c", "b"], "marks": ["n"], "person": "q"}"#,
        #"{"id": 2, "lines": [], "tags": ["c"], "marks": [], "person": null}"#,
        #"{"id": 2, "lines": [{"sku": "c"}], "tags": null, "marks": ["m"], "person": "p"}"#,
        #"{"id": 3, "lines": [{"sku": "d", "notes": ["y", "z"]}], "tags": ["a"]}"#,
        #"{"id": 3, "lines": null, "tags": null}"#,
        #"{"id": 3, "lines": [{"sku": "e", "notes": ["w"]}], "tags": ["d", "a"], "marks": ["o"]}"#,
    ]

    @Test func addAndStay() throws {
        let files = try ImportFiles(records: [Self.records], model: Self.order, options: ["--entity", "order"])
        let database = try PGDatabase()
        let report = try database.imported(files, nil, ["--chunk-size", "80"])
        let same = try files.storeOfTheSame()
        #expect(report == same.report)
        for table in ["order", "tag", "order_tags", "order_marks"] {
            #expect(try database.difference(of: table, from: same.path).isEmpty, "\(table)")
        }
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        #expect(
            try database.query("SELECT sku, order_position FROM line WHERE order_id = 1 ORDER BY 2") == "a|0\na|1\nb|2"
        )
        // Row ids are of a sequence.
        let notes = "SELECT sku, text, line_position FROM note JOIN line ON row_id = line_row_id ORDER BY 1, 2"
        #expect(try database.query(notes) == "a|x|0\ne|w|0")
        #expect(
            try database.query("SELECT tags_name FROM order_tags WHERE order_id = 1 ORDER BY position") == "b\na\nc"
        )
        #expect(try database.query("SELECT marks_name FROM order_marks WHERE order_id < 3 ORDER BY 1") == "m")
        #expect(try database.query("SELECT person_name FROM \"order\" WHERE id = 1") == "p")
        #expect(try database.isVerified())
    }

    private static let people = """
        {"entities": {
          "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "orders": {"entity": "order", "toMany": true, "inverse": "person", "owner": "local", "ordered": true},
            "card": {"entity": "card", "inverse": "person", "owner": "local"},
            "notes": {"entity": "note", "toMany": true, "owner": "local"}}},
          "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "person": {"entity": "person", "inverse": "orders"}}},
          "card": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "person": {"entity": "person", "inverse": "card", "owner": "local"}}},
          "note": {"attributes": {"text": {"type": "string"}}, "relationships": {
            "marks": {"entity": "mark", "toMany": true}}},
          "mark": {"attributes": {"text": {"type": "string", "from": "@value"}}}}}
        """

    /// Links in the columns of others, of one-to-ones, and elements with all that is nested in them.
    @Test func linksOfStoredObjectsStay() throws {
        let files = try ImportFiles(
            records: [
                [
                    #"{"id": 1, "orders": [1, {"id": 2}], "card": {"id": 1}, "notes": [{"text": "a", "marks": ["x", "y"]}]}"#,
                    #"{"id": 1, "orders": [{"id": 3}, 1], "card": {"id": 2}, "notes": [{"text": "b", "marks": ["z"]}, {"text": "c"}]}"#,
                    #"{"id": 2, "orders": [{"id": 2, "person": 2}], "card": {"id": 2, "person": 1}}"#,
                ],
                [
                    #"{"id": 2, "orders": [], "card": 1, "notes": [{"text": "d", "marks": ["w"]}]}"#,
                    #"{"id": 3, "orders": [3], "card": {"id": 3}, "notes": [{"text": "e", "marks": ["v"]}]}"#,
                ],
            ],
            model: Self.people,
            options: ["--entity", "person"]
        )
        let database = try PGDatabase()
        for source in files.sources {
            let report = try database.imported(files, [source], ["--chunk-size", "80"])
            let same = try files.storeOfTheSame([source])
            #expect(report == same.report)
            for table in ["person", "order", "card"] {
                #expect(try database.difference(of: table, from: same.path).isEmpty, "\(table)")
            }
            #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
            #expect(try database.isVerified())
        }
        #expect(try database.query("SELECT id, person_id FROM \"order\" ORDER BY id") == "2|2\n3|3")
        #expect(try database.query("SELECT id, card_id FROM person ORDER BY id") == "1|1\n2|2\n3|3")
        let notes =
            "SELECT note.text, person_id, mark.text FROM note LEFT JOIN mark ON row_id = note_row_id ORDER BY 1, 3"
        #expect(try database.query(notes) == "a|1|x\na|1|y\ne|3|v")
    }
}
