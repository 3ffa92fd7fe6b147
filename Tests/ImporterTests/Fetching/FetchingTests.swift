import Foundation
import GRDB
import ImportModel
import TestSupport
import Testing

@testable import ImportChanges
@testable import ImportMigration
@testable import ImportSources
@testable import Importer

struct FetchingTests {
    private static let model = """
        {"entities": {"Person": {"table": "people", "identifier": ["id"], "attributes": {
          "id": {"type": "integer64"}, "name": {"type": "string", "optional": true, "column": "full_name"},
          "key": {"type": "uuid", "optional": true}, "active": {"type": "boolean", "optional": true},
          "balance": {"type": "decimal", "optional": true}, "seen": {"type": "date", "storage": "unix", "optional": true},
          "photo": {"type": "binary", "optional": true}, "home": {"type": "uri", "optional": true},
          "tags": {"type": "json", "optional": true}, "weight": {"type": "double", "optional": true},
          "rights": {"type": "bitfield", "bits": {"a": 0, "b.c": 1}, "optional": true}}}}}
        """

    /// The import stays as long as its directory is to.
    private func people(_ records: String) throws -> (LibraryImport, StoreReader) {
        let job = try LibraryImport(records)
        let options = JobOptions(model: try ModelDescription(parsing: Array(Self.model.utf8)))
        _ = try job.pipeline(options).run()
        return (job, try StoreReader(store: job.store))
    }

    struct Person: FetchableObject, Equatable {
        struct Rights: Decodable, Equatable {
            struct B: Decodable, Equatable { let c: Bool }
            let a: Bool
            let b: B
        }
        let id: Int
        let name: String?
        let key: UUID?
        let active: Bool?
        let balance: Decimal?
        let seen: Date?
        let photo: Data?
        let home: URL?
        let tags: [String]?
        let weight: Double?
        let rights: Rights?
    }

    private static let records = """
        [{"id": 7, "name": "Ada\\u0000x", "key": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "active": true,
          "balance": 12345678901234567890.25, "seen": "1970-01-02T00:00:00Z", "photo": "AP8=", "home": "http://x.org/",
          "tags": ["a", "b"], "weight": 1.5, "rights": {"a": true, "b": {"c": false}}},
         {"id": 3, "name": null, "active": false, "balance": -2, "tags": {"x": 1e2}},
         {"id": 9, "name": "Bob", "balance": 10}, {"id": 11, "name": "Cyd", "balance": 9.75}]
        """

    @Test func decodesObjects() throws {
        let (job, reader) = try people(Self.records)
        defer { withExtendedLifetime(job) {} }
        let ada = try #require(try Person.fetchOne(in: reader, identifier: 7))
        #expect(
            ada
                == Person(
                    id: 7,
                    name: "Ada\0x",
                    key: UUID(uuidString: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
                    active: true,
                    balance: Decimal(string: "12345678901234567890.25"),
                    seen: Date(timeIntervalSince1970: 86_400),
                    photo: Data([0, 255]),
                    home: URL(string: "http://x.org/"),
                    tags: ["a", "b"],
                    weight: 1.5,
                    rights: Person.Rights(a: true, b: Person.Rights.B(c: false))
                )
        )
        #expect(try Person.fetchOne(in: reader, identifier: 8) == nil)
        #expect(throws: DecodingError.self) { try Person.fetchOne(in: reader, identifier: 3) }
        #expect(try Person.fetchCount(in: reader) == 4)
        #expect(try Person.fetchCount(in: reader, where: RecordPredicate("name is null")) == 1)
        let first = try Person.fetchFirst(
            in: reader,
            where: RecordPredicate("id > 7"),
            sortedBy: [RecordSort("id", ascending: false)]
        )
        #expect(first?.name == "Cyd")
        #expect(throws: ImportError.self) { try Person.fetchOne(in: reader, identifier: 1, 2) }
    }

    @Test func givesDictionaries() throws {
        let (job, reader) = try people(Self.records)
        defer { withExtendedLifetime(job) {} }
        let ada = try #require(try reader.one("Person", identifier: [7]))
        #expect(ada["name"] == "Ada\0x")
        #expect(ada["balance"] == .number("12345678901234567890.25"))
        #expect(ada["seen"] == "1970-01-02T00:00:00.000Z")
        #expect(ada["tags"] == .array(["a", "b"]))
        #expect(ada["active"] == true)
        #expect(ada["photo"] == "AP8=")
        let other = try #require(try reader.first("Person", where: RecordPredicate("id = 3")))
        #expect(other["key"] == .null)
        #expect(other.count == 11)
    }

