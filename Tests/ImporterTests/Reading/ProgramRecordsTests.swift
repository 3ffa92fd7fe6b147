import Foundation
import ImportModel
import TestSupport
import Testing

@testable import ImportEngine
@testable import ImportSources
@testable import Importer

/// A program's own records, imported as standard input is.
struct ProgramRecordsTests {
    private struct Address: Codable, Hashable {
        var city: String
        var zip: String?
    }

    /// Something of each kind.
    private struct Thing: FetchableObject, Encodable, Hashable {
        static let entityName = "thing"
        var id: Int
        var name: String
        var seen: Date
        var price: Decimal
        var bytes: Data
        var key: UUID
        var link: URL
        var weight: Double
        var share: Float
        var isGood: Bool
        var large: UInt64
        var note: String?
        var tags: [String]
        var addresses: [Address]
    }

    private static let model = """
        {"entities":{"thing":{"identifier":["id"],"attributes":{
            "id":{"type":"integer64"},"name":{"type":"string"},"seen":{"type":"date"},"price":{"type":"decimal"},
            "bytes":{"type":"binary"},"key":{"type":"uuid"},"link":{"type":"uri"},"weight":{"type":"double"},
            "share":{"type":"float"},"isGood":{"type":"boolean"},"large":{"type":"decimal"},
            "note":{"type":"string","optional":true},"tags":{"type":"json"},"addresses":{"type":"json"}}}}}
        """

    private static func things(_ count: Int, milliseconds: Bool) throws -> [Thing] {
        var random = SeededGenerator(seed: 7)
        return try (0..<count).map { index in
            let interval = Double.random(in: -40e9...200e9, using: &random)
            // A date before 2001, at it and after it, with each digit that a Double has.
            let date = Date(timeIntervalSinceReferenceDate: index == 0 ? 0 : interval)
            let rounded = Date(timeIntervalSince1970: (interval * 1_000).rounded() / 1_000)
            let digits =
                "\(Int64.random(in: .min ... .max, using: &random)).\(UInt32.random(in: 0...(.max), using: &random))1"
            return Thing(
                id: index,
                name: ["plain", "q\"uo\\te\n\u{1}\u{0}", "é\u{301} 🇳🇴", ""][index % 4],
                seen: milliseconds ? rounded : date,
                price: try #require(Decimal(string: digits)),
                bytes: Data((0..<index % 50).map { _ in UInt8.random(in: 0...255, using: &random) }),
                key: UUID(),
                link: try #require(URL(string: "https://example.org/\(index)?q=%C3%A9")),
                weight: Double(bitPattern: UInt64.random(in: 1...0x7FEF_FFFF_FFFF_FFFF, using: &random)),
                share: Float.random(in: -1...1, using: &random),
                isGood: index.isMultiple(of: 3),
                large: UInt64.max - UInt64(index),
                note: index.isMultiple(of: 2) ? nil : "n",
                tags: (0..<index % 3).map { "t\($0)" },
                addresses: [Address(city: "Oslo", zip: nil), Address(city: "Bergen", zip: "5003")]
            )
        }
    }

    private static let small = RunOptions(workers: 2, chunkSize: 4_000, commitEvery: 11)

    // MARK: Round trips

    /// What comes back is equal, with all digits, whether the model is inferred or given.
    @Test(arguments: [false, true]) func whatComesBackIsEqual(isInferred: Bool) async throws {
        let things = try Self.things(300, milliseconds: !isInferred)
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let model = isInferred ? nil : try ModelDescription(parsing: Array(Self.model.utf8))
        let pipeline = ImportPipeline(
            records: things,
            entity: "thing",
            into: store,
            job: JobOptions(model: model),
            run: Self.small
        )
        let report = try await pipeline.run().report
        #expect([report.recordsRead, report.inserted, report.rejected] == [300, 300, 0])
        let found = try await Thing.fetchAll(in: StoreReader(store: store), sortedBy: [RecordSort("id")])
        for (one, other) in zip(things, found) where one != other {
            Issue.record("\(one)\ncame back as\n\(other)")
            break
        }
        #expect(found.count == things.count)
        #expect(try StoreInspection(store: store).verify().allSatisfy(\.holds))
    }

