import Foundation
import ImportChanges
import ImportModel
import Importer
import TestSupport
import Testing

/// `verifySources` finds each row that is not what the sources say, and no other.
struct VerifySourcesTests {
    private let directory: TemporaryDirectory
    private var store: String { directory.path("store.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    private func run(_ sources: [String], _ options: JobOptions = JobOptions()) throws {
        _ = try ImportPipeline(sources: sources, into: store, job: options, run: RunOptions(workers: 2)).run()
    }

    private func checks() throws -> [StoreInspection.Check] { try StoreInspection(store: store).verifySources() }

    /// The details of the checks that fail, by their subjects.
    private func failures() throws -> [String: String] {
        Dictionary(uniqueKeysWithValues: try checks().filter { !$0.holds }.map { ($0.subject ?? "", $0.detail) })
    }

    @Test func allThatImportsBringHolds() throws {
        var options = JobOptions(entity: "people", identifiers: ["people": ["id"]])
        options.nested = .tables
        let first = try directory.write(
            #"[{"id":1,"name":"a","when":"2024-01-01T10:00:00Z","lines":[{"sku":"x"},{"sku":"y"}]},{"id":2,"score":1.5},{"name":"none"}]"#,
            to: "people.json"
        )
        try run([first], options)
        let second = try directory.write(
            "{\"id\":2,\"score\":7}\n{\"id\":3,\"lines\":[{\"sku\":\"z\"}]}\n",
            to: "people-2.ndjson"
        )
        try run([second], options)
        let other = try directory.write("[[1,\"a\"],[2,\"b\"]]", to: "rows.json")
        try run([other])
        let checks = try checks()
        #expect(checks.filter { !$0.holds } == [])
        #expect(checks.compactMap(\.subject) == ["table people", "table people_lines", "table rows"])
        #expect(checks[0].detail == "3 of 3")
    }

    @Test func eachRowThatOthersHaveChangedIsNamed() throws {
        let lines = (1...2_000).map { "{\"id\":\($0),\"name\":\"n\($0)\",\"score\":\($0)}\n" }.joined()
        try run([try directory.write(lines, to: "item.ndjson")])
        #expect(try failures().isEmpty)
        try StoreContent.execute(
            store,
            """
            UPDATE item SET name = 'N3' WHERE rowid = 3; UPDATE item SET name = x'6e3430' WHERE rowid = 40;
            UPDATE item SET score = NULL WHERE rowid = 1999; DELETE FROM item WHERE rowid = 7;
            INSERT INTO item (id, name, score) VALUES (5000, 'new', 0)
            """
        )
        let detail = try #require(try failures()["table item"])
        #expect(
            detail.hasPrefix(
                "3 of 2000 rows differ, 1 are gone, 1 more are of no source; row 3: name is 'N3', by the source 'n3'; "
            )
        )
        #expect(
            detail.hasSuffix(
                "row 40: name is X'6E3430', by the source 'n40'; row 1999: score is NULL, by the source 1999"
            )
        )
    }

    /// Both values of each column would be more columns than a result has.
    @Test func aRowOfManyColumnsIsDescribed() throws {
        let members = (0..<1_500).map { "\"c\($0)\":\($0)" }.joined(separator: ",")
        try run([try directory.write("[{\(members)}]", to: "wide.json")])
        try StoreContent.execute(store, "UPDATE wide SET c1499 = -1")
        #expect(try failures()["table wide"] == "1 of 1 rows differ; row 1: c1499 is -1, by the source 1499")
    }

    @Test func whatIsUndoneIsLeftOut() throws {
        try run([try directory.write(#"[{"a":1},{"a":2}]"#, to: "item.json")])
        try run([try directory.write(#"[{"a":3}]"#, to: "item-2.json")], JobOptions(entity: "item"))
        _ = try UndoPipeline(of: store).run()
        #expect(try StoreContent.query(store, "SELECT count(*) FROM item") == "2")
        let checks = try checks()
        #expect(checks.filter { !$0.holds } == [])
        #expect(checks[0].detail == "1 of 1")
    }

    @Test func sourcesThatAreNotAsTheyWereAreNamed() throws {
        let first = try directory.write(#"[{"a":1}]"#, to: "item.json")
        let second = try directory.write(#"[{"b":1}]"#, to: "other.json")
        try run([first, second])
        try directory.write(#"[{"a":2}]"#, to: "item.json")
        let checks = try checks()
        #expect(checks.count == 1 && !checks[0].holds)
        #expect(checks[0].detail == "1 of 2; gone, grown or changed: \(first)")
        // Touched, it is the same.
        try directory.write(#"[{"a":1}]"#, to: "item.json")
        #expect(try self.checks().allSatisfy(\.holds))
    }

    @Test func whatCannotBeDoneAgainIsRefused() throws {
        try StoreContent.execute(
            store,
            "CREATE TABLE item (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO item VALUES (1, 'x')"
        )
        try run([try directory.write(#"[{"a":2,"b":"y"}]"#, to: "item.json")])
        let error = #expect(throws: ImportError.self) { try self.checks() }
        #expect(error?.code == .usage && error?.message.contains("the table item was there") == true)
    }
}
