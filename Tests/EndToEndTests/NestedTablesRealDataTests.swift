import Foundation
import TestSupport
import Testing

/// Real files with child tables: tables, rows and references are those that Python finds in the files, and the rows put together
/// again are the records.
@Suite(.enabled(if: SharedData.isPresent, "there is no shared/data beside the package"))
struct NestedTablesRealDataTests {
    struct Source: Sendable, CustomTestStringConvertible {
        let names: [String]
        /// Record paths by entity.
        let records: [(entity: String, path: String)]
        /// Child tables with how many rows they have.
        var children: [String: Int] = [:]

        var testDescription: String { "\(names[0]) \(records[0].path)" }

        init(_ name: String, _ path: String, children: [String: Int] = [:]) {
            names = [name]
            records = [("thing", path)]
            self.children = children
        }

        init(_ name: String, collections: [(String, String)], children: [String: Int] = [:]) {
            names = [name]
            records = collections
            self.children = children
        }
    }

    static let sources = [
        Source("countries-states-cities/countries.json", "$[*]", children: ["thing_timezones": 432]),
        Source("countries-states-cities/countries+states.json", "$[*]"),
        Source("mongodb-json-files/students.json", "$", children: ["thing_scores": 600]),
        Source("mongodb-json-files/grades.json", "$", children: ["thing_scores": 1241]),
        Source("mongodb-json-files/products.json", "$", children: ["thing_additional_tarriffs": 2]),
        Source("mongodb-json-files/books.json.gz", "$"),
        Source("mongodb-json-files/restaurant.json.gz", "$"),
        Source("mongodb-json-files/profiles.json.gz", "$"),
        Source(
            "citm_catalog.json.gz",
            "$",
            children: [
                "thing_performances": 243, "thing_performances_prices": 907, "thing_performances_seatCategories": 907,
            ]
        ),
        Source(
            "citm_catalog.json.gz",
            collections: [("performances", "$.performances[*]"), ("events", "$.events.*")],
            children: [
                "performances_prices": 907, "performances_seatCategories": 907,
                "performances_seatCategories_areas": 8685,
            ]
        ),
        Source("northwind-odata/Orders.json", "$.d.results[*]"),
        Source("northwind-odata/Order_Details.json", "$.d.results[*]"),
        Source("northwind-odata/Products.json", "$.d.results[*]"),
        Source("northwind-odata/Shippers.json", "$.d.results[*]"),
    ]

    @Test(arguments: sources)
    func tablesAreThoseOfAnIndependentReading(_ source: Source) throws {
        let directory = try TemporaryDirectory()
        let paths = source.names.map { SharedData.path($0) }
        var options = source.records.flatMap { ["--records", $0.path] } + ["--nested", "tables", "--strict"]
        if source.records.count < 2 { options += ["--entity", source.records[0].entity] }
        let store = directory.path("store.sqlite")
        let imported = try run([Project.importer, "import"] + paths + ["--into", store] + options)
        try #require(imported.ending == .exit(0), "\(imported.errorText)")

        let roots = source.records.map { "\($0.entity)=\($0.path)" }
        let compared = try Python.run("nested_tables.py", [store] + roots + ["--"] + paths)
        #expect(compared.ending == .exit(0), "\(compared.outputText) \(compared.errorText)")
        let lines = compared.outputText.split(separator: "\n").map(String.init)
        let children = source.children.map { "\($0.key): \($0.value) rows" }
        #expect(
            Set(lines.filter { line in !source.records.contains { line.hasPrefix($0.entity + ":") } }) == Set(children)
        )

        #expect(try StoreContent.query(store, "PRAGMA foreign_key_check").isEmpty)
        let verified = try runImporter("verify", store)
        #expect(verified.ending == .exit(0), "\(verified.outputText)")

        let printed = try run([Project.importer, "infer"] + paths + options)
        let model = try directory.write(printed.output, to: "model.json")
        let again = directory.path("again.sqlite")
        let second = try run([Project.importer, "import"] + paths + ["--into", again, "--model", model, "--strict"])
        #expect(second.ending == .exit(0), "\(second.errorText)")
        #expect(try StoreContent.digest(again) == StoreContent.digest(store))
    }
}
