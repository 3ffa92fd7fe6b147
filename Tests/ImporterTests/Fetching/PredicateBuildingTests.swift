import Foundation
import GRDB
import ImportModel
import Importer
import TestSupport
import Testing

/// Predicates with values of a program, and values of records as types.
struct PredicateBuildingTests {
    private static let model = """
        {"entities":{"item":{"identifier":["id"],"attributes":{
            "id":{"type":"integer64"},"name":{"type":"string","optional":true},"made":{"type":"date"},
            "price":{"type":"decimal"},"key":{"type":"uuid"},"raw":{"type":"binary"},"good":{"type":"boolean"},
            "size":{"type":"double"},"data":{"type":"json"},"q\\"uote":{"type":"integer64"}}}}}
        """
    private static let hostile = "x' or 1=1 --"

    private struct Item: Encodable {
        var id: Int
        var name: String?
        var made: Date
        var price: Decimal
        var key: UUID
        var raw: Data
        var good: Bool
        var size: Double
        var data: [String: Int]
        var quote: Int

        enum CodingKeys: String, CodingKey {
            case id, name, made, price, key, raw, good, size, data
            case quote = "q\"uote"
        }
    }

    private static let start = Date(timeIntervalSince1970: 1_700_000_000)
    private static let keys = (0..<20).map { _ in UUID() }

    private static func item(_ index: Int) -> Item {
        var name: String? = "n\(index)"
        if index == 19 { name = nil }
        if index == 7 { name = hostile }
        return Item(
            id: index,
            name: name,
            made: start.addingTimeInterval(Double(index) * 0.5),
            price: Decimal(index) / 8,
            key: keys[index],
            raw: Data([UInt8(index), 0xFF]),
            good: index.isMultiple(of: 2),
            size: Double(index) / 3,
            data: ["n": index],
            quote: 100 - index
        )
    }

    private static func store(in directory: TemporaryDirectory) throws -> StoreReader {
        let items = (0..<20).map { item($0) }
        let store = directory.path("store.sqlite")
        let job = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
        #expect(try ImportPipeline(records: items, entity: "item", into: store, job: job).run().report.inserted == 20)
        return try StoreReader(store: store)
    }

    private func ids(_ predicate: RecordPredicate, _ reader: StoreReader) throws -> [Int64] {
        let request = FetchRequest(entity: "item", where: predicate, sortedBy: [RecordSort("id")])
        return try reader.records(request, attributes: ["id"]).compactMap(\.values.first?.integerValue)
    }

    /// An interpolated value is a value of its kind, and what is written and what is built say the same.
    @Test func valuesOfEachKindAreCompared() throws {
        let directory = try TemporaryDirectory()
        let reader = try Self.store(in: directory)
        let id = RecordPredicate.attribute("id"), name = RecordPredicate.attribute("name")
        let none: String? = nil
        let made = Self.start.addingTimeInterval(4.5)
        let price = try #require(Decimal(string: "2.125"))
        func check(_ written: RecordPredicate, _ built: RecordPredicate, _ expected: [Int64]) throws {
            #expect(try ids(written, reader) == expected, "\(written.text)")
            #expect(try ids(built, reader) == expected, "\(built.text)")
            // What is built can be read, and says the same.
            #expect(try ids(RecordPredicate(parsing: built.text, arguments: built.arguments), reader) == expected)
        }
        try check(RecordPredicate("id > \(16)"), id > 16, [17, 18, 19])
        try check(RecordPredicate("id <= \(UInt8(1))"), id <= UInt8(1), [0, 1])
        try check(RecordPredicate("name = \(Self.hostile)"), name == Self.hostile, [7])
        try check(RecordPredicate("name = \(JSONValue.null)"), name == none, [19])
        try check(RecordPredicate("name is null"), name.isNull, [19])
        try check(RecordPredicate("id in \([3, 5])"), id.isIn([3, 5]), [3, 5])
        try check(RecordPredicate("id between \(3) and \(4.5)"), id.isBetween(3, 4.5), [3, 4])
        try check(
            RecordPredicate("made < \(made) and id >= \(7)"),
            RecordPredicate.attribute("made") < made && id >= 7,
            [7, 8]
        )
        try check(RecordPredicate("price = \(price)"), RecordPredicate.attribute("price") == price, [17])
        try check(RecordPredicate("key = \(Self.keys[4])"), RecordPredicate.attribute("key") == Self.keys[4], [4])
        try check(
            RecordPredicate("raw = \(Data([9, 0xFF]))"),
            RecordPredicate.attribute("raw") == Data([9, 0xFF]),
            [9]
        )
        try check(
            RecordPredicate("good = \(true) and id < \(4)"),
            RecordPredicate.attribute("good").isTrue && id < 4,
            [0, 2]
        )
        try check(RecordPredicate("size > \(6.2)"), RecordPredicate.attribute("size") > 6.2, [19])
        try check(
            RecordPredicate("name begins with \("n1") and not id > \(10)"),
            name.hasPrefix("n1") && !(id > 10),
            [1, 10]
        )
        try check(RecordPredicate("name ends with \("8") or id = \(0)"), name.hasSuffix("8") || id == 0, [0, 8, 18])
        try check(RecordPredicate("name like \("%5")"), name.isLike("%5"), [5, 15])
        try check(RecordPredicate("name contains \("' or")"), name.contains("' or"), [7])
        try check(RecordPredicate("data contains \(":12}")"), RecordPredicate.attribute("data").contains(":12}"), [12])
        try check(RecordPredicate("\(attribute: "q\"uote") = \(99)"), RecordPredicate.attribute("q\"uote") == 99, [1])
        try check(RecordPredicate("\"q\"\"uote\" < id"), RecordPredicate.attribute("q\"uote") < id, [])
        try check(RecordPredicate("id != \(JSONValue.number("0")) and id < \(2)"), id != 0 && id < 2, [1])
        var chain = id == -1
        for number in 0..<500 { chain = chain || id == number * 2 }
        #expect(try ids(chain, reader) == Array(stride(from: 0, to: 20, by: 2)))
    }

