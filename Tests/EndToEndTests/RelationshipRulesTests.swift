import Foundation
import TestSupport
import Testing

/// Which object a record, or a reference, means.
struct RelationshipRulesTests {
    private let files: RelatedImport

    init() throws {
        files = try RelatedImport()
    }

    // MARK: By other attributes

    private static let byName = """
        {"entities": {
          "book": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "author": {"entity": "person", "by": "name", "inverse": "books"},
            "readers": {"entity": "person", "toMany": true, "by": "name"}}},
          "person": {"identifier": ["id"],
            "attributes": {"id": {"type": "integer64"}, "name": {"type": "string", "optional": true}},
            "relationships": {"books": {"entity": "book", "toMany": true, "inverse": "author", "from": []}}}}}
        """

    @Test func aReferenceByAnotherAttributeHoldsTheIdentifier() throws {
        let people = #"{"id": 1, "name": "Ada"}"# + "\n" + #"{"id": 2, "name": "Bob"}"# + "\n"
        #expect(try files.importing(people, "person", Self.byName).ending == .exit(0))
        // What is not there yet waits, and an object that is named in two ways is linked once.
        let books = """
            {"id": 7, "author": "Ada", "readers": ["Bob", "Cid", {"id": 2}, "Ada"]}
            {"id": 8, "author": "Cid", "readers": ["Cid"]}

            """
        #expect(try files.importing(books, "book", Self.byName).ending == .exit(0))
        #expect(try files.query("SELECT group_concat(id || ':' || ifnull(author_id, '-')) FROM book") == "7:1,8:-")
        let links = """
            SELECT group_concat(book_id || ':' || readers_id || ':' || position)
            FROM (SELECT * FROM book_readers ORDER BY book_id, position)
            """
        #expect(try files.query(links) == "7:2:0,7:1:2")
        #expect(
            try runImporter("status", files.store, "--unresolved").outputText
                == "book.author\t\"Cid\"\t1\nbook.readers\t\"Cid\"\t2\n"
        )
        #expect(try files.query("SELECT count FROM _import_ledger WHERE kind = 'duplicateLink'") == "1")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
        // Each later job applies it.
        #expect(try files.importing(#"{"id": 3, "name": "Cid"}"# + "\n", "person", Self.byName).ending == .exit(0))
        #expect(try files.query("SELECT group_concat(id || ':' || author_id) FROM book") == "7:1,8:3")
        #expect(try files.query(links) == "7:2:0,7:3:1,7:1:2,8:3:0")
        #expect(try runImporter("status", files.store, "--unresolved").outputText == "")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
        // What it was looked up with is gone.
        #expect(try files.query("SELECT count(*) FROM sqlite_master WHERE name LIKE '%import_by%'") == "0")
    }

    @Test func ofSeveralThatFitTheFirstIsTakenAndCounted() throws {
        let people = (1...3).map { #"{"id": \#(9 - $0), "name": "Ada"}"# + "\n" }.joined()
        #expect(try files.importing(people, "person", Self.byName).ending == .exit(0))
        #expect(try files.importing(#"{"id": 1, "author": "Ada"}"# + "\n", "book", Self.byName).ending == .exit(0))
        #expect(try files.query("SELECT author_id FROM book") == "6")
        #expect(try files.query("SELECT attribute || count FROM _import_ledger WHERE kind = 'ambiguous'") == "author1")
        // A later statement takes the place of one that waits.
        #expect(try files.importing(#"{"id": 1, "author": "Eve"}"# + "\n", "book", Self.byName).ending == .exit(0))
        #expect(try files.query("SELECT author_id IS NULL FROM book") == "1")
        #expect(try files.importing(#"{"id": 1, "author": {"id": 7}}"# + "\n", "book", Self.byName).ending == .exit(0))
        #expect(try files.importing(#"{"id": 2, "name": "Eve"}"# + "\n", "person", Self.byName).ending == .exit(0))
        #expect(try files.query("SELECT author_id FROM book") == "7")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    // MARK: Subentities

    /// Where no relationship leads to them, each has a table of its own, whose rows need not say what they are.
    @Test func entitiesThatNothingRefersToHaveTablesOfTheirOwn() throws {
        let model = """
            {"entities": {
              "animal": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "subentity": {"from": "kind", "values": {"d": "dog"}}},
              "dog": {"parent": "animal", "attributes": {"breed": {"type": "string", "optional": true}}},
              "owner": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                "home": {"entity": "home"}}},
              "home": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}}}}
            """
        let animals = #"{"id": 1}"# + "\n" + #"{"id": 2, "kind": "d", "breed": "pug"}"# + "\n"
        #expect(try files.importing(animals, "animal", model).ending == .exit(0))
        let columns = "SELECT group_concat(name) FROM pragma_table_info"
        #expect(try files.query("\(columns)('animal')") == "id")
        #expect(try files.query("\(columns)('dog')") == "id,breed")
        #expect(try files.query("SELECT group_concat(id || breed) FROM dog") == "2pug")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    private static let shapes = """
        {"entities": {
          "drawing": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "shapes": {"entity": "shape", "toMany": true}, "frame": {"entity": "square"}}},
          "shape": {"abstract": true, "identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "subentity": {"from": "type", "values": {"c": "circle", "s": "square"}}},
          "circle": {"parent": "shape", "attributes": {"radius": {"type": "double"}}},
          "square": {"parent": "shape", "attributes": {"side": {"type": "double"}}}}}
        """

    @Test func aStoredObjectSaysWhichSubentityItIs() throws {
        let first =
            #"{"id": 1, "shapes": [{"id": 1, "type": "c", "radius": 1}, {"id": 2, "type": "s", "side": 2}]}"# + "\n"
        #expect(try files.importing(first, "drawing", Self.shapes).ending == .exit(0))
        // Neither a value that the model lacks nor none chooses one.
        let second = #"{"id": 1, "radius": 5}"# + "\n" + #"{"id": 2, "type": "x", "side": 6, "radius": 7}"# + "\n"
        let report = files.directory.path("report.json")
        #expect(try files.importing(second, "shape", Self.shapes, "--report", report).ending == .exit(0))
        let shapes = "SELECT group_concat(id || entity || ifnull(radius, '-') || ifnull(side, '-')) FROM shape"
        #expect(try files.query(shapes) == "1circle5.0-,2square-6.0")
        #expect(try Report(Data(contentsOf: URL(filePath: report))).updated == 2)
        // An object of the same record says so, too.
        let third = #"{"id": 2, "shapes": [{"id": 3, "type": "c", "radius": 1}, {"id": 3, "radius": 8}, 2]}"# + "\n"
        #expect(try files.importing(third, "drawing", Self.shapes).ending == .exit(0))
        #expect(try files.query("SELECT radius FROM shape WHERE id = 3") == "8.0")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    @Test func whatContradictsAStoredObjectIsARejectWithItsPath() throws {
        let first = #"{"id": 1, "shapes": [{"id": 1, "type": "c", "radius": 1}]}"# + "\n"
        #expect(try files.importing(first, "drawing", Self.shapes).ending == .exit(0))
        let records = [
            #"{"id": 2, "shapes": [{"id": 9, "type": "s", "side": 1}, {"id": 1, "type": "s", "side": 2}]}"#,
            #"{"id": 3, "frame": {"id": 1, "side": 2}}"#, #"{"id": 4, "shapes": [{"id": 8, "radius": 1}]}"#,
            #"{"id": 5}"#,
        ]
        let result = try files.importing(records.joined(separator: "\n") + "\n", "drawing", Self.shapes)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let rejects = try runImporter("rejects", files.store, "--json").output.split(separator: UInt8(ascii: "\n"))
        let errors = try rejects.map { line -> String in
            let reject = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
            return try #require(reject["errors"] as? [[String: Any]]).map {
                "\($0["key_path"] ?? "") \($0["code"] ?? "") \($0["byte_offset"] ?? "")"
            }.joined(separator: ", ")
        }
        let starts = [0, records[0].utf8.count + 1, records[0].utf8.count + records[1].utf8.count + 2]
        #expect(
            errors == [
                "shapes[1] wrongEntity \(starts[0] + 56)", "frame wrongEntity \(starts[1] + 19)",
                "shapes[0] abstractEntity \(starts[2] + 21)",
            ]
        )
        // Nothing of them is there.
        #expect(try files.query("SELECT group_concat(id) FROM drawing") == "1,5")
        #expect(try files.query("SELECT group_concat(id) FROM shape") == "1")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }
}
