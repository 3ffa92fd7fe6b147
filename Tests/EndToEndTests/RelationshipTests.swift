import Foundation
import TestSupport
import Testing

/// Records of entities that relate to one another, imported as people do.
struct RelationshipTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
    }

    static let model = """
        {"entities": {
          "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {
              "customer": {"entity": "person", "from": ["customer_id", "customer"], "inverse": "orders"},
              "lines":    {"entity": "line", "toMany": true, "from": "items", "deleteRule": "cascade"},
              "tags":     {"entity": "tag", "toMany": true}}},
          "person": {"identifier": ["id"],
            "attributes": {"id": {"type": "integer64"}, "name": {"type": "string", "optional": true}},
            "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "customer", "from": []}}},
          "line": {"attributes": {"sku": {"type": "string"}, "count": {"type": "integer32", "optional": true}}},
          "tag":  {"identifier": ["name"], "attributes": {"name": {"type": "string", "from": "@value"}}}}}
        """

    static let orders = """
        {"id": 7, "customer": {"id": 1, "name": "Ada"}, "items": [{"sku": "a", "count": 2}, {"sku": "b"}], "tags": ["red", "new", null, "red"]}
        {"id": 8, "customer_id": 2, "items": [], "tags": ["new"]}

        """

    private func importOrders(
        _ records: String,
        entity: String = "order",
        model: String = model,
        _ options: String...
    ) throws -> ChildProcess.Result {
        let source = try directory.write(records, to: "\(UUID().uuidString).ndjson")
        let model = try directory.write(model, to: "model.json")
        return try run(
            [
                Project.importer, "import", source, "--into", store, "--model", model, "--entity", entity, "--progress",
                "none",
            ] + options
        )
    }

    private func rows(_ table: String) throws -> String {
        try StoreContent.query(store, "SELECT * FROM \"\(table)\" ORDER BY 1, 2, 3")
    }

    private func query(_ sql: String) throws -> String { try StoreContent.query(store, sql) }

    @Test func becomesRelatedTables() throws {
        #expect(try importOrders(Self.orders).ending == .exit(0))
        #expect(try query("SELECT group_concat(id || ':' || customer_id) FROM \"order\"") == "7:1,8:2")
        #expect(
            try query("SELECT group_concat(sku || ifnull(count, '-') || order_id || order_position) FROM line")
                == "a270,b-71"
        )
        #expect(try query("SELECT group_concat(rowid || name) FROM tag") == "1red,2new")
        #expect(
            try query(
                "SELECT group_concat(order_id || tags_name || position) FROM (SELECT * FROM order_tags ORDER BY 1, 3)"
            ) == "7red0,7new1,8new0"
        )
        #expect(
            try query("SELECT group_concat(\"table\" || \"from\" || on_delete) FROM pragma_foreign_key_list('line')")
                == "orderorder_idCASCADE"
        )
        #expect(
            try query("SELECT entity || attribute || kind || count FROM _import_ledger ORDER BY 1")
                .replacing("\n", with: ",") == "ordercustomerunresolved1,ordertagsduplicateLink1,ordertagsnullElement1"
        )
        #expect(try runImporter("verify", store).ending == .exit(0))
        #expect(try runImporter("status", store, "--unresolved").outputText == "order.customer\t2\t1\n")
        // The reference is good when its row comes.
        #expect(try importOrders("{\"id\": 2, \"name\": \"Bob\"}\n", entity: "person").ending == .exit(0))
        #expect(try runImporter("status", store, "--unresolved").outputText == "")
        #expect(try query("SELECT count(*) FROM pragma_foreign_key_check") == "0")
    }

    @Test func changesNothingTheSecondTime() throws {
        _ = try importOrders(Self.orders)
        let again = try importOrders(Self.orders, "--report", directory.path("report.json"))
        #expect(again.ending == .exit(0))
        let report = try Report(Data(contentsOf: URL(filePath: directory.path("report.json"))))
        #expect(report.unchanged == 2 && report.inserted == 0 && report.updated == 0)
        #expect(try StoreContent.tables(store).count == 5)
        #expect(try query("SELECT (SELECT count(*) FROM line) || (SELECT count(*) FROM order_tags)") == "23")
    }

    @Test func aListReplacesWhatIsThere() throws {
        _ = try importOrders(Self.orders)
        let text = #"{"id": 7, "items": [{"sku": "c"}], "tags": ["new", "old"]}"# + "\n"
        #expect(try importOrders(text).ending == .exit(0))
        #expect(try query("SELECT group_concat(rowid || sku || ifnull(count, '-')) FROM line") == "1c-")
        #expect(
            try query(
                "SELECT group_concat(tags_name || position) FROM (SELECT * FROM order_tags WHERE order_id = 7 ORDER BY 3)"
            ) == "new0,old1"
        )
        // What it does not mention stays.
        #expect(try query("SELECT customer_id FROM \"order\" WHERE id = 7") == "1")
        #expect(try importOrders(#"{"id": 7, "customer": null, "items": null}"# + "\n").ending == .exit(0))
        #expect(try query("SELECT customer_id IS NULL FROM \"order\" WHERE id = 7") == "1")
        #expect(try query("SELECT count(*) FROM line") == "0")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func oneErrorRejectsTheRecordWithAllThatIsInIt() throws {
        let record = #"{"id": 1, "customer": {"id": 5}, "items": [{"sku": "a"}, {"count": "x"}], "tags": ["t"]}"#
        let result = try importOrders("{\"id\": 2}\n" + record + "\n")
        #expect(result.ending == .exit(0))
        for table in ["person", "line", "tag", "order_tags"] {
            #expect(try query("SELECT count(*) FROM \(table)") == "0", "\(table)")
        }
        let rejects = try runImporter("rejects", store, "--json").outputText
        #expect(rejects.contains(#""key_path":"items[1].sku""#) && rejects.contains(#""key_path":"items[1].count""#))
        let byte = 10 + record.utf8.count - #""x"}], "tags": ["t"]}"#.utf8.count
        #expect(rejects.contains("\"byte_offset\":\(byte),\"code\":\"wrongForm\""), "\(rejects)")
        // Repaired, it comes whole.
        let file = directory.path("fix.ndjson")
        #expect(try runImporter("rejects", store, "--to", file).ending == .exit(0))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try text.replacing(#"{"count": "x"}"#, with: #"{"sku": "b"}"#).write(
            toFile: file,
            atomically: true,
            encoding: .utf8
        )
        #expect(try runImporter("retry", store, file).ending == .exit(0))
        #expect(try query("SELECT group_concat(sku || order_position) FROM line") == "a0,b1")
        #expect(try query("SELECT (SELECT count(*) FROM person) || (SELECT count(*) FROM order_tags)") == "11")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func isTheSameHoweverTheWorkIsSharedOut() throws {
        var records = ""
        for number in 1...300 {
            let lines = (0..<number % 4).map { #"{"sku": "s\#($0)", "count": \#(number + $0)}"# }.joined(
                separator: ", "
            )
            records += #"{"id": \#(number % 120), "customer": {"id": \#(number % 17), "name": "n\#(number % 5)"}, "#
            records += #""items": [\#(lines)], "tags": ["t\#(number % 7)", "t\#(number % 3)"]}"# + "\n"
        }
        let source = try directory.write(records, to: "orders.ndjson")
        let model = try directory.write(Self.model, to: "model.json")
        var results: [String] = []
        for (index, options) in [
            ["--workers", "1"], ["--workers", "3", "--chunk-size", "1", "--commit-every", "1"],
            ["--workers", "2", "--chunk-size", "4K", "--commit-every", "7"],
        ].enumerated() {
            let store = directory.path("store\(index).sqlite")
            let arguments = ["import", source, "--into", store, "--model", model, "--entity", "order"] + options
            #expect(try run([Project.importer] + arguments).ending == .exit(0))
            results.append(try StoreContent.result(store))
        }
        #expect(results[0] == results[1])
        #expect(results[0] == results[2])
    }

    @Test func referencesThatLeadNowhereAreTreatedAsTheModelSays() throws {
        for (policy, expected) in [("null", "0"), ("stub", "1"), ("keep", "1")] {
            let model = Self.model.replacing(
                #""entity": "person", "from""#,
                with: #""entity": "person", "unresolved": "\#(policy)", "from""#
            )
            let store = directory.path("\(policy).sqlite")
            let source = try directory.write("{\"id\": 1, \"customer_id\": 9}\n", to: "\(policy).ndjson")
            let file = try directory.write(model, to: "\(policy).json")
            let arguments = ["import", source, "--into", store, "--model", file, "--entity", "order"]
            #expect(try run([Project.importer] + arguments).ending == .exit(0))
            #expect(try StoreContent.query(store, "SELECT count(customer_id) FROM \"order\"") == expected, "\(policy)")
            let stubs = policy == "stub" ? "1" : "0"
            #expect(try StoreContent.query(store, "SELECT count(*) FROM person") == stubs, "\(policy)")
            #expect(try runImporter("verify", store).ending == .exit(0))
        }
    }

    @Test func orphansGoWhereTheModelSaysSo() throws {
        let model = """
            {"entities": {
              "user": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                "notes": {"entity": "note", "toMany": true, "inverse": "user", "orphans": "delete"}}},
              "note": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                "user": {"entity": "user", "inverse": "notes"}}}}}
            """
        let first = #"{"id": 1, "notes": [{"id": 1}, {"id": 2}, {"id": 3}]}"# + "\n"
        #expect(try importOrders(first, entity: "user", model: model).ending == .exit(0))
        let second = #"{"id": 1, "notes": [{"id": 3}]}"# + "\n" + #"{"id": 2, "notes": [2]}"# + "\n"
        #expect(try importOrders(second, entity: "user", model: model).ending == .exit(0))
        let notes = "SELECT group_concat(id || ':' || user_id) FROM (SELECT * FROM note ORDER BY id)"
        #expect(try query(notes) == "2:2,3:1")
        #expect(try query("SELECT count FROM _import_ledger WHERE kind = 'orphanDeleted'") == "1")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func refusesWhatImportsDoNotDoYet() throws {
        let model = """
            {"entities": {
              "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                "notes": {"entity": "note", "toMany": true, "inverse": "orders", "by": "text"}}},
              "note": {"attributes": {"text": {"type": "string"}}, "relationships": {
                "orders": {"entity": "order", "toMany": true, "inverse": "notes", "from": []}}}}}
            """
        let result = try importOrders(Self.orders, model: model)
        #expect(result.errorText.contains("is not supported by imports yet"))
        #expect(result.ending == .exit(65), "\(result.errorText)")
    }

    /// Lists and to-ones without inverse, at any depth; what both sides state is compared by hand.
    @Test func isWhatASlowReadingHas() throws {
        let checks = Project.root.appending(path: "Tests/Checks")
        let comparison = checks.appending(path: "relationship_comparison.py").path
        let arguments = ["python3", "-B", comparison, Project.importer, "1", "41", "--only-shapes", "1,2,3"]
        let result = try run(arguments)
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        // References by other attributes, subentities, lists that add, objects within others and what happens to what lists leave
        // out, in all shapes.
        for features in ["by", "inheritance", "union", "parent", "rules"] {
            let more = try run(["python3", "-B", comparison, Project.importer, "1", "12", "--only", features])
            #expect(more.ending == .exit(0), "\(features): \(more.outputText)\(more.errorText)")
        }
        // The slow reading does by itself what is worked out by hand.
        let own = try run(["python3", "-B", checks.appending(path: "relationships_check.py").path, "20"])
        #expect(own.ending == .exit(0), "\(own.outputText)\(own.errorText)")
    }
}
