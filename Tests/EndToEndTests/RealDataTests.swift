import Foundation
import TestSupport
import Testing

/// Real files, imported with an inferred model: reading the store back gives what Python reads in the files.
@Suite(.enabled(if: SharedData.isPresent, "there is no shared/data beside the package"))
struct RealDataTests {
    /// One import of real files.
    struct Source: Sendable, CustomTestStringConvertible {
        let names: [String]
        var records: [String] = []
        /// What the file's publisher or its description says; nil where only the independent reading counts.
        var count: Int?
        /// Whether it is small enough to be imported once more with the printed model.
        var isSmall = true

        var testDescription: String { names.count == 1 ? names[0] : "\(names[0]) and \(names.count - 1) more" }
    }

    static let movies = SharedData.names(in: "wikipedia-movies").map { "wikipedia-movies/\($0)" }
    static let football = SharedData.names(in: "openfootball").map { "openfootball/\($0)" }

    static let sources: [Source] =
        [
            Source(names: ["twitter.json"], count: 100),
            Source(names: ["twitterescaped.json.gz"], count: 100),
            Source(
                names: ["citm_catalog.json.gz"],
                records: ["$.performances[*]", "$.events.*", "$.topicNames.*", "$.venueNames.*"]
            ),
            Source(names: ["citm_catalog.json.gz"], records: ["$.performances[*]"], count: 243),
            Source(names: ["citm_catalog.json.gz"], records: ["$.events.*"], count: 184),
            Source(names: ["canada.json.gz"], records: ["$.features[*]"], count: 1),
            Source(names: movies, count: 36_273, isSmall: false),
            Source(names: ["countries-states-cities/countries.json"], count: 250),
            Source(names: ["countries-states-cities/countries+states.json"], count: 250),
            Source(names: ["countries-states-cities/countries+cities.json.gz"], count: 250),
            Source(names: ["countries-states-cities/cities-GB.json.gz"], count: 3_881),
            Source(names: ["mongodb-json-files/books.json.gz"], count: 431),
            Source(names: ["mongodb-json-files/restaurant.json.gz"], count: 2_548),
            Source(names: ["mongodb-json-files/countries-big.json.gz"], count: 21_640),
            Source(names: ["mongodb-json-files/profiles.json.gz"], count: 1_515),
            Source(names: ["mongodb-json-files/students.json"], count: 200),
            Source(names: ["mongodb-json-files/grades.json"], count: 280),
            Source(names: ["mongodb-json-files/products.json"], count: 11),
            Source(names: ["gharchive/2015-01-01-0.json.gz"], count: 7_702, isSmall: false),
            Source(names: ["gharchive/2015-01-01-1.json.gz"], count: 7_427, isSmall: false),
            Source(names: ["usgs-earthquakes.json.gz"], records: ["$.features[*]"], count: 1_707),
            Source(names: ["vega-movies.json.gz"], count: 3_201),
            Source(names: ["geonames-cities500.json.gz"], count: 234_908, isSmall: false),
            Source(names: ["geonames-countries.json"], count: 252),
            Source(names: ["northwind-odata/Orders.json"], count: 200),
            Source(names: ["northwind-odata/Order_Details.json"], count: 500),
            Source(names: ["northwind-odata/Products.json"], count: 20),
            Source(names: ["northwind-odata/Shippers.json"], count: 3),
            Source(names: ["openbeautyfacts-products-min.jsonl.gz"], count: 1_000),
            Source(names: ["mledoze-countries.json.gz"], count: 250),
            Source(names: ["parking-citations.ndjson.gz"], count: 1_000),
            Source(names: ["mdn-browser-compat-data.json.gz"], records: ["$.*"], count: 11),
            Source(names: ["sql-assessment-ruleset.bom.json"], records: ["$.rules[*]", "$.probes.*"], count: 309),
        ] + football.map { Source(names: [$0]) }

    @Test(arguments: sources)
    func comesBackFromTheStore(_ source: Source) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let paths = source.names.map { SharedData.path($0) }
        var options = source.records.flatMap { ["--records", $0] }
        if source.records.count < 2 { options += ["--entity", "thing"] }
        let report = directory.path("report.json")
        let imported = try run(
            [Project.importer, "import"] + paths + ["--into", store, "--report", report] + options
        )
        try #require(imported.ending == .exit(0), "\(imported.errorText)")

        let inferred = try run([Project.importer, "infer"] + paths + options)
        try #require(inferred.ending == .exit(0), "\(inferred.errorText)")
        let model = try directory.write(inferred.output, to: "model.json")
        let compared = try Python.run("roundtrip.py", [store, model] + paths)
        #expect(compared.ending == .exit(0), "\(compared.outputText) \(compared.errorText)")

        let counts = try Report(Data(contentsOf: URL(filePath: report)))
        #expect(counts.rejected == 0)
        #expect(counts.read == counts.inserted)
        if let count = source.count { #expect(counts.read == count) }
        if source.isSmall {
            #expect(try runImporter("verify", store).ending == .exit(0))
            let again = directory.path("again.sqlite")
            let second = try run([Project.importer, "import"] + paths + ["--into", again, "--model", model] + options)
            #expect(second.ending == .exit(0), "\(second.errorText)")
            #expect(try StoreContent.digest(again) == StoreContent.digest(store))
        }
    }

    @Test func takesSeveralSourcesAsOneJob() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let paths = Self.movies.prefix(4).map { SharedData.path($0) }
        let command = [Project.importer, "import"] + paths + ["--into", store, "--entity", "film"]
        #expect(try run(command).ending == .exit(0))
        let before = try StoreContent.result(store)
        // The same again changes nothing; another source is a new job into the same table.
        #expect(try run(command).ending == .exit(0))
        #expect(try StoreContent.result(store) == before)
    }
}
