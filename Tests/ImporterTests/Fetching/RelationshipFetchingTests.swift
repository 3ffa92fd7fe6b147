import Foundation
import GRDB
import ImportModel
import TestSupport
import Testing

@testable import ImportChanges
@testable import Importer

/// Orders with lines, a customer and tags.
enum OrderSamples {
    static let model = """
        {"entities": {
          "order": {"identifier": ["id"],
            "attributes": {"id": {"type": "integer64"}, "placed": {"type": "date", "optional": true}},
            "relationships": {
              "customer": {"entity": "person", "from": ["customer_id", "customer"], "inverse": "orders"},
              "lines":    {"entity": "line", "toMany": true, "from": "items", "deleteRule": "cascade"},
              "tags":     {"entity": "tag", "toMany": true}}},
          "person": {"identifier": ["id"],
            "attributes": {"id": {"type": "integer64"}, "name": {"type": "string", "optional": true},
              "born": {"type": "date", "optional": true}, "balance": {"type": "decimal", "optional": true}},
            "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "customer", "from": []}}},
          "line": {"attributes": {"sku": {"type": "string"}, "count": {"type": "integer32", "optional": true}}},
          "tag":  {"identifier": ["name"], "attributes": {"name": {"type": "string", "from": "@value"}}}}}
        """

    static func job(_ records: String) throws -> LibraryImport {
        let job = try LibraryImport(records, named: "order.ndjson")
        _ = try ImportPipeline(sources: [job.source], into: job.store, job: options(), run: RunOptions()).run()
        return job
    }

    static func options(entity: String = "order") throws -> JobOptions {
        JobOptions(model: try ModelDescription(parsing: Array(model.utf8)), entity: entity)
    }

    static let records = """
        {"id": 7, "placed": "2024-02-29T12:00:00Z", "customer": {"id": 1, "name": "Ada", "born": "1815-12-10", "balance": 12345678901234567890.25}, \
        "items": [{"sku": "a", "count": 2}, {"sku": "b"}], "tags": ["red", "new"]}
        {"id": 8, "customer_id": 2, "items": [], "tags": ["new"]}
        {"id": 9}

        """
}

struct RelationshipFetchingTests {
    struct Order: FetchableObject, Equatable {
        struct Line: Decodable, Equatable {
            let sku: String
            let count: Int?
        }
        struct Customer: Decodable, Equatable {
            let id: Int
            let name: String?
            let born: Date?
            let balance: Decimal?
        }
        struct Tag: Decodable, Equatable {
            let name: String
        }
        static let entityName = "order"
        static let includedRelationships = ["lines", "customer", "tags"]
        let id: Int
        let placed: Date?
        let lines: [Line]
        let customer: Customer?
        let tags: [Tag]
    }

