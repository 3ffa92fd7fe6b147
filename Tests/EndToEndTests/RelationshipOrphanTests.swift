import Foundation
import TestSupport
import Testing

/// Objects that a list has left out.
struct RelationshipOrphanTests {
    private let files: RelatedImport

    init() throws {
        files = try RelatedImport()
    }

    private static let library = """
        {"entities": {
          "book": {"identifier": ["id"], "attributes": {"id": {"type": "string"}}, "relationships": {
            "pages": {"entity": "page", "toMany": true}}},
          "page": {"identifier": ["@parent", "no"],
            "attributes": {"no": {"type": "integer32"}, "text": {"type": "string", "optional": true}},
            "relationships": {"notes": {"entity": "note", "toMany": true}, "marks": {"entity": "mark", "toMany": true}}},
          "note": {"identifier": ["@parent", "key"], "attributes": {"key": {"type": "string"}}},
          "mark": {"attributes": {"line": {"type": "integer32"}}}}}
        """

    /// A later list of the same job has the object again, with what has been said of it.
    @Test func aChildWithinItsParentIsTheSameObjectUntilTheJobEnds() throws {
        let books = """
            {"id": "a", "pages": [{"no": 1, "text": "one"}, {"no": 2, "text": "two"}]}
            {"id": "a", "pages": []}
            {"id": "a", "pages": [{"no": 2}]}

            """
        #expect(try files.importing(books, "book", Self.library, "--commit-every", "1").ending == .exit(0))
        let pages = "SELECT group_concat(rowid || ':' || no || ':' || text || ':' || book_position) FROM page"
        #expect(try files.query(pages) == "2:2:two:0")
        #expect(try files.query("SELECT count FROM _import_ledger WHERE kind = 'orphanDeleted'") == "1")
        #expect(try files.query("SELECT count FROM _import_ledger WHERE kind = 'unlinked'") == "2")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    @Test(arguments: [false, true])
    func whatIsWithinAnOrphanGoesWithIt(inAnotherJob: Bool) throws {
        let first =
            #"{"id": "a", "pages": [{"no": 1, "notes": [{"key": "x"}], "marks": [{"line": 3}]}, {"no": 2}]}"# + "\n"
        let second = #"{"id": "a", "pages": [{"no": 2, "notes": [{"key": "y"}]}]}"# + "\n"
        for records in inAnotherJob ? [first, second] : [first + second] {
            #expect(try files.importing(records, "book", Self.library).ending == .exit(0))
        }
        #expect(try files.query("SELECT group_concat(no) FROM page") == "2")
        #expect(try files.query("SELECT group_concat(page_no || key) FROM note") == "2y")
        #expect(try files.query("SELECT count(*) FROM mark") == "0")
        #expect(try files.query("SELECT count(*) FROM pragma_foreign_key_check") == "0")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    /// Kept, it is no longer within its parent when the job has ended.
    @Test func anOrphanThatIsKeptLeavesItsParent() throws {
        let model = Self.library.replacing(
            #""page", "toMany": true"#,
            with: #""page", "toMany": true, "orphans": "keep""#
        )
        let books = """
            {"id": "a", "pages": [{"no": 1, "notes": [{"key": "x"}]}, {"no": 2}]}
            {"id": "a", "pages": [{"no": 2}]}

            """
        #expect(try files.importing(books, "book", model).ending == .exit(0))
        let pages =
            "SELECT group_concat(no || ':' || ifnull(book_id, '-') || ':' || ifnull(book_position, '-')) FROM page"
        #expect(try files.query(pages) == "1:-:-,2:a:0")
        #expect(try files.query("SELECT count(*) FROM pragma_foreign_key_check") == "0")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    /// Rows are told apart by their table and their row id, however many tables there are.
    @Test func cascadesReachEveryTable() throws {
        let others = (1...63).map { #""e\#($0)": {"attributes": {"x": {"type": "string", "optional": true}}}"# }
        let entities =
            [
                #""kid": {"identifier": ["@parent", "no"], "attributes": {"no": {"type": "integer32"}}}"#
            ] + others + [
                """
                "owner": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                  "kids": {"entity": "kid", "toMany": true}}}
                """,
                """
                "root": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                  "owners": {"entity": "owner", "toMany": true, "orphans": "delete"}}}
                """,
            ]
        let model = "{\"entities\": {\(entities.joined(separator: ", "))}}"
        let roots = """
            {"id": 1, "owners": [{"id": 2, "kids": [{"no": 1}]}, {"id": 1, "kids": [{"no": 2}]}]}
            {"id": 1, "owners": [2]}

            """
        #expect(try files.importing(roots, "root", model).ending == .exit(0))
        #expect(try files.query("SELECT group_concat(id) FROM owner") == "2")
        #expect(try files.query("SELECT group_concat(no) FROM kid") == "1")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }
}
