import Foundation
import TestSupport
import Testing

/// Objects that are given by identifiers, in files of their own, those that are referred to last.
struct RelationshipOrderTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
    }

    private func importing(_ source: String, _ entity: String, _ model: String, _ options: [String] = []) throws {
        let model = try directory.write(model, to: "model.json")
        let command = [Project.importer, "import", source, "--into", store, "--model", model, "--entity", entity]
        let result = try run(command + ["--progress", "none"] + options)
        #expect(result.ending == .exit(0), "\(entity): \(result.errorText)")
    }

    private func query(_ sql: String) throws -> String { try StoreContent.query(store, sql) }

    private static let northwind = """
        {"entities": {
          "detail": {"identifier": ["OrderID", "ProductID"],
            "attributes": {"OrderID": {"type": "integer64"}, "ProductID": {"type": "integer64"}, "Quantity": {"type": "integer16"}},
            "relationships": {
              "order": {"entity": "order", "from": "OrderID", "inverse": "details"},
              "product": {"entity": "product", "from": "ProductID"}}},
          "order": {"identifier": ["OrderID"], "attributes": {"OrderID": {"type": "integer64"}, "ShipCity": {"type": "string"}},
            "relationships": {
              "shipper": {"entity": "shipper", "from": "ShipVia"},
              "details": {"entity": "detail", "toMany": true, "inverse": "order", "from": []}}},
          "product": {"identifier": ["ProductID"],
            "attributes": {"ProductID": {"type": "integer64"}, "ProductName": {"type": "string"}}},
          "shipper": {"identifier": ["ShipperID"],
            "attributes": {"ShipperID": {"type": "integer64"}, "CompanyName": {"type": "string"}}}}}
        """

    /// What refers to nothing, worked out from the files alone.
    private static let reading = """
        import collections, json, sys
        def rows(name):
            with open(f"{sys.argv[1]}/{name}.json", encoding="utf-8") as file:
                return json.load(file)["d"]["results"]
        there = {"order": {r["OrderID"] for r in rows("Orders")}, "product": {r["ProductID"] for r in rows("Products")},
                 "shipper": {r["ShipperID"] for r in rows("Shippers")}}
        missing = collections.Counter()
        for r in rows("Order_Details"):
            for name, value in (("order", r["OrderID"]), ("product", r["ProductID"])):
                if value not in there[name]:
                    missing[(f"detail.{name}", value)] += 1
        for r in rows("Orders"):
            if r["ShipVia"] not in there["shipper"]:
                missing[("order.shipper", r["ShipVia"])] += 1
        for (relationship, value), count in sorted(missing.items()):
            print(relationship, value, count, sep="\\t")
        """

    @Test(.enabled(if: SharedData.isPresent, "the shared data is not there"))
    func referencesThatLeadNowhereAreThoseOfASlowReading() throws {
        let folder = SharedData.path("northwind-odata")
        for (file, entity) in [
            ("Order_Details", "detail"), ("Orders", "order"), ("Products", "product"), ("Shippers", "shipper"),
        ] {
            try importing("\(folder)/\(file).json", entity, Self.northwind, ["--records", "$.d.results[*]"])
        }
        let expected = try Python.run(text: Self.reading, [folder])
        #expect(expected.ending == .exit(0), "\(expected.errorText)")
        let listed = try runImporter("status", store, "--unresolved").outputText
        let lines = listed.split(separator: "\n").map(String.init).sorted()
        #expect(lines == expected.outputText.split(separator: "\n").map(String.init).sorted())
        #expect(!lines.isEmpty)
        #expect(lines.allSatisfy { $0.hasPrefix("detail.product\t") })
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    private static let shop = """
        {"entities": {
          "line": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "order": {"entity": "order", "inverse": "lines"}, "product": {"entity": "product"}}},
          "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "customer": {"entity": "customer", "inverse": "orders"}, "seller": {"entity": "employee", "inverse": "sales"},
            "lines": {"entity": "line", "toMany": true, "inverse": "order", "from": [], "deleteRule": "cascade"}}},
          "product": {"identifier": ["code"], "attributes": {"code": {"type": "string"}}, "relationships": {
            "category": {"entity": "category", "inverse": "products"}}},
          "employee": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "manager": {"entity": "employee", "inverse": "team"},
            "team": {"entity": "employee", "toMany": true, "inverse": "manager", "from": [], "deleteRule": "deny"},
            "sales": {"entity": "order", "toMany": true, "inverse": "seller", "from": []}}},
          "customer": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "orders": {"entity": "order", "toMany": true, "inverse": "customer", "from": [], "deleteRule": "cascade"}}},
          "category": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "products": {"entity": "product", "toMany": true, "inverse": "category", "from": []}}}}}
        """

    @Test func nothingIsMissingAndSQLiteKeepsTheDeleteRules() throws {
        let files: [(String, String)] = [
            ("line", (0..<900).map { #"{"id": \#($0), "order": \#($0 / 3), "product": "p\#($0 % 40)"}"# }),
            ("order", (0..<300).map { #"{"id": \#($0), "customer": \#($0 % 50), "seller": \#($0 % 21)}"# }),
            ("product", (0..<40).map { #"{"code": "p\#($0)", "category": \#($0 % 8)}"# }),
            // Each reports to one that comes later, but for the last.
            ("employee", (0..<21).map { $0 == 20 ? #"{"id": 20}"# : #"{"id": \#($0), "manager": \#($0 / 5 + 16)}"# }),
            ("customer", (0..<50).map { #"{"id": \#($0)}"# }), ("category", (0..<8).map { #"{"id": \#($0)}"# }),
        ].map { ($0.0, $0.1.joined(separator: "\n") + "\n") }
        for (entity, text) in files {
            try importing(directory.write(text, to: "\(entity).ndjson"), entity, Self.shop)
        }
        #expect(try runImporter("status", store, "--unresolved").outputText == "")
        #expect(try query("SELECT count(*) FROM pragma_foreign_key_check") == "0")
        #expect(try runImporter("verify", store).ending == .exit(0))

        func delete(_ statement: String) throws -> String {
            let script = """
                import sqlite3, sys
                connection = sqlite3.connect(sys.argv[1])
                connection.execute("PRAGMA foreign_keys = ON")
                try:
                    with connection:
                        connection.execute(sys.argv[2])
                except sqlite3.IntegrityError as error:
                    print(error)
                """
            return try Python.run(text: script, [store, statement]).outputText
        }
        // A customer's orders go with it, and their lines.
        #expect(try delete("DELETE FROM customer WHERE id = 7") == "")
        #expect(try query("SELECT (SELECT count(*) FROM \"order\") || ' ' || (SELECT count(*) FROM line)") == "294 882")
        // A category's products stay.
        #expect(try delete("DELETE FROM category WHERE id = 3") == "")
        #expect(try query("SELECT count(*) || ' ' || count(category_id) FROM product") == "40 35")
        // A manager stays while somebody reports to them; who has no team may go, and their orders stay.
        #expect(try delete("DELETE FROM employee WHERE id = 17") == "FOREIGN KEY constraint failed\n")
        #expect(try delete("DELETE FROM employee WHERE id = 2") == "")
        #expect(try query("SELECT count(*) FROM employee") == "20")
        #expect(
            try query("SELECT min(id % 21) || max(id % 21) || count(*) FROM \"order\" WHERE seller_id IS NULL")
                == "2214"
        )
        #expect(try query("SELECT count(*) FROM pragma_foreign_key_check") == "0")
    }
}
