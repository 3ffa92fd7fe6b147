import Foundation
import GRDB
import ImportModel
import TestSupport
import Testing

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
        let some = try Order.fetchAll(in: reader, where: RecordPredicate("customer.name = \("Ada") and lines.count > 1"))
        #expect(some == [orders[0]])
        let built = RecordPredicate.attribute("customer.name").hasPrefix("A") && RecordPredicate.attribute("tags.count") == 2
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
            let lines: [String] = (0..<id % 5).map { "{\"sku\": \"\(String(repeating: "x", count: 300))\($0)\", \"count\": \(id)}" }
            return "{\"id\": \(id), \"items\": [\(lines.joined(separator: ","))]}\n"
        }.joined()
        let job = try OrderSamples.job(text)
        let reader = try StoreReader(store: job.store)
        var pages = 0
        var bytes: [UInt8] = []
        let sort = [RecordSort("lines.count", ascending: false), RecordSort("id")]
        let request = FetchRequest(entity: "order", sort: sort, including: ["lines"])
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
            let condition: SQLText = try RecordPredicate(parsing: text).compiled(for: entity).condition
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
            try reader.records(FetchRequest(entity: "item", predicate: try RecordPredicate(parsing: text))).map(\.rowID)
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
}