    /// Names are distinguished by their bytes: `é` may be one scalar or two.
    @Test func tellsRequestsApartByTheirEntity() {
        let one = FetchRequest(entity: "caf\u{e9}", limit: 3)
        #expect(one != FetchRequest(entity: "cafe\u{301}", limit: 3))
        #expect(one == FetchRequest(entity: "caf\u{e9}", limit: 3))
        #expect(one != FetchRequest(entity: "caf\u{e9}", sortedBy: [RecordSort("a")], limit: 3))
        #expect(one != FetchRequest(entity: "caf\u{e9}", offset: 1, limit: 3))
        #expect(Set([one, FetchRequest(entity: "cafe\u{301}", limit: 3), one]).count == 2)
    }

    /// Where a dictionary cannot tell two names apart, it has the first one's value, and a record has both.
    @Test func theFirstOfTwoNamesThatLookTheSameCounts() throws {
        let job = try LibraryImport("[{\"caf\u{e9}\": 1, \"cafe\u{301}\": 2}]")
        let model = """
            {"entities": {"item": {"attributes": {"caf\u{e9}": {"type": "integer64"}, "cafe\u{301}": {"type": "integer64"}}}}}
            """
        _ = try job.pipeline(JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))).run()
        let reader = try StoreReader(store: job.store)
        #expect(try reader.entity(named: "item").attributes.count == 2)
        let object = try #require(try reader.first("item"))
        #expect(object.count == 1 && object["cafe\u{301}"] == 1)
        #expect(object.keys.first.map { Array($0.utf8) } == Array("caf\u{e9}".utf8))
        #expect(try reader.records(FetchRequest(entity: "item")).map(\.values) == [[.integer(1), .integer(2)]])
    }

    /// A text with a NUL is compared to its end, by every reader.
    @Test(arguments: [
        ("name = ?", ["a\0b"]), ("name <> ? and name <> 'a'", ["a\0c"]), ("name > ? and name < ?", ["a\0a", "a\0c"]),
        ("name in (?, 'x')", ["a\0b"]), ("name between ? and ?", ["a\0a", "a\0bb"]), ("name contains ?", ["\0b"]),
        ("name begins with ?", ["a\0b"]), ("name ends with ?", ["\0b"]), ("? = name", ["a\0b"]),
        ("uri = ?", ["u:\0b"]), ("name = 'a\0b'", []), ("'a\0b' = name", []),
    ])
    func findsTextsPastANUL(text: String, arguments: [String]) throws {
        let model = """
            {"entities": {"item": {"attributes": {"name": {"type": "string"}, "uri": {"type": "string"}}}}}
            """
        let records = ["a", "a\\u0000b", "a\\u0000c"].map { name in
            "{\"name\":\"\(name)\",\"uri\":\"\(name.replacing("a", with: "u:"))\"}"
        }
        let job = try LibraryImport("[\(records.joined(separator: ","))]")
        _ = try job.pipeline(JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))).run()
        let reader = try StoreReader(store: job.store)
        let predicate = try RecordPredicate(parsing: text, arguments: arguments.map { .string($0) })
        let request = FetchRequest(entity: "item", where: predicate, sortedBy: [RecordSort("name")])
        #expect(try reader.records(request).map(\.rowID) == [2])
        #expect(try reader.count(request) == 1)
        #expect(try RecordView(request, in: reader).snapshot.records.map(\.rowID) == [2])
    }

    @Test func findsAnEntityByItsTableToo() throws {
        let (job, reader) = try people(Self.records)
        #expect(try reader.entity(named: "PEOPLE").name == "Person")
        #expect(throws: ImportError.self) { try reader.entity(named: "Persn") }
        // A column of somebody else's is an attribute.
        try DatabaseQueue(path: job.store).write { try $0.execute(sql: "ALTER TABLE people ADD COLUMN mine REAL") }
        #expect(try reader.entity(named: "Person").attributes.last?.type == .double)
    }

    @Test func comparesDecimalsAsNumbers() throws {
        let (job, reader) = try people(Self.records)
        defer { withExtendedLifetime(job) {} }
        func ids(_ text: String?) throws -> [Int64] {
            let request = FetchRequest(
                entity: "Person",
                where: try text.map { try RecordPredicate(parsing: $0) },
                sortedBy: [RecordSort("balance")]
            )
            return try reader.records(request, attributes: []).map(\.rowID)
        }
        #expect(try ids(nil) == [3, 11, 9, 7])
        #expect(try ids("balance > 9.75") == [9, 7])
        #expect(try ids("balance between -2.0 and '9.750'") == [3, 11])
        #expect(try ids("balance = 10.00 or balance < 12345678901234567890.25 and balance > 100") == [9])
        #expect(try ids("name = 'Ada'") == [])
        #expect(try ids("name begins with 'Ada'") == [7])
        #expect(try ids("name ends with 'x' and name contains 'a'") == [7])
    }

    /// Pages that continue after a record give what one query gives, whatever is null, equal or not UTF-8, with and without indexes.
    @Test(arguments: 1...6) func pagesAreTheWhole(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var records: [String] = []
        for id in 0..<400 {
            func value() -> String {
                Int.random(in: 0...4, using: &random) == 0 ? "null" : "\(Int.random(in: 0...5, using: &random))"
            }
            records.append("{\"id\":\(id),\"a\":\(value()),\"b\":\(value()),\"c\":\"\(value())x\"}")
        }
        let job = try LibraryImport("[" + records.joined(separator: ",") + "]")
        _ = try job.pipeline().run()
        try DatabaseQueue(path: job.store).write {
            try $0.execute(
                sql: """
                    CREATE INDEX one ON item (a, b); CREATE INDEX two ON item (b DESC, c); CREATE INDEX three ON item (c);
                    UPDATE item SET c = CAST(x'78FF' AS TEXT) WHERE id % 7 = 1;
                    UPDATE item SET c = CAST(x'78FE' AS TEXT) WHERE id % 7 = 2;
                    UPDATE item SET c = 'x' || char(0) || (id % 2) WHERE id % 7 = 3;
                    """
            )
        }
        let reader = try StoreReader(store: job.store)
        let entity = try reader.entity(named: "item")
        for _ in 0..<12 {
            let names = ["a", "b", "c"].shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
            let sort = names.map { RecordSort($0, ascending: Bool.random(using: &random)) }
            let predicate = Bool.random(using: &random) ? try RecordPredicate("a < 4 or b is null") : nil
            let offset = Int.random(in: 0...1, using: &random) * Int.random(in: 0...500, using: &random)
            let limit = Bool.random(using: &random) ? Int.random(in: 0...300, using: &random) : nil
            let request = FetchRequest(entity: "item", where: predicate, sortedBy: sort, offset: offset, limit: limit)
            let order = try reader.read { try RecordOrder(sort, of: FetchedEntity(entity), $0) }
            let expected = try DatabaseQueue(path: job.store).read {
                try Int64.fetchAll(
                    $0,
                    sql: "SELECT rowid FROM item \(predicate == nil ? "" : "WHERE a < 4 OR b IS NULL") "
                        + "ORDER BY \(order.sql()) LIMIT \(limit ?? -1) OFFSET \(offset)"
                )
            }
            let size = Int.random(in: 1...50, using: &random)
            var found: [Int64] = []
            _ = try RecordScan(request, RecordProjection(of: FetchedEntity(entity)), in: reader).run { row, _ in
                found.append(row.integer(at: 0))
                return found.count.isMultiple(of: size) ? .nextPage : .nextRecord
            } endPage: {
            }
            #expect(found == expected, "\(request)")
            #expect(try reader.count(request) == expected.count)
        }
    }

    @Test func findsTheLastPageFromTheEnd() throws {
        let job = try LibraryImport.finished(items: 25_000)
        let reader = try StoreReader(store: job.store)
        for (offset, limit) in [(24_990, 5), (24_990, nil), (12_600, 100), (25_000, 3), (30_000, nil), (20_000, 9_000)]
        {
            let request = FetchRequest(
                entity: "item",
                sortedBy: [RecordSort("name"), RecordSort("id", ascending: false)],
                offset: offset,
                limit: limit
            )
            let expected = try DatabaseQueue(path: job.store).read {
                try Int64.fetchAll(
                    $0,
                    sql: "SELECT id FROM item ORDER BY name, id DESC, rowid DESC LIMIT \(limit ?? -1) OFFSET \(offset)"
                )
            }
            #expect(
                try reader.records(request, attributes: ["id"]).map(\.values)
                    == expected.map { [Record.Value.integer($0)] }
            )
        }
    }

    /// Ways in which records are found: by row id, sorted without an index, from the end, by texts that are not UTF-8.
    enum Way: CaseIterable { case rowID, sorted, last, illFormed }

    /// Between pages no transaction is open: the whole WAL can be taken over into the store, and others be fetched.
    @Test(arguments: Way.allCases) func callsNobodyInATransaction(way: Way) throws {
        let job = try LibraryImport.finished(items: 30_000)
        let writer = try DatabaseQueue(path: job.store)
        let reader = try StoreReader(store: job.store)
        // The last ones are more than a page too.
        try writer.write { try $0.execute(sql: "UPDATE item SET name = hex(zeroblob(50)) || name") }
        var request = FetchRequest(entity: "item")
        if way == .last { request.offset = 20_001 }
        if way == .sorted || way == .illFormed { request.sort = [RecordSort("name")] }
        if way == .illFormed {
            try writer.write {
                try $0.execute(
                    sql: "UPDATE item SET name = CAST(x'ff' || name AS TEXT); CREATE INDEX one ON item (name)"
                )
            }
        }
        let expected = try writer.read {
            try Int64.fetchAll(
                $0,
                sql: "SELECT rowid FROM item ORDER BY \(request.sort.isEmpty ? "" : "name,") rowid "
                    + "LIMIT -1 OFFSET \(request.offset)"
            )
        }
        var found: [Int64] = []
        let isConsistent = try reader.forEachRecord(request) { record in
            found.append(record.rowID)
            guard found.count % 9_000 == 1 else { return }
            try writer.write { try $0.execute(sql: "UPDATE item SET id = -id WHERE rowid = 30000") }
            let busy = try writer.inDatabase { try Int.fetchOne($0, sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try #require(busy == 0)
            #expect(try reader.count("item") == 30_000)
        }
        #expect(found == expected)
        #expect(!isConsistent)
        #expect(try reader.forEachRecord(request) { _ in })
    }

    /// What is sorted by row ids leaves out what is gone, or fits no longer, when its turn comes.
    @Test func leavesOutWhatIsGoneMeanwhile() throws {
        let job = try LibraryImport(LibraryImport.items(100))
        _ = try job.pipeline().run()
        let writer = try DatabaseQueue(path: job.store)
        let reader = try StoreReader(store: job.store)
        let request = FetchRequest(entity: "item", where: try RecordPredicate("id > 0"), sortedBy: [RecordSort("name")])
        let entity = try reader.entity(named: "item")
        let order = try reader.records(request).map(\.rowID)
        var found: [Int64] = []
        let isConsistent = try RecordScan(
            request,
            RecordProjection(of: FetchedEntity(entity), attributes: []),
            in: reader
        ).run { row, _ in
            found.append(row.integer(at: 0))
            return found.count == 10 ? .nextPage : .nextRecord
        } endPage: {
            guard found.count == 10 else { return }
            try writer.write {
                try $0.execute(sql: "DELETE FROM item WHERE rowid = ?", arguments: [order[50]])
                try $0.execute(sql: "UPDATE item SET id = 0 WHERE rowid = ?", arguments: [order[60]])
            }
        }
        #expect(found == order.filter { $0 != order[50] && $0 != order[60] })
        #expect(!isConsistent)
    }

    /// Where going on after a record needs sorting though the beginning did not, it is sorted once and not for each page.
    @Test func sortsOnceWhereGoingOnNeedsSorting() throws {
        let job = try LibraryImport(LibraryImport.items(1_000))
        _ = try job.pipeline().run()
        let writer = try DatabaseQueue(path: job.store)
        // It has all that is read: no other way is nearly as short.
        try writer.write { try $0.execute(sql: "CREATE INDEX names ON item (name)") }
        func isSorted() throws -> Bool {
            let plan = try writer.read {
                try Row.fetchAll($0, sql: "EXPLAIN QUERY PLAN SELECT rowid, name FROM item ORDER BY name, rowid")
            }
            return plan.contains { ($0["detail"] as String).contains("TEMP B-TREE") }
        }
        #expect(try !isSorted())
        let expected = try writer.read {
            try Int64.fetchAll($0, sql: "SELECT rowid FROM item ORDER BY name, rowid")
        }
        let reader = try StoreReader(store: job.store)
        let entity = try reader.entity(named: "item")
        let request = FetchRequest(entity: "item", sortedBy: [RecordSort("name")])
        var found: [Int64] = []
        var pages = 0
        _ = try RecordScan(request, RecordProjection(of: FetchedEntity(entity), attributes: ["name"]), in: reader).run {
            row,
            _ in
            found.append(row.integer(at: 0))
            return found.count.isMultiple(of: 10) ? .nextPage : .nextRecord
        } endPage: {
            pages += 1
            // Without the index, what is left must be sorted.
            if pages == 1 {
                try writer.write { try $0.execute(sql: "DROP INDEX names") }
                #expect(try isSorted())
            }
            // After all with the first name, which need no sorting; a query of its own for each page would find these.
            if found.count > 200 {
                try writer.write { try $0.execute(sql: "INSERT INTO item (id, name) VALUES (0, 'n9')") }
            }
        }
        #expect(pages >= 100)
        #expect(found == expected)
    }

    @Test func takesANegativeLimitForNone() throws {
        let (job, reader) = try people(Self.records)
        defer { withExtendedLifetime(job) {} }
        let request = FetchRequest(entity: "Person", limit: -1)
        #expect(try reader.count(request) == 0)
        #expect(try reader.records(request).isEmpty)
    }

    /// Names that are canonically equivalent are two, as they are for SQLite.
    @Test func tellsNamesApartByTheirBytes() throws {
        let job = try LibraryImport("[{\"e\": 0}]")
        _ = try job.pipeline().run()
        try DatabaseQueue(path: job.store).write {
            try $0.execute(
                sql: """
                    ALTER TABLE item ADD COLUMN "\u{E9}" INTEGER; ALTER TABLE item ADD COLUMN "e\u{301}" INTEGER;
                    UPDATE item SET "\u{E9}" = 1, "e\u{301}" = 2;
                    """
            )
            // A model that knows both, as an import of them would leave it.
            let document = "_import_document WHERE id = (SELECT model FROM _import_job)"
            let text = try #require(try String.fetchOne($0, sql: "SELECT content FROM \(document)"))
            var model = try ModelDescription(stored: Array(text.utf8))
            for name in ["\u{E9}", "e\u{301}"] {
                model.entities[0].attributes.append(
                    AttributeDescription(name: name, column: name, type: .integer64, isOptional: true)
                )
            }
            try $0.execute(
                sql: "UPDATE _import_document SET content = ? WHERE id = (SELECT model FROM _import_job)",
                arguments: [model.encoded()]
            )
        }
        let records = try StoreReader(store: job.store).records(FetchRequest(entity: "item"))
        #expect(records.map(\.values) == [[.integer(0), .integer(1), .integer(2)]])
    }

    @Test func noticesThatItsFileIsAnother() throws {
        let (job, reader) = try people(Self.records)
        let (other, _) = try people("[{\"id\": 1}]")
        try FileManager.default.removeItem(atPath: job.store)
        #expect(throws: ImportError.self) { try reader.count("Person") }
        try FileManager.default.copyItem(atPath: other.store, toPath: job.store)
        #expect(throws: ImportError.self) { try reader.count("Person") }
        #expect(try StoreReader(store: job.store).count("Person") == 1)
        // One that replaces it while it is opened is noticed too.
        #expect(throws: ImportError.self) {
            try StoreReader(
                store: job.store,
                opening: { path in
                    let queue = try StoreConnection.reader(path)
                    try FileManager.default.removeItem(atPath: path)
                    try FileManager.default.copyItem(atPath: other.store, toPath: path)
                    return queue
                }
            )
        }
        let empty = try job.directory.write("", to: "empty.sqlite")
        #expect(throws: ImportError.self) { try StoreReader(store: empty) }
    }
}