    /// The text of a date gives back the date, and has as many digits as that takes, whatever its sign.
    @Test func eachDateHasATextOfItsOwn() throws {
        var random = SeededGenerator(seed: 11)
        var times = [0, 0.5, -0.5, 1.25, 721_692_800.123, -0.1, -978_307_200.7, 721_692_800.123_456_7, -1e10 + 0.001]
        times += (0..<5_000).map { _ in Double.random(in: -60e9...250e9, using: &random) }
        times += (0..<5_000).map { _ in
            Double(Int64.random(in: -9_000_000_000_000...9_000_000_000_000, using: &random)) / 1_000
        }
        for time in times {
            let date = Date(timeIntervalSinceReferenceDate: time)
            let text = try #require(DateText.text(of: date), "\(time)")
            #expect(DateText.date(of: text) == date, "\(time) \(text)")
        }
        #expect(DateText.text(of: Date(timeIntervalSince1970: 0)) == "1970-01-01T00:00:00.000Z")
        #expect(DateText.text(of: .distantFuture) == "4001-01-01T00:00:00.000Z")
        for time in [Double.nan, .infinity, 1e15, -70e9] {
            #expect(DateText.text(of: Date(timeIntervalSinceReferenceDate: time)) == nil)
        }
        for text in [
            "", "2001-01-01", "2001-01-01T00:00:00.0005", "2001-13-01T00:00:00.0005Z", "x001-01-01T00:00:00.0005Z",
        ] {
            #expect(DateText.date(of: text) == nil)
        }
    }

    private struct Named: Encodable {
        var b: [String: Int]
        var a: Set<String>
        var c: [Int: Bool]
    }

    /// A resume compares bytes: what iterates in any order is encoded in one.
    @Test func dictionariesAndSetsAreEncodedTheSameEachTime() throws {
        let keys = (0..<40).map { "k\($0)" }
        let texts = try (0..<20).map { round -> String in
            var value = Named(b: [:], a: [], c: [:])
            value.b.reserveCapacity(round * 100)
            value.a.reserveCapacity(round * 70)
            value.c.reserveCapacity(round * 130)
            for (index, key) in (round.isMultiple(of: 2) ? keys : keys.reversed()).enumerated() {
                value.b[key] = key.count
                value.a.insert(key)
                value.c[index] = true
            }
            var output: [UInt8] = []
            try RecordEncoder.append(value, to: &output)
            return String(decoding: output, as: UTF8.self)
        }
        #expect(Set(texts).count == 1)
        #expect(texts[0].hasPrefix("{\"b\":{\"k0\":2,"))
        #expect(try JSONValue(parsing: Array(texts[0].utf8)).kind == .object)
    }

    // MARK: As standard input

    private struct Row: Codable, FetchableObject, Hashable {
        static let entityName = "row"
        var id: Int
        var text: String
    }

    private static func rows(_ range: Range<Int>) -> [Row] { range.map { Row(id: $0, text: "t\($0 % 10)") } }

    /// A sequence that is not `Sendable`, and that nobody can iterate over twice.
    private struct Once: Sequence, IteratorProtocol {
        var rows: [Row].Iterator
        let isAtEnd: (Row) -> Bool

        mutating func next() -> Row? { rows.next().flatMap { isAtEnd($0) ? nil : $0 } }
    }

    private struct Customer: Codable, FetchableObject, Hashable {
        struct Address: Codable, Hashable {
            struct Position: Codable, Hashable { var x: Int }
            var city: String
            var at: Position?
        }
        static let entityName = "customer"
        var id: Int
        var home: Address
        var work: Address?
    }