    /// A mistake is where it is in the text, however the predicate was made, and a value within quotes is none.
    @Test func mistakesHaveTheirPosition() throws {
        let directory = try TemporaryDirectory()
        let reader = try Self.store(in: directory)
        let entity = try reader.entity(named: "item")
        let built = RecordPredicate.attribute("id") > 3 && RecordPredicate.attribute("idd") < 4
        let error = #expect(throws: RecordPredicateError.self) { try built.check(for: entity) }
        let mistake = try #require(error)
        let bytes = Array(built.text.utf8)[mistake.byteOffset..<mistake.byteOffset + mistake.byteCount]
        #expect(String(decoding: bytes, as: UTF8.self) == "\"idd\"")
        let text = RecordPredicate.attribute("id") == "three"
        #expect(throws: RecordPredicateError.self) { try text.check(for: entity) }
        #expect(throws: RecordPredicateError.self) {
            try (RecordPredicate.attribute("size") > Double.nan).check(for: entity)
        }
        #expect(throws: RecordPredicateError.self) { try RecordPredicate("name = '\(3)'") }
    }

    /// One value, or a whole record, as the types of a program.
    @Test func recordsHaveTypedValues() throws {
        let directory = try TemporaryDirectory()
        let reader = try Self.store(in: directory)
        let entity = try reader.entity(named: "item")
        let record = try #require(
            try reader.records(FetchRequest(entity: "item", where: RecordPredicate("id = \(19)"))).first
        )
        #expect(try record.value("id", of: entity) == 19)
        #expect(try record.value("name", as: String?.self, of: entity) == nil)
        #expect(try record.value("made", as: Date.self, of: entity) == Self.start.addingTimeInterval(9.5))
        #expect(try record.value("price", as: Decimal.self, of: entity) == Decimal(19) / 8)
        #expect(try record.value("key", as: UUID.self, of: entity) == Self.keys[19])
        #expect(try record.value("raw", as: Data.self, of: entity) == Data([19, 0xFF]))
        #expect(try record.value("data", as: [String: Int].self, of: entity) == ["n": 19])
        #expect(throws: DecodingError.self) { try record.value("name", as: String.self, of: entity) }
        #expect(throws: DecodingError.self) { try record.value("other", as: String?.self, of: entity) }
        #expect(record.values[0].integerValue == 19)
        #expect(record.values[0].doubleValue == 19)
        #expect(record.values[3].textValue == "2.375")
        #expect(record.values[5].dataValue == Data([19, 0xFF]))
        #expect(record.values[0].textValue == nil)
        struct Name: Decodable {
            let id: Int
            let name: String?
        }
        #expect(try record.object(as: Name.self, of: entity).id == 19)
        let short = try #require(try reader.records(FetchRequest(entity: "item"), attributes: ["id"]).first)
        #expect(throws: DecodingError.self) { try short.value("id", as: Int.self, of: entity) }
    }

    /// A program that uses GRDB reads in one transaction, and cannot write.
    @Test func databasesAreReadAndNotWritten() throws {
        let directory = try TemporaryDirectory()
        let reader = try Self.store(in: directory)
        let counts = try reader.read { database in
            try [1, 2].map {
                try Int.fetchOne(database, sql: "SELECT count(*) FROM item WHERE id < ?", arguments: [$0])
            }
        }
        #expect(counts == [1, 2])
        #expect(throws: ImportError.self) { try reader.read { try $0.execute(sql: "DELETE FROM item") } }
    }
}