    @Test func decodesNestedObjectsAndArrays() throws {
        let job = try OrderSamples.job(OrderSamples.records)
        let reader = try StoreReader(store: job.store)
        let orders = try Order.fetchAll(in: reader)
        #expect(orders.map(\.id) == [7, 8, 9])
        #expect(orders[0].lines == [Order.Line(sku: "a", count: 2), Order.Line(sku: "b", count: nil)])
        #expect(
            orders[0].customer
                == Order.Customer(
                    id: 1,
                    name: "Ada",
                    born: Date(timeIntervalSince1970: -4_861_728_000),
                    balance: Decimal(string: "12345678901234567890.25")
                )
        )
        #expect(orders[0].placed == Date(timeIntervalSince1970: 1_709_208_000))
        #expect(orders[0].tags.map(\.name) == ["red", "new"])
        #expect(orders[1].customer == Order.Customer(id: 2, name: nil, born: nil, balance: nil))
        #expect(orders[2].customer == nil && orders[2].lines.isEmpty)
        #expect(try Order.fetchOne(in: reader, identifier: 7) == orders[0])
        let some = try Order.fetchAll(
            in: reader,
            where: RecordPredicate("customer.name = \("Ada") and lines.count > 1")
        )
        #expect(some == [orders[0]])
        let built =
            RecordPredicate.attribute("customer.name").hasPrefix("A") && RecordPredicate.attribute("tags.count") == 2
        #expect(try Order.fetchCount(in: reader, where: built) == 1)
        try reader.check(built, for: "order")
        #expect(throws: RecordPredicateError.self) { try reader.check(built, for: "person") }
        let untyped = try #require(try reader.one("order", identifier: [7], including: ["lines"]))
        #expect(untyped["lines"]?.serialized() == #"[{"sku":"a","count":2},{"sku":"b","count":null}]"#)
        #expect(untyped.count == 3)
    }

    @Test func recordsHaveRelatedObjectsAsJSON() throws {
        let job = try OrderSamples.job(OrderSamples.records)
        let reader = try StoreReader(store: job.store)
        let request = FetchRequest(entity: "order", including: ["tags", "customer.orders"])
        let entity = try reader.entity(for: request)
        #expect(entity.attributes.map(\.name) == ["id", "placed", "tags", "customer"])
        let record = try #require(try reader.records(request).last)
        #expect(record.values == [.integer(9), .null, .text("[]"), .null])
        #expect(try record.value("tags", as: [Order.Tag].self, of: entity).isEmpty)
        #expect(request != FetchRequest(entity: "order") && request == request)
        #expect(throws: ImportError.self) { try reader.records(FetchRequest(entity: "order", including: ["id"])) }
        #expect(throws: ImportError.self) { try reader.write(request, as: .csv) { _ in } }
    }

    /// Many objects are read a page at a time, and each page has what belongs to its records.
    @Test func readsPageByPage() throws {
        let text = (1...3_000).map { (id: Int) -> String in
            let lines: [String] = (0..<id % 5).map {
                "{\"sku\": \"\(String(repeating: "x", count: 300))\($0)\", \"count\": \(id)}"
            }
            return "{\"id\": \(id), \"items\": [\(lines.joined(separator: ","))]}\n"
        }.joined()
        let job = try OrderSamples.job(text)
        let reader = try StoreReader(store: job.store)
        var pages = 0
        var bytes: [UInt8] = []
        let sort = [RecordSort("lines.count", ascending: false), RecordSort("id")]
        let request = FetchRequest(entity: "order", sortedBy: sort, including: ["lines"])
        let isConsistent = try reader.write(request, as: .ndjson) {
            pages += 1
            bytes += $0
        }
        #expect(isConsistent)
        #expect(pages > 1)
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 3_000)
        #expect(String(decoding: lines[0], as: UTF8.self).hasPrefix("{\"id\":4,"))
        let objects = try Order.fetchAll(in: reader)
        #expect(objects.allSatisfy { $0.lines.map(\.count) == Array(repeating: $0.id, count: $0.id % 5) })
    }

    /// A count and a to-one are searched in an index, once for each record.
    @Test(arguments: [
        ("lines.count > 1", ["line_order"]), ("tags.count = 0", ["PRIMARY KEY"]),
        ("customer.name = 'x'", ["INTEGER PRIMARY KEY"]),
        ("customer.orders.count > 1", ["INTEGER PRIMARY KEY", "order_customer"]),
    ])
    func searchesInAnIndex(text: String, indexes: [String]) throws {
        let job = try OrderSamples.job(OrderSamples.records)
        let reader = try StoreReader(store: job.store)
        let plan = try reader.read { database in
            let entity: FetchedEntity = try reader.entity(named: "order", database)
            let condition: SQLFragment = try RecordPredicate(parsing: text).compiled(for: entity).condition
            let sql: String = "EXPLAIN QUERY PLAN SELECT rowid FROM \"order\" WHERE " + condition.sql
            return try Row.fetchAll(
                database,
                sql: sql,
                arguments: StatementArguments(condition.arguments.map { _ in 1 })
            ).map { $0["detail"] as String }
        }
        #expect(plan.filter { $0.hasPrefix("SCAN") }.count == 1, "\(plan)")
        for index in indexes { #expect(plan.contains { $0.contains("SEARCH") && $0.contains(index) }, "\(plan)") }
    }

    /// Attributes whose names have dots come before relationships, and names may be quoted in parts.
    @Test func ownAttributesComeFirst() throws {
        let model = """
            {"entities": {
              "item": {"identifier": ["id"],
                "attributes": {"id": {"type": "integer64"}, "owner.name": {"type": "string", "from": "label", "optional": true}},
                "relationships": {"owner": {"entity": "person"}, "old.owner": {"entity": "person"},
                  "boss": {"entity": "item"}}},
              "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"},
                "name": {"type": "string", "optional": true}, "zip code": {"type": "string", "optional": true},
                "count": {"type": "integer64", "optional": true}, "rich": {"type": "boolean", "optional": true}}}}}
            """
        let records = """
            {"id": 1, "label": "x", "owner": {"id": 1, "name": "Ada", "zip code": "7", "count": 5, "rich": true}, "old.owner": 1}
            {"id": 2, "owner": 1, "boss": 1}
            {"id": 3, "boss": 2}

            """
        let job = try LibraryImport(records, named: "item.ndjson")
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)), entity: "item")
        _ = try job.pipeline(options).run()
        let reader = try StoreReader(store: job.store)
        func ids(_ text: String) throws -> [Int64] {
            try reader.records(FetchRequest(entity: "item", where: try RecordPredicate(parsing: text))).map(\.rowID)
        }
        #expect(try ids("owner.name = 'x'") == [1])
        #expect(try ids("owner.name = 'Ada'") == [])
        #expect(try ids("owner.\"zip code\" = '7'") == [1, 2])
        #expect(try ids("`owner`.count = 5 and owner.rich") == [1, 2])
        #expect(try ids("\"old.owner\".name = 'Ada'") == [1])
        #expect(try ids("boss.owner.count = 5") == [2, 3])
        #expect(try ids("boss.boss.\"owner.name\" = 'x'") == [3])
        #expect(try ids("boss.boss.id is null") == [1, 2])
        #expect(try ids("boss.rowid = 2 and rowid > boss.id") == [3])
        #expect(try ids("not boss.owner.rich") == [])
    }

    /// Every way to keep a link, from both of its sides.
    @Test func readsEveryShape() throws {
        let model = """
            {"entities": {
              "p": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {
                  "friends": {"entity": "p", "toMany": true, "inverse": "friends"},
                  "boss": {"entity": "p", "inverse": "staff"},
                  "staff": {"entity": "p", "toMany": true, "inverse": "boss", "from": []},
                  "passport": {"entity": "pass", "inverse": "owner"}, "home": {"entity": "address"},
                  "old": {"entity": "address", "toMany": true}, "rooms": {"entity": "room", "toMany": true},
                  "clubs": {"entity": "club", "toMany": true, "inverse": "members"}}},
              "pass": {"identifier": ["code"], "attributes": {"code": {"type": "uuid"}},
                "relationships": {"owner": {"entity": "p", "inverse": "passport", "from": []}}},
              "address": {"attributes": {"city": {"type": "string"}}},
              "room": {"identifier": ["@parent", "no"], "attributes": {"no": {"type": "integer32"}}},
              "club": {"identifier": ["name"], "attributes": {"name": {"type": "string"}},
                "relationships": {"members": {"entity": "p", "toMany": true, "inverse": "clubs"}}}}}
            """
        let records = """
            {"id": 1, "friends": [3, 2], "passport": {"code": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"}, "home": {"city": "Lund"}, \
            "old": [{"city": "X"}, {"city": "Y"}], "rooms": [{"no": 4}, {"no": 2}], "clubs": ["z", {"name": "y"}]}
            {"id": 2, "boss": 1, "clubs": [{"name": "y"}]}
            {"id": 3, "boss": 1, "home": null}

            """
        let job = try LibraryImport(records, named: "p.ndjson")
        _ = try job.pipeline(JobOptions(model: ModelDescription(parsing: Array(model.utf8)), entity: "p")).run()
        let reader = try StoreReader(store: job.store)
        func nested(_ entity: String, _ includes: String..., id: JSONValue...) throws -> [String] {
            let object = try reader.one(entity, identifier: id, including: includes) ?? [:]
            return includes.map { object[String($0.prefix { $0 != "." })]?.serialized() ?? "-" }
        }
        #expect(
            try nested("p", "friends", "boss", "staff", "passport.owner", id: 1) == [
                #"[{"id":3},{"id":2}]"#, "null", #"[{"id":2},{"id":3}]"#,
                #"{"code":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","owner":{"id":1}}"#,
            ]
        )
        #expect(
            try nested("p", "home", "old", "rooms", "clubs.members", id: 1) == [
                #"{"city":"Lund"}"#, #"[{"city":"X"},{"city":"Y"}]"#, #"[{"no":4},{"no":2}]"#,
                // Of a club that is not there, what the link says.
                #"[{"name":"z"},{"name":"y","members":[{"id":1},{"id":2}]}]"#,
            ]
        )
        #expect(
            try nested("p", "boss", "friends", "home", "clubs", id: 2) == [
                #"{"id":1}"#, #"[{"id":1}]"#, "null", #"[{"name":"y"}]"#,
            ]
        )
        #expect(try nested("club", "members", id: "y") == [#"[{"id":1},{"id":2}]"#])
        let text =
            "passport.code is not null and home.city = 'Lund' and rooms.count = 2 and old.count = 2 and staff.count = 2"
        #expect(
            try reader.count("p", where: RecordPredicate(parsing: text + " and friends.count = 2 and clubs.count = 2"))
                == 1
        )
        // A nested object's identifier begins with that of the object around it.
        #expect(try reader.entity(named: "room").identifier == ["p_id", "no"])
        #expect(try reader.one("room", identifier: [1, 4])?["p_position"] == 0)
    }

    /// As far as a statement can join tables, and no further.
    @Test func followsLongPaths() throws {
        let job = try OrderSamples.job(OrderSamples.records)
        let reader = try StoreReader(store: job.store)
        let model = """
            {"entities": {"item": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
              "relationships": {"next": {"entity": "item", "inverse": "before"},
                "before": {"entity": "item", "toMany": true, "inverse": "next", "from": []}}}}}
            """
        let records = (1...70).map { "{\"id\": \($0), \"next\": \($0 + 1)}\n" }.joined() + "{\"id\": 71}\n"
        let chain = try LibraryImport(records, named: "item.ndjson")
        _ = try chain.pipeline(JobOptions(model: ModelDescription(parsing: Array(model.utf8)), entity: "item")).run()
        let items = try StoreReader(store: chain.store)
        func ids(_ levels: Int, _ end: String) throws -> [Int64] {
            let text = String(repeating: "next.", count: levels) + end
            return try items.records(FetchRequest(entity: "item", where: RecordPredicate(parsing: text))).map(
                \.rowID
            )
        }
        #expect(try ids(60, "id = 71") == [11])
        #expect(try ids(60, "before.count = 1") == Array(1...11))
        #expect(throws: RecordPredicateError.self) { try ids(61, "id = 71") }
        #expect(throws: ImportError.self) {
            let path = String(repeating: "customer.orders.", count: 40) + "lines"
            _ = try reader.records(FetchRequest(entity: "order", including: [path]))
        }
    }

    /// As Fetching.md has it.
    @Test func theSampleOfTheDocumentationWorks() async throws {
        struct Order: FetchableObject, Encodable {
            struct Customer: Codable {
                let id: Int
                let name: String?
            }
            struct Line: Codable {
                let sku: String
                let count: Int?
            }
            static let entityName = "order"
            static let includedRelationships = ["customer", "lines"]
            let id: Int
            let customer: Customer?
            let lines: [Line]
        }
        let directory = try TemporaryDirectory()
        let store = directory.path("shop.sqlite")
        let shop = try ModelDescription(
            parsing: Array(
                """
                {"entities": {
                  "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                    "relationships": {
                      "customer": {"entity": "person", "inverse": "orders"},
                      "lines": {"entity": "line", "toMany": true}}},
                  "person": {"identifier": ["id"],
                    "attributes": {"id": {"type": "integer64"}, "name": {"type": "string", "optional": true}},
                    "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "customer", "from": []}}},
                  "line": {"attributes": {"sku": {"type": "string"}, "count": {"type": "integer32", "optional": true}}}}}
                """.utf8
            )
        )
        let orders = [
            Order(
                id: 7,
                customer: .init(id: 1, name: "Ada"),
                lines: [.init(sku: "a", count: 2), .init(sku: "b", count: nil)]
            ),
            Order(id: 8, customer: nil, lines: []),
        ]
        _ = try await ImportPipeline(records: orders, entity: "order", into: store, job: JobOptions(model: shop)).run()
        let reader = try StoreReader(store: store)
        let large = try RecordPredicate("lines.count > 1 and customer.name begins with \("A")")
        let found = try await Order.fetchAll(in: reader, where: large)
        #expect(found.map(\.id) == [7] && found[0].customer?.name == "Ada" && found[0].lines.map(\.sku) == ["a", "b"])
        let people = try await reader.fetch(
            "person",
            where: RecordPredicate.attribute("orders.count") > 0,
            including: ["orders.lines"]
        )
        #expect(
            people.map { $0["orders"]?.serialized() } == [
                #"[{"id":7,"lines":[{"sku":"a","count":2},{"sku":"b","count":null}]}]"#
            ]
        )
    }
}
