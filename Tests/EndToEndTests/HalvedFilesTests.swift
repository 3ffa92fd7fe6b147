import Foundation
import TestSupport
import Testing

/// Real NDJSON files cut in two and imported in turn without a model, as a night's file after the other.
///
/// The second half begins from what the first has made. Each ends with 0, and every record is a row or a reject.
@Suite(.enabled(if: SharedData.isPresent, "there is no shared/data beside the package"))
struct HalvedFilesTests {
    /// Of a larger file its first lines are used: the test is about what differs within a file, not about how much there is.
    private static let mostLines = 1_000

    /// A file, and how many records of its second half do not fit the entity of its first, which their values are coerced to.
    ///
    /// In `books` the identifiers become objects (`{"$oid": …}`) where they were integers, in `products` a price has a
    /// fraction, and of the events one has an object where the first half has nothing but null, which makes a string.
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let rejects: Int

        var testDescription: String { name }
    }

    static let samples = [
        Sample(name: "mongodb-json-files/books.json.gz", rejects: 32),
        Sample(name: "mongodb-json-files/restaurant.json.gz", rejects: 0),
        Sample(name: "mongodb-json-files/countries-big.json.gz", rejects: 0),
        Sample(name: "mongodb-json-files/profiles.json.gz", rejects: 0),
        Sample(name: "mongodb-json-files/students.json", rejects: 0),
        Sample(name: "mongodb-json-files/grades.json", rejects: 0),
        Sample(name: "mongodb-json-files/products.json", rejects: 1),
        Sample(name: "gharchive/2015-01-01-0.json.gz", rejects: 0),
        Sample(name: "gharchive/2015-01-01-1.json.gz", rejects: 1),
        Sample(name: "openbeautyfacts-products-min.jsonl.gz", rejects: 0),
        Sample(name: "parking-citations.ndjson.gz", rejects: 0),
    ]

    @Test(arguments: samples) func bothHalvesAreRowsOrRejects(_ sample: Sample) throws {
        let directory = try TemporaryDirectory()
        let path = SharedData.path(sample.name)
        let content =
            path.hasSuffix(".gz") ? try run(["gzip", "-dc", path]).output : try Data(contentsOf: URL(filePath: path))
        // Few of the lines are empty.
        let lines = [UInt8](content).split(separator: 0x0A, maxSplits: 2 * Self.mostLines).prefix(2 * Self.mostLines)
            .filter { !$0.allSatisfy { $0 == 0x20 || $0 == 0x0D } }
            .prefix(Self.mostLines)
        let half = lines.count / 2
        try #require(half > 1)
        let store = directory.path("s.sqlite")
        for (name, part) in [("first", lines.prefix(half)), ("second", lines.dropFirst(half))] {
            let source = try directory.write(Data(part.joined(separator: [0x0A])), to: "\(name).ndjson")
            let result = try runImporter(source, "--into", store, "--entity", "t", "--progress", "none")
            #expect(result.ending == .exit(0), "\(name): \(result.errorText)")
        }
        let rows = try #require(Int(try StoreContent.query(store, "SELECT count(*) FROM t")))
        let rejects = try #require(Int(try StoreContent.query(store, "SELECT count(*) FROM _import_reject")))
        #expect(rows + rejects == lines.count)
        #expect(rejects == sample.rejects)
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject WHERE job = 1") == "0")
        #expect(try runImporter("verify", store, "--strict").ending == .exit(0))
    }
}
