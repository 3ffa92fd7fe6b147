import TestSupport
import Testing

/// To-ones and join tables with objects without identifier are in a server's schema what they are in a SQLite store.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGReferredTests {
    private static let homes = """
        {"entities": {
          "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "home": {"entity": "home", "inverse": "people"}, "friends": {"entity": "person", "toMany": true}}},
          "home": {"attributes": {"city": {"type": "string", "optional": true}}, "relationships": {
            "people": {"entity": "person", "toMany": true, "inverse": "home"}, "rooms": {"entity": "room", "toMany": true}}},
          "room": {"attributes": {"kind": {"type": "string", "from": "@value"}}}}}
        """

    /// Each person with the home, and each home with its rooms: row ids are of a sequence.
    private static let links = """
        SELECT id, coalesce(home.city, CASE WHEN home_row_id IS NULL THEN '-' ELSE '?' END),
            (SELECT string_agg(kind, ',' ORDER BY home_position) FROM room WHERE room.home_row_id = home.row_id)
        FROM person LEFT JOIN home ON row_id = person.home_row_id ORDER BY id
        """

    private func difference(_ files: ImportFiles, _ database: PGDatabase) throws {
        let report = try database.imported(files, nil, ["--chunk-size", "80"])
        let same = try files.storeOfTheSame()
        #expect(report == same.report)
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        #expect(try database.isVerified())
    }

    /// What a record says of what an object refers to overwrites that, whether only such records say it or lists do, too.
    @Test(
        arguments: Cases.few(
            1,
            of: [
                (
                    [
                        #"{"id": 1, "home": {"city": "a", "rooms": ["x", "y"]}}"#, #"{"id": 2, "home": {"city": "b"}}"#,
                        #"{"id": 1, "home": {"rooms": ["z"]}}"#, #"{"id": 2, "home": null}"#, #"{"id": 3}"#,
                        #"{"id": 4, "friends": [{"id": 3, "home": {"city": "c"}}]}"#,
                        #"{"id": 3, "home": {"city": "d"}}"#,
                    ], "1|?|z\n2|-|\n3|d|\n4|-|", "2"
                ),
                (
                    [
                        #"{"id": 1, "home": {"city": "a", "people": [2, 3], "rooms": ["x"]}}"#,
                        #"{"id": 2, "home": {"city": "b", "rooms": ["y"]}}"#, #"{"id": 3, "home": null}"#,
                        #"{"id": 3}"#,
                    ], "1|b|y\n2|b|y\n3|-|", "1"
                ),
                (
                    [
                        #"{"id": 1, "home": {"city": "a"}}"#, #"{"id": 2, "home": {"city": "b", "people": [1]}}"#,
                        #"{"id": 1, "home": {"city": "c", "people": []}}"#,
                    ], "1|c|\n2|-|", "2"
                ),
            ]
        )
    )
    func areOverwritten(records: [String], links: String, homes: String) throws {
        let files = try ImportFiles(records: [records], model: Self.homes, options: ["--entity", "person"])
        let database = try PGDatabase()
        try difference(files, database)
        #expect(try database.query(Self.links) == links)
        #expect(try database.query("SELECT count(*) FROM home") == homes)
    }

    /// The same of homes that are there from an import before, and whose lists wait for people.
    @Test func areOverwrittenWhereTheirListsHaveComeFirst() throws {
        let database = try PGDatabase()
        let homes = [#"{"city": "a", "people": [1, 2, 4], "rooms": ["x", "y"]}"#, #"{"city": "b", "people": [3]}"#]
        try database.imported(ImportFiles(records: [homes], model: Self.homes, options: ["--entity", "home"]))
        #expect(try database.query("SELECT count(*) FROM _import_link") == "4")
        let people = [
            #"{"id": 1, "home": {"city": "c"}}"#, #"{"id": 2, "home": {"city": "d", "rooms": ["z"]}}"#,
            #"{"id": 3, "home": null}"#, #"{"id": 4}"#,
        ]
        try database.imported(ImportFiles(records: [people], model: Self.homes, options: ["--entity", "person"]))
        #expect(try database.query(Self.links) == "1|d|z\n2|d|z\n3|-|\n4|d|z")
        #expect(try database.query("SELECT city FROM home") == "d")
        #expect(try database.isVerified())
    }

    /// Objects without identifier have lists in join tables, also where the other side makes the table.
    @Test func haveListsInJoinTables() throws {
        let model = """
            {"entities": {
              "cat": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                "humans": {"entity": "human", "toMany": true, "inverse": "cats", "from": []}}},
              "human": {"attributes": {"name": {"type": "string"}}, "relationships": {
                "cats": {"entity": "cat", "toMany": true, "inverse": "humans"}}}}}
            """
        let records = [#"{"name": "a", "cats": [1, {"id": 2}]}"#, #"{"name": "b", "cats": [2]}"#, #"{"name": "c"}"#]
        let database = try PGDatabase()
        try difference(ImportFiles(records: [records], model: model, options: ["--entity", "human"]), database)
        let links = "SELECT name, cat_id FROM cat_humans JOIN human ON row_id = humans_row_id ORDER BY 1, 2"
        #expect(try database.query(links) == "a|1\na|2\nb|2")
    }

    /// Parts within parts, and boxes: each says in the model whose it is, as the other side does, but not in the records.
    private static let orders = """
        {"entities": {
          "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "parts": {"entity": "part", "toMany": true, "inverse": "order"}, "box": {"entity": "box", "inverse": "order"}}},
          "part": {"attributes": {"name": {"type": "string"}}, "relationships": {
            "order": {"entity": "order", "inverse": "parts"}, "parent": {"entity": "part", "inverse": "children"},
            "children": {"entity": "part", "toMany": true, "inverse": "parent", "deleteRule": "cascade"}}},
          "box": {"attributes": {"size": {"type": "integer32"}}, "relationships": {
            "order": {"entity": "order", "inverse": "box"}, "tags": {"entity": "tag", "toMany": true, "inverse": "box"}}},
          "tag": {"identifier": ["id"], "attributes": {"id": {"type": "string"}}, "relationships": {
            "box": {"entity": "box", "inverse": "tags"}}}}}
        """

    private static let parts = """
        SELECT part.name, part.order_id, up.name, coalesce(part.order_position, part.parent_position)
        FROM part LEFT JOIN part AS up ON up.row_id = part.parent_row_id ORDER BY 1
        """

    @Test func nestInTheirOwnKind() throws {
        let records = [
            #"{"id": 1, "parts": [{"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}, {"name": "d"}]}]}"#,
            #"{"id": 2, "parts": [{"name": "e", "order": 2}], "box": {"size": 1, "tags": [{"id": "x"}, {"id": "y"}]}}"#,
            #"{"id": 1, "parts": [{"name": "f", "children": [{"name": "g", "children": [{"name": "h"}]}]}, {"name": "i"}]}"#,
            #"{"id": 2, "box": {"size": 2, "tags": ["y"]}}"#,
            #"{"id": 1, "box": {"size": 3, "tags": [{"id": "z"}]}}"#,
        ]
        let files = try ImportFiles(records: [records], model: Self.orders, options: ["--entity", "order"])
        let database = try PGDatabase()
        try difference(files, database)
        #expect(try database.query(Self.parts) == "e|2||0\nf|1||0\ng||f|0\nh||g|0\ni|1||1")
        let boxes = "SELECT tag.id, size, order_id FROM tag LEFT JOIN box ON row_id = box_row_id ORDER BY 1"
        #expect(try database.query(boxes) == "x||\ny|2|2\nz|3|1")
        // What was nested in what goes goes, too.
        let rest = [#"{"id": 1, "parts": [{"name": "j"}], "box": null}"#]
        try database.imported(ImportFiles(records: [rest], model: Self.orders, options: ["--entity", "order"]))
        #expect(try database.query(Self.parts) == "e|2||0\nj|1||0")
        #expect(try database.query(boxes) == "x||\ny|2|2\nz||")
        #expect(try database.isVerified())
    }

    /// Whom a list has and what says itself that it belongs to the same: records are taken one after the other then.
    @Test(
        arguments: Cases.few(
            1,
            of: [
                ("order", [#"{"id": 1, "parts": [{"name": "a", "order": 2}]}"#]),
                ("part", [#"{"name": "a", "parent": {"name": "b"}}"#]),
                ("box", [#"{"size": 1, "order": 1}"#, #"{"size": 2, "order": 1}"#]),
            ]
        )
    )
    func mayContradictOneAnother(entity: String, records: [String]) throws {
        let files = try ImportFiles(records: [records], model: Self.orders, options: ["--entity", entity])
        let database = try PGDatabase()
        try difference(files, database)
        let same = try files.storeOfTheSame().path
        for query in [Self.parts, "SELECT size, order_id FROM box ORDER BY 1"] {
            #expect(try database.query(query) == StoreContent.query(same, query))
        }
    }
}
