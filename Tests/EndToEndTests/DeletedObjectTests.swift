import Foundation
import TestSupport
import Testing

/// Objects that another program has deleted without what belongs to them.
struct DeletedObjectTests {
    private static let orders = [
        #"{"no": "A", "lines": [{"sku": "x"}]}"#, #"{"no": "B", "lines": [{"sku": "y"}, {"sku": "z"}]}"#,
    ]

    /// - Returns: what the command prints.
    @discardableResult
    private func importLines(
        _ lines: [String],
        _ options: [String],
        _ directory: TemporaryDirectory
    ) throws -> String {
        let source = try directory.write(lines.joined(separator: "\n") + "\n", to: "\(UUID().uuidString).ndjson")
        let command = [Project.importer, "import", source, "--into", directory.path("s.sqlite"), "--entity", "orders"]
        let result = try run(command + options)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return result.outputText
    }

    /// - Parameter came: what comes after B is deleted, and which lines which order has then.
    @Test(
        arguments: [
            ([#"{"no": "B", "lines": [{"sku": "q"}]}"#, #"{"no": "C", "lines": [{"sku": "r"}]}"#], "A|x\nB|q\nC|r"),
            ([#"{"no": "B", "lines": []}"#, #"{"no": "C", "lines": [{"sku": "r"}]}"#], "A|x\nB|\nC|r"),
            ([#"{"no": "B"}"#, #"{"no": "C"}"#], "A|x\nB|\nC|"),
        ],
        ["no", nil]
    )
    func aNewObjectInheritsNothing(came: ([String], String), identifier: String?) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        let options = ["--nested", "tables"] + (identifier.map { ["--identifier", $0] } ?? [])
        try importLines(Self.orders, options, directory)
        try StoreContent.execute(store, "DELETE FROM orders WHERE no = 'B'")
        let verified = try runImporter("verify", store)
        #expect(verified.ending != .exit(0))
        #expect(verified.outputText.contains("orders.lines has 2"), "\(verified.outputText)")
        let printed = try importLines(came.0, options, directory)
        let (own, link) = identifier == nil ? ("row_id", "orders_row_id") : ("no", "orders_no")
        let found = try StoreContent.query(
            store,
            "SELECT o.no, l.sku FROM orders AS o LEFT JOIN orders_lines AS l ON l.\(link) = o.\(own) ORDER BY 1, 2"
        )
        #expect(found == came.1)
        #expect(printed.contains("orphan deleted"), "\(printed)")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// - Parameter line: what the lines of a model's orders are: parts of them, or objects in a join table.
    @Test(
        arguments: [
            #""identifier": ["@parent", "id"], "#, #""identifier": ["id"], "#, "",
        ],
        [[], ["--on-conflict", "replace"]]
    )
    func aListOfAModelIsWhatItsRecordSays(line: String, options: [String]) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        let model = try directory.write(
            """
            {"entities": {
              "orders": {"identifier": ["no"], "attributes": {"no": {"type": "string"}},
                "relationships": {"lines": {"entity": "line", "toMany": true}}},
              "line": {\(line)"attributes": {"id": {"type": "integer64"}, "sku": {"type": "string"}}}}}
            """,
            to: "m.json"
        )
        let options = ["--model", model] + options
        func order(_ no: String, _ lines: String) -> String { #"{"no": "\#(no)", "lines": [\#(lines)]}"# }
        let lines = [#"{"id": 1, "sku": "x"}"#, #"{"id": 2, "sku": "y"}"#, #"{"id": 3, "sku": "z"}"#]
        try importLines([order("A", lines[0]), order("B", "\(lines[1]), \(lines[2])")], options, directory)
        for (came, left) in [(lines[2], "A|x\nB|z"), ("", "A|x"), ("\(lines[1]), \(lines[2])", "A|x\nB|y\nB|z")] {
            try StoreContent.execute(store, "DELETE FROM orders WHERE no = 'B'")
            #expect(try runImporter("verify", store).ending == .exit(65))
            try importLines([order("B", came)], options, directory)
            let fetched = try runImporter("fetch", store, "orders", "--include", "lines", "--format", "ndjson")
            let found = try fetched.outputText.split(separator: "\n").flatMap { text -> [String] in
                let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
                let lines = object?["lines"] as? [[String: Any]] ?? []
                return lines.map { "\(object?["no"] as? String ?? "?")|\($0["sku"] as? String ?? "?")" }
            }
            #expect(found.joined(separator: "\n") == left)
            #expect(try runImporter("verify", store).ending == .exit(0))
            if came.isEmpty { try importLines([order("B", lines[1])], options, directory) }
        }
    }

    /// - Parameters:
    ///   - relationship: what the orders have: a list in a join table, or a to-one in a column.
    ///   - table: that refers to rows of `tag` by their row ids.
    ///   - column: the one that does.
    @Test(
        arguments: [
            (#""toMany": true, "inverse": "orders""#, "orders_tag", "tag_row_id"),
            (#""inverse": "orders""#, "orders", "tag_row_id"),
        ]
    )
    func whatRefersToARowThatIsGoneRefersToNoNewOne(relationship: String, table: String, column: String) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        let model = try directory.write(
            """
            {"entities": {
              "orders": {"identifier": ["no"], "attributes": {"no": {"type": "string"}},
                "relationships": {"tag": {"entity": "tag", "from": "tag", \(relationship)}}},
              "tag": {"attributes": {"t": {"type": "string"}},
                "relationships": {"orders": {"entity": "orders", "toMany": true, "inverse": "tag"}}}}}
            """,
            to: "m.json"
        )
        func order(_ no: String, _ tag: String) -> String {
            let object = #"{"t": "\#(tag)"}"#
            return #"{"no": "\#(no)", "tag": \#(relationship.contains("toMany") ? "[\(object)]" : object)}"#
        }
        func tags() throws -> String {
            try StoreContent.query(
                store,
                """
                SELECT o.no, coalesce(t, '-') FROM orders AS o
                LEFT JOIN \(table) AS l ON l.\(table == "orders" ? "no" : "orders_no") = o.no
                LEFT JOIN tag ON tag.row_id = l.\(column) ORDER BY 1, 2
                """
            )
        }
        try importLines([order("A", "x"), order("B", "y")], ["--model", model], directory)
        try StoreContent.execute(store, "DELETE FROM tag WHERE t = 'y'")
        try importLines([order("C", "z"), order("D", "w")], ["--model", model], directory)
        #expect(try tags() == "A|x\nB|-\nC|z\nD|w")
        // The object itself says what it has.
        try importLines([order("B", "y")], ["--model", model], directory)
        #expect(try tags() == "A|x\nB|y\nC|z\nD|w")
        #expect(try StoreContent.query(store, "SELECT group_concat(row_id) FROM tag") == "1,3,4,5")
    }

    @Test func aRowIDIsNotGivenAgain() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        try importLines(Self.orders, ["--nested", "tables"], directory)
        // Nothing in the store refers to it any more; what another program has kept may.
        try StoreContent.execute(store, "DELETE FROM orders WHERE no = 'B'; DELETE FROM orders_lines WHERE sku <> 'x'")
        try importLines([#"{"no": "C"}"#], ["--nested", "tables"], directory)
        try StoreContent.execute(store, "DELETE FROM orders")
        try importLines([#"{"no": "D"}"#, #"{"no": "E"}"#], ["--nested", "tables"], directory)
        #expect(try StoreContent.query(store, "SELECT row_id, no FROM orders") == "4|D\n5|E")
    }

    @Test func aRowIDOfATableOfOthersIsNotGivenAgain() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        try StoreContent.execute(
            store,
            """
            CREATE TABLE orders(id INTEGER PRIMARY KEY, no TEXT); CREATE TABLE notes(text TEXT, of REFERENCES orders);
            INSERT INTO orders VALUES(1, 'A'); INSERT INTO notes VALUES('late', 7), ('odd', 'x')
            """
        )
        try importLines([#"{"no": "B"}"#, #"{"no": "C"}"#], [], directory)
        #expect(try StoreContent.query(store, "SELECT id, no FROM orders") == "1|A\n8|B\n9|C")
    }

    @Test func whatElementsHaveLeftGoesAtTheEndOfAJob() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        let options = ["--nested", "tables", "--identifier", "no"]
        try importLines(
            [#"{"no": "A", "lines": [{"sku": "x", "parts": [{"p": 1}]}, {"sku": "y", "parts": [{"p": 2}]}]}"#],
            options,
            directory
        )
        try StoreContent.execute(store, "DELETE FROM orders_lines WHERE sku = 'y'")
        let verified = try runImporter("verify", store)
        #expect(verified.outputText.contains("has 1, which the next import removes"), "\(verified.outputText)")
        let printed = try importLines([#"{"no": "B"}"#], options, directory)
        #expect(printed.contains("1 × orphan deleted"), "\(printed)")
        #expect(try StoreContent.query(store, "SELECT p FROM orders_lines_parts") == "1")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test(arguments: [[], ["--identifier", "k"]])
    func aMissingKeyLeavesTheDefaultOfATable(options: [String]) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        let key = options.isEmpty ? "" : " PRIMARY KEY"
        try StoreContent.execute(
            store,
            """
            CREATE TABLE orders(k INTEGER\(key), a TEXT DEFAULT 'x', n INTEGER NOT NULL DEFAULT 7, e TEXT DEFAULT (upper('e')))
            """
        )
        let lines = [
            #"{"k": 1, "a": "y", "n": 1, "e": "f"}"#, #"{"k": 2, "a": null, "n": 2}"#, #"{"k": 3, "e": null}"#,
            #"{"k": 4}"#,
        ]
        try importLines(lines, options, directory)
        let found = try StoreContent.query(store, "SELECT k, quote(a), n, quote(e) FROM orders ORDER BY k")
        #expect(found == "1|'y'|1|'f'\n2|NULL|2|'E'\n3|'x'|7|NULL\n4|'x'|7|'E'")
    }

    @Test(arguments: ["k INTEGER PRIMARY KEY", "k TEXT"])
    func whatReplacesAnObjectLeavesTheDefaultsOfATable(key: String) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        try StoreContent.execute(
            store,
            """
            CREATE TABLE orders(\(key), a TEXT DEFAULT 'x', n INTEGER NOT NULL DEFAULT 7, e TEXT DEFAULT (upper('e') -- big
                ), w TEXT DEFAULT n, q TEXT COLLATE NOCASE DEFAULT "Q")
            """
        )
        let options = ["--identifier", "k", "--on-conflict", "replace"]
        let whole = #""a": "y", "n": 1, "e": "f", "w": "v", "q": "q"}"#
        try importLines([#"{"k": 1, \#(whole)"#, #"{"k": 2, \#(whole)"#, #"{"k": 3}"#], options, directory)
        let printed = try importLines(
            [#"{"k": 1}"#, #"{"k": 2, "a": null, "n": 2}"#, #"{"k": 3}"#],
            options,
            directory
        )
        #expect(printed.contains("updated   2") && printed.contains("unchanged 1"), "\(printed)")
        let found = try StoreContent.query(store, "SELECT k, quote(a), n, e, w, q FROM orders ORDER BY k")
        #expect(found == "1|'x'|7|E|n|Q\n2|NULL|2|E|n|Q\n3|'x'|7|E|n|Q")
    }
}
