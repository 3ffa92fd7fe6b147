import Foundation
import TestSupport
import Testing

/// Related objects, read back with the records that they belong to.
struct FetchRelationshipTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
    }

    private func importing(
        _ records: String,
        entity: String,
        model: String = RelationshipTests.model
    ) throws -> (source: String, result: ChildProcess.Result) {
        let source = try directory.write(records, to: "\(UUID().uuidString).ndjson")
        let model = try directory.write(model, to: "model.json")
        let result = try runImporter(
            "import",
            source,
            "--into",
            store,
            "--model",
            model,
            "--entity",
            entity,
            "--progress",
            "none"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return (source, result)
    }

    private func fetch(_ arguments: String...) throws -> ChildProcess.Result {
        try run([Project.importer, "fetch", store] + arguments)
    }

    private func check(_ arguments: String...) throws -> ChildProcess.Result {
        try Python.run("nested_fetch.py", arguments)
    }

    /// Random orders: with or without customer, with some that are references only, with lists of any length.
    private func orders(_ count: Int, seed: UInt64) -> String {
        var random = SeededGenerator(seed: seed)
        var text = ""
        for id in 1...count {
            var parts = ["\"id\": \(id)"]
            let person = Int.random(in: 1...9, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: parts.append("\"customer_id\": \(person)")
            case 1: parts.append("\"customer\": null")
            case 2: parts.append("\"customer\": {\"id\": \(person), \"name\": \"n\(person % 4)\"}")
            default: break
            }
            let lines = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                "{\"sku\": \"s\(Int.random(in: 0..<5, using: &random))\", \"count\": \(Int.random(in: 0..<9, using: &random))}"
            }
            parts.append("\"items\": [\(lines.joined(separator: ", "))]")
            let tags = (0..<6).shuffled(using: &random).prefix(Int.random(in: 0...4, using: &random)).map {
                "\"t\($0)\""
            }
            parts.append("\"tags\": [\(tags.joined(separator: ", "))]")
            text += "{\(parts.joined(separator: ", "))}\n"
        }
        return text
    }

    // MARK: Nested objects

    @Test func nestsRelatedObjectsInTheirOrder() throws {
        _ = try importing(RelationshipTests.orders, entity: "order")
        let lines = try fetch("order", "--format", "ndjson", "--include", "lines,tags", "--include", "customer")
        #expect(lines.ending == .exit(0) && lines.errorText == "")
        #expect(
            lines.outputText == """
                {"id":7,"lines":[{"sku":"a","count":2},{"sku":"b","count":null}],"tags":[{"name":"red"},{"name":"new"}],\
                "customer":{"id":1,"name":"Ada"}}
                {"id":8,"lines":[],"tags":[{"name":"new"}],"customer":{"id":2}}

                """
        )
        // The other side, and the levels on the way.
        let people = try fetch("person", "--format", "json", "--include", "orders.lines")
        #expect(
            people.outputText == """
                [
                {"id":1,"name":"Ada","orders":[{"id":7,"lines":[{"sku":"a","count":2},{"sku":"b","count":null}]}]}
                ]

                """
        )
        // Columns that hold references are printed where nothing is included, or where they are asked for.
        #expect(try fetch("order", "--format", "ndjson", "--limit", "1").outputText == "{\"id\":7,\"customer_id\":1}\n")
        let columns = try fetch(
            "order",
            "--format",
            "ndjson",
            "--include",
            "lines",
            "--columns",
            "customer_id",
            "--offset",
            "1"
        )
        #expect(columns.outputText == "{\"customer_id\":2,\"lines\":[]}\n")
    }

    /// What Python reads in the tables is what is nested.
    @Test(arguments: [1, 2] as [UInt64]) func nestsWhatTheTablesSay(seed: UInt64) throws {
        _ = try importing(orders(400, seed: seed), entity: "order")
        // Lists that were changed, and children that no list has named.
        _ = try importing(orders(100, seed: seed + 10), entity: "order")
        try StoreContent.execute(store, "INSERT INTO line (sku, order_id) VALUES ('late', 3), ('later', 3)")
        try StoreContent.execute(store, "UPDATE order_tags SET position = NULL WHERE order_id = 4")
        try StoreContent.execute(store, "DELETE FROM tag WHERE name = 't1'")
        let output = try fetch("order", "--format", "ndjson", "--include", "lines,tags,customer.orders")
        let file = try directory.write(output.output, to: "output.ndjson")
        let checked = try check("stored", store, file)
        #expect(checked.ending == .exit(0), "\(checked.outputText)\(checked.errorText)")
        #expect(checked.outputText == "400 records\n")
    }

    /// A document of arrays in arrays is the same again, from tables whose rows have no identifier.
    @Test(arguments: [3, 4] as [UInt64], [true, false]) func givesTheSourceAgain(seed: UInt64, hasModel: Bool) throws {
        let model = """
            {"entities": {
              "a": {"attributes": {"x": {"type": "integer64", "optional": true}, "y": {"type": "string", "optional": true}},
                "relationships": {"b": {"entity": "a_b", "toMany": true, "deleteRule": "cascade", "ordered": true},
                                  "d_e": {"entity": "a_e", "toMany": true, "from": "d.e", "deleteRule": "cascade", "ordered": true}}},
              "a_b": {"attributes": {"x": {"type": "integer64", "optional": true},
                  "w_v": {"type": "string", "from": "w.v", "optional": true}},
                "relationships": {"c": {"entity": "a_b_c", "toMany": true, "deleteRule": "cascade", "ordered": true}}},
              "a_b_c": {"attributes": {"z": {"type": "double", "optional": true}, "j": {"type": "json", "optional": true}}},
              "a_e": {"attributes": {"x": {"type": "boolean", "optional": true}}}}}
            """
        var random = SeededGenerator(seed: seed)
        func list(_ element: (inout SeededGenerator) -> String) -> String {
            let count = Int.random(in: 0...3, using: &random)
            return "[" + (0..<count).map { _ in element(&random) }.joined(separator: ", ") + "]"
        }
        func third(_ random: inout SeededGenerator) -> String {
            let number = Int.random(in: 0..<9, using: &random)
            return number == 0 ? "{}" : "{\"z\": \(number).5, \"j\": [\(number), {\"k\": null}]}"
        }
        var text = ""
        for number in 1...300 {
            let inner = (0..<Int.random(in: 0...3, using: &random)).map { place in
                "{\"x\": \(place), \"w\": {\"v\": \"\(number)\"}, \"c\": \(list(third))}"
            }
            text += "{\"x\": \(number), \"y\": \"\(number % 7)\", \"b\": [\(inner.joined(separator: ", "))]"
            text += number.isMultiple(of: 3) ? "" : ", \"d\": {\"e\": [{\"x\": true}, {\"x\": null}, {\"x\": false}]}"
            text += "}\n"
        }
        let source: String
        if hasModel {
            source = try importing(text, entity: "a", model: model).source
        } else {
            source = try directory.write(text, to: "a.ndjson")
            let options = ["--nested", "tables", "--progress", "none"]
            #expect(try run([Project.importer, "import", source, "--into", store] + options).ending == .exit(0))
            try directory.write(try runImporter("model", "print", store).output, to: "model.json")
        }
        let output = try fetch("a", "--format", "ndjson", "--include", "b.c,d_e")
        let nested = try directory.write(output.output, to: "output.ndjson")
        let checked = try check("same", source, nested, directory.path("model.json"), "a")
        #expect(checked.ending == .exit(0), "\(checked.outputText)\(checked.errorText)")
        #expect(checked.outputText == "300 records\n")
    }

    /// So are real files, whose records have child tables.
    @Test(
        .enabled(if: SharedData.isPresent, "needs shared/data beside the checkout"),
        arguments: ["grades", "students"]
    )
    func givesRealFilesAgain(name: String) throws {
        let source = SharedData.path("mongodb-json-files/\(name).json")
        let options = ["--nested", "tables", "--strict", "--progress", "none"]
        #expect(try run([Project.importer, "import", source, "--into", store] + options).ending == .exit(0))
        #expect(try StoreContent.tables(store) == [name, "\(name)_scores"])
        try directory.write(try runImporter("model", "print", store).output, to: "model.json")
        let output = try fetch(name, "--format", "ndjson", "--include", "scores")
        let nested = try directory.write(output.output, to: "output.ndjson")
        let checked = try check("same", source, nested, directory.path("model.json"), name)
        #expect(checked.ending == .exit(0) && !checked.outputText.hasPrefix("0 "), "\(checked.outputText)")
    }

    /// What is printed of one table can be imported as a table of its own.
    @Test func printsAModelOfOneTable() throws {
        _ = try importing(RelationshipTests.orders, entity: "order")
        for entity in ["order", "line"] {
            let again = try directory.write(try fetch(entity, "--format", "ndjson").output, to: "again.ndjson")
            let model = try directory.write(try fetch(entity, "--print-model").output, to: "again.json")
            let copy = directory.path("\(entity).sqlite")
            let result = try runImporter("import", again, "--into", copy, "--model", model, "--progress", "none")
            #expect(result.ending == .exit(0), "\(result.errorText)")
            let query = "SELECT * FROM \"\(entity)\" ORDER BY rowid"
            #expect(try StoreContent.query(copy, query) == StoreContent.query(store, query))
        }
    }

    @Test func refusesWhatCannotBeIncluded() throws {
        _ = try importing(RelationshipTests.orders, entity: "order")
        for format in ["table", "csv", "markdown"] {
            let result = try fetch("order", "--include", "lines", "--format", format)
            #expect(result.ending == .exit(64) && result.errorText.contains("cannot show"), "\(result.errorText)")
            #expect(result.outputText.isEmpty)
        }
        #expect(try fetch("order", "--include", "lines").ending == .exit(64))
        #expect(try fetch("order", "--include", "lines", "--json", "--count").ending == .exit(64))
        #expect(try fetch("--include", "lines", "--json").ending == .exit(64))
        let near = try fetch("order", "--json", "--include", "customer.ordrs")
        #expect(near.ending == .exit(64))
        #expect(near.errorText.contains("person has no relationship ordrs; did you mean customer.orders?"))
        #expect(near.errorText.contains("It has: orders."))
        #expect(try fetch("order", "--json", "--include", "lines.").ending == .exit(64))
        #expect(try fetch("order", "--json", "--include", "id").errorText.contains("It has: customer, lines, tags."))
        let deep = try fetch("order", "--json", "--include", String(repeating: "customer.orders.", count: 40) + "lines")
        #expect(deep.ending == .exit(64) && deep.errorText.contains("60 relationships"), "\(deep.errorText)")
    }

    // MARK: Predicates and sorts

    private static let predicates: [(predicate: String, python: String)] = [
        ("customer.name = 'n1'", "r['customer']['name'] == 'n1'"),
        ("not customer.name = 'n1'", "r['customer']['name'] != 'n1'"),
        (
            "customer.name in ('n1', 'n2') and lines.count > 1",
            "r['customer']['name'] in ('n1', 'n2') and len(r['lines']) > 1"
        ),
        ("lines.count = 0", "len(r['lines']) == 0"), ("lines.count > 3", "len(r['lines']) > 3"),
        ("lines.count between 1 and 2", "1 <= len(r['lines']) <= 2"),
        ("lines.count = tags.count", "len(r['lines']) == len(r['tags'])"),
        ("customer.orders.count > 22", "len(r['customer']['orders']) > 22"),
        ("customer.orders.count >= 0", "len(r['customer']['orders']) >= 0"),
        ("customer.name begins with 'n' and customer.id < 4", "'name' in r['customer'] and r['customer']['id'] < 4"),
        ("customer.id < id", "r['customer']['id'] < r['id'] and 'orders' in r['customer']"),
        (
            "customer.\"name\" = 'n3' or tags.count = 4",
            "(r['customer'] or {}).get('name') == 'n3' or len(r['tags']) == 4"
        ),
    ]

    /// Predicates over paths hold for the records for which Python says so, of what was nested.
    @Test func predicatesReachThroughRelationships() throws {
        _ = try importing(orders(400, seed: 5), entity: "order")
        let nested = try fetch("order", "--format", "ndjson", "--include", "lines,tags,customer.orders")
        let source = try directory.write(nested.output, to: "nested.ndjson")
        let texts = try JSONEncoder().encode(Self.predicates.map(\.python))
        let checked = try check("where", source, try directory.write(texts, to: "predicates.json"))
        #expect(checked.ending == .exit(0), "\(checked.errorText)")
        let expected = checked.outputText.split(separator: "\n", omittingEmptySubsequences: false)
        for (predicate, expected) in zip(Self.predicates, expected) {
            let found = try fetch("order", "--format", "csv", "--columns", "id", "--where", predicate.predicate)
            let ids = found.outputText.split(separator: "\n").dropFirst().joined(separator: ",")
            #expect(ids == expected && !ids.isEmpty, "\(predicate.predicate): \(found.errorText)")
            let count = try fetch("order", "--count", "--where", predicate.predicate).outputText
            #expect(count == "\(expected.split(separator: ",").count)\n")
        }
        // A sort by what others have, whatever the pages.
        let sorted = try fetch(
            "order",
            "--sort",
            "customer.name:desc,lines.count,id:desc",
            "--format",
            "csv",
            "--columns",
            "id"
        )
        let query = """
            SELECT group_concat(id, char(10)) FROM (SELECT id FROM "order" AS o ORDER BY
                (SELECT name FROM person WHERE id = o.customer_id) DESC,
                (SELECT count(*) FROM line WHERE order_id = o.id), id DESC)
            """
        #expect(try sorted.outputText == "id\n" + StoreContent.query(store, query) + "\n")
    }

    @Test func saysWhatIsWrongWithAPath() throws {
        _ = try importing(RelationshipTests.orders, entity: "order")
        func error(_ predicate: String) throws -> String {
            let result = try fetch("order", "--where", predicate)
            #expect(result.ending == .exit(64))
            return result.errorText
        }
        let unknown = try error("id = 7 and customer.nam = 'Ada'")
        #expect(unknown.contains("person has no attribute nam; did you mean customer.name?"))
        #expect(unknown.contains("                    ^~~\n"), "\(unknown)")
        #expect(try error("custmer.name = 'x'").contains("did you mean customer.name?"))
        #expect(try error("lines.sku = 'a'").contains("Write lines.count, as in lines.count > 3."))
        #expect(try error("customer = 1").contains("as in customer.id is null"))
        #expect(try error("customer.orders.count > 'x'").contains("an integer64"))
        #expect(try fetch("order", "--sort", "customer.nam").ending == .exit(64))
    }

    // MARK: Inheritance

    @Test func anEntityHasItsOwnKindsOfRows() throws {
        let model = """
            {"entities": {
              "shop": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"things": {"entity": "thing", "toMany": true, "inverse": "shop"}}},
              "thing": {"identifier": ["code"], "abstract": true,
                "subentity": {"from": "kind", "values": {"b": "book", "c": "comic", "d": "disc"}},
                "attributes": {"code": {"type": "string"}, "price": {"type": "decimal", "optional": true}},
                "relationships": {"shop": {"entity": "shop", "inverse": "things", "from": []}}},
              "book": {"parent": "thing", "attributes": {"pages": {"type": "integer32", "optional": true}}},
              "comic": {"parent": "book", "attributes": {"color": {"type": "boolean", "optional": true}}},
              "disc": {"parent": "thing", "attributes": {"minutes": {"type": "integer32", "optional": true}}}}}
            """
        let records = """
            {"id": 1, "things": [{"kind": "b", "code": "x", "price": 1.5, "pages": 3}, {"kind": "d", "code": "y", "minutes": 9},
            """ + """
                 {"kind": "c", "code": "z", "color": true}]}
                {"id": 2, "things": [{"kind": "d", "code": "w"}]}

                """
        _ = try importing(records, entity: "shop", model: model)
        func codes(_ entity: String, _ options: String...) throws -> String {
            let result = try run(
                [Project.importer, "fetch", store, entity, "--format", "csv", "--columns", "code"] + options
            )
            return result.outputText.split(separator: "\n").dropFirst().joined(separator: ",")
        }
        #expect(try codes("thing") == "x,y,z,w")
        #expect(try codes("book") == "x,z")
        #expect(try codes("comic") == "z")
        #expect(try codes("disc", "--where", "shop.things.count > 1") == "y")
        #expect(try codes("book", "--sort", "code:desc", "--limit", "1", "--offset", "1") == "x")
        #expect(try fetch("disc", "--count").outputText == "2\n")
        struct Listed: Decodable {
            let entity: String
            let table: String
            let records: Int
        }
        let list = try JSONDecoder().decode([Listed].self, from: fetch("--json").output)
        #expect(list.map(\.entity) == ["shop", "thing", "book", "comic", "disc"])
        #expect(list.map(\.records) == [2, 4, 2, 1, 2] && list.dropFirst().allSatisfy { $0.table == "thing" })
        // Of one kind it has the attributes that it can have, with their types.
        let comics = try fetch("comic", "--format", "ndjson", "--include", "shop").outputText
        #expect(comics == #"{"code":"z","price":null,"pages":null,"color":true,"shop":{"id":1}}"# + "\n")
        let things = try fetch("shop", "--format", "ndjson", "--include", "things", "--limit", "1").outputText
        #expect(things.contains(#"{"code":"y","price":null,"pages":null,"color":null,"minutes":9,"entity":"disc"}"#))
    }

    /// Inherited attributes keep their types where each entity has a table of its own.
    @Test func inheritedAttributesHaveTheirTypes() throws {
        let model = """
            {"entities": {"a": {"attributes": {"on": {"type": "boolean"}, "price": {"type": "decimal"}}, "abstract": true},
              "b": {"parent": "a", "attributes": {"n": {"type": "integer64"}}}}}
            """
        _ = try importing("{\"on\": true, \"price\": 1.50, \"n\": 3}\n", entity: "b", model: model)
        #expect(try fetch("b", "--format", "ndjson").outputText == #"{"on":true,"price":1.5,"n":3}"# + "\n")
    }
}