    /// Objects within records are columns, and objects again when they are fetched.
    @Test func objectsWithinRecordsComeBack() async throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        let customers = [
            Customer(id: 1, home: .init(city: "Oslo", at: .init(x: 3)), work: .init(city: "Lund")),
            Customer(id: 2, home: .init(city: "Lund")),
        ]
        _ = try await ImportPipeline(records: customers, entity: "customer", into: store).run()
        let reader = try StoreReader(store: store)
        #expect(
            try reader.entity(named: "customer").attributes.map(\.name) == [
                "id", "home_city", "home_at_x", "work_city",
            ]
        )
        #expect(try await Customer.fetchAll(in: reader) == customers)
    }

    /// The store is that of an import of the same lines from a file.
    @Test func theStoreIsThatOfTheirJSON() async throws {
        let directory = try TemporaryDirectory()
        let rows = Self.rows(0..<500)
        let lines = try rows.map { row in
            var output: [UInt8] = []
            try RecordEncoder.append(row, to: &output)
            return String(decoding: output, as: UTF8.self)
        }
        let file = try LibraryImport(lines.joined(), named: "row.ndjson")
        _ = try await file.pipeline().run()
        let whole = try StoreContent.digest(file.store)

        let one = directory.path("one.sqlite")
        let once = Once(rows: rows.makeIterator()) { _ in false }
        _ = try await ImportPipeline(records: once, entity: "row", into: one, run: Self.small).run()
        #expect(try StoreContent.digest(one) == whole)

        let other = directory.path("other.sqlite")
        let stream = AsyncStream { continuation in
            for row in rows { continuation.yield(row) }
            continuation.finish()
        }
        let blocking = { try ImportPipeline(records: stream, entity: "row", into: other, run: Self.small).run() }
        _ = try blocking()
        #expect(try StoreContent.digest(other) == whole)
    }

    private struct Broken: Error {}

    /// A sequence that ends with an error is imported up to it, and resumes with what is committed passed over.
    @Test(arguments: [false, true]) func aResumeContinuesWhereTheRecordsEnded(isInferred: Bool) async throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let text = #"{"entities":{"row":{"attributes":{"id":{"type":"integer64"},"text":{"type":"string"}}}}}"#
        let job = JobOptions(model: isInferred ? nil : try ModelDescription(parsing: Array(text.utf8)))
        let first = AsyncThrowingStream<Row, any Error> { continuation in
            for row in Self.rows(0..<3_000) { continuation.yield(row) }
            continuation.finish(throwing: Broken())
        }
        let error = await #expect(throws: ImportError.self) {
            try await ImportPipeline(records: first, entity: "row", into: store, job: job, run: Self.small).run()
        }
        #expect(error?.code == .badInput)
        #expect(error?.message.contains("after record 3,000") == true)
        #expect(try StoreInspection(store: store).status().recordsRead == 3_000)

        // Others than those that are committed.
        let others = await #expect(throws: ImportError.self) {
            try await ImportPipeline(
                records: Self.rows(1..<4_000),
                entity: "row",
                into: store,
                job: job,
                run: Self.small
            ).run()
        }
        #expect(others?.message.contains("differ from those that were imported") == true)
        // Nobody else has them.
        let nobody = await #expect(throws: ImportError.self) {
            try await ImportPipeline(resuming: store, run: Self.small).run()
        }
        #expect(nobody?.code == .noInput)

        let report = try await ImportPipeline(
            records: Self.rows(0..<4_000),
            entity: "row",
            into: store,
            job: job,
            run: Self.small
        ).run().report
        #expect(report.inserted == 4_000)
        let found = try await Row.fetchAll(in: StoreReader(store: store))
        #expect(found == Self.rows(0..<4_000))
        #expect(try StoreInspection(store: store).verify().allSatisfy(\.holds))
    }

    /// An import that waits for the next record is interrupted all the same, and what was given is committed or given again.
    @Test func aCancelledImportStopsWaitingForRecords() async throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let text = #"{"entities":{"row":{"attributes":{"id":{"type":"integer64"},"text":{"type":"string"}}}}}"#
        let job = JobOptions(model: try ModelDescription(parsing: Array(text.utf8)))
        // Never finished.
        let (stream, continuation) = AsyncStream<Row>.makeStream()
        for row in Self.rows(0..<60_000) { continuation.yield(row) }
        let options = RunOptions(workers: 2, chunkSize: 100_000, commitEvery: 1_000)
        let pipeline = ImportPipeline(records: stream, entity: "row", into: store, job: job, run: options)
        let running = Task { try await pipeline.run() }
        for await snapshot in pipeline.progress.snapshots where snapshot.importedRecords > 0 {
            running.cancel()
            break
        }
        await #expect(throws: CancellationError.self) { try await running.value }
        let rows = Self.rows(0..<60_000)
        let again = ImportPipeline(records: rows, entity: "row", into: store, job: job, run: options)
        #expect(try await again.run().report.inserted == 60_000)
    }

    // MARK: Odd records

    /// One record is one record, whatever arrays it holds, and no records are none.
    @Test func aRecordIsARecordWhateverItHolds() async throws {
        let directory = try TemporaryDirectory()
        let one = directory.path("one.sqlite")
        let nested = [["items": Self.rows(0..<5)]]
        #expect(try await ImportPipeline(records: nested, entity: "box", into: one).run().report.recordsRead == 1)
        let none = directory.path("none.sqlite")
        for _ in 1...2 {
            let report = try await ImportPipeline(records: [Row](), entity: "row", into: none).run().report
            #expect([report.recordsRead, report.rejected] == [0, 0])
        }
        let numbers = directory.path("numbers.sqlite")
        #expect(try await ImportPipeline(records: [1, 2, 3], entity: "n", into: numbers).run().report.inserted == 3)
        #expect(try StoreContent.query(numbers, "SELECT group_concat(value) FROM n") == "1,2,3")
    }

    /// A value that JSON does not have ends the source at its record, and the error says where it is.
    @Test func aValueThatCannotBeEncodedIsNamed() async throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let records = [["a": [1.5]], ["a": [2.5, .infinity]], ["a": [3]]]
        let error = await #expect(throws: ImportError.self) {
            try await ImportPipeline(records: records, entity: "row", into: store).run()
        }
        #expect(error?.code == .badInput)
        #expect(error?.message == "record 2: a.1: cannot be encoded: JSON has no number inf")
        #expect(try StoreInspection(store: store).status().recordsRead == 1)
    }
}
