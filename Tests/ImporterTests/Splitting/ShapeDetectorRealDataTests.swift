import Foundation
import Importer
import TestSupport
import Testing

private let sharedData: URL? = SharedData.isPresent ? SharedData.directory : nil

@Suite(.enabled(if: sharedData != nil)) struct ShapeDetectorRealDataTests {
    let opener = SourceOpener()
    let interruption = Interruption()

    func detect(_ file: URL) throws -> ShapeDetector.Detection {
        let source = try #require(opener.describe(file.path, interruption: interruption).first)
        let sample = try opener.open(source, interruption: interruption).peek()
        return ShapeDetector(sample.bytes, isWhole: sample.isWhole).detection
    }

    static let files: [(String, ExpectedShape)] = [
        ("twitter.json", .found(.stream, "$.statuses[*]")),
        ("twitterescaped.json.gz", .found(.stream, "$.statuses[*]")),
        ("citm_catalog.json.gz", .ambiguous(["$.events.*", "$.performances[*]"])),
        ("canada.json.gz", .found(.stream, "$.features[*]")),
        ("usgs-earthquakes.json.gz", .found(.stream, "$.features[*]")),
        ("wikipedia-movies/movies-1950s.json.gz", .found(.stream, "$[*]")),
        ("wikipedia-movies/movies-1900s.json.gz", .found(.stream, "$[*]")),
        ("countries-states-cities/countries.json", .found(.stream, "$[*]")),
        ("countries-states-cities/countries+states.json", .found(.stream, "$[*]")),
        ("countries-states-cities/countries+cities.json.gz", .found(.stream, "$[*]")),
        ("countries-states-cities/cities-GB.json.gz", .found(.stream, "$[*]")),
        ("mongodb-json-files/books.json.gz", .found(.lines, "$")),
        ("mongodb-json-files/restaurant.json.gz", .found(.lines, "$")),
        ("mongodb-json-files/countries-big.json.gz", .found(.lines, "$")),
        ("mongodb-json-files/profiles.json.gz", .found(.lines, "$")),
        ("mongodb-json-files/students.json", .found(.lines, "$")),
        ("mongodb-json-files/grades.json", .found(.lines, "$")),
        ("mongodb-json-files/products.json", .found(.lines, "$")),
        ("gharchive/2015-01-01-0.json.gz", .found(.lines, "$")),
        ("gharchive/2015-01-01-1.json.gz", .found(.lines, "$")),
        ("vega-movies.json.gz", .found(.stream, "$[*]")),
        ("openfootball/goals.json", .found(.stream, "$[*]")),
        ("openfootball/langs.json", .found(.stream, "$[*]")),
        ("geonames-cities500.json.gz", .found(.stream, "$.*")),
        ("geonames-countries.json", .found(.stream, "$.*")),
        ("northwind-odata/Orders.json", .found(.stream, "$.d.results[*]")),
        ("northwind-odata/Order_Details.json", .found(.stream, "$.d.results[*]")),
        ("northwind-odata/Products.json", .found(.stream, "$.d.results[*]")),
        ("northwind-odata/Shippers.json", .found(.stream, "$.d.results[*]")),
        ("openbeautyfacts-products-min.jsonl.gz", .found(.lines, "$")),
        ("mledoze-countries.json.gz", .found(.stream, "$[*]")),
        ("parking-citations.ndjson.gz", .found(.lines, "$")),
        ("mdn-browser-compat-data.json.gz", .found(.stream, "$")),
        ("sql-assessment-ruleset.bom.json", .ambiguous(["$.rules[*]", "$.probes.*[*]"])),
    ]

    @Test(arguments: files) func detectsARealFile(name: String, expected: ExpectedShape) throws {
        let detection = try detect(#require(sharedData).appendingPathComponent(name))
        #expect(expected.matches(detection), "\(detection)")
    }

    @Test func detectsFilesOfArraysThatWereJoined() throws {
        let directory = try #require(sharedData).appendingPathComponent("wikipedia-movies")
        let fixture = try SourceFixture()
        try fixture.run("cat '\(directory.path)'/movies-19[01]0s.json.gz > joined.gz")
        let detection = try detect(URL(fileURLWithPath: fixture.path("joined.gz")))
        #expect(ExpectedShape.found(.stream, "$[*]").matches(detection), "\(detection)")
    }

    /// A line that is not JSON is a reject and not an error, so no file that must be refused may be taken for lines.
    @Test func noBrokenTestFileIsTakenForLines() throws {
        let directory = try #require(sharedData).appendingPathComponent("JSONTestSuite/test_parsing")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.count == 318)
        for name in names {
            let sample = try [UInt8](Data(contentsOf: directory.appendingPathComponent(name)))
            for isWhole in [true, false] {
                let detection = ShapeDetector(sample, isWhole: isWhole).detection
                if case .found(.lines, _, _) = detection { Issue.record("\(name): \(detection)") }
                if name.hasPrefix("y_") { #expect(detection != .empty, "\(name)") }
                if case .ambiguous = detection { Issue.record("\(name): \(detection)") }
            }
        }
    }
}
