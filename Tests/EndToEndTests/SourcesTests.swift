import Foundation
import TestSupport
import Testing

/// What is outside of the records of a source is stored with it, and can be listed and fetched.
struct SourcesTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("s.sqlite")
        try directory.write(#"{"hospital":"X","on":"2024-07-01","items":[{"d":"a"},{"d":"b"}]}"#, to: "1.json")
        try directory.write(#"{"hospital":"Y","items":[{"d":"c"}],"more":[1, 2]}"#, to: "2.json")
    }

    private func importer(_ arguments: String...) throws -> ChildProcess.Result {
        try run([Project.importer] + arguments)
    }

    private func path(_ name: String) -> String { directory.path(name) }

    private func importAll() throws {
        let result = try importer(
            path("1.json"),
            path("2.json"),
            "--into",
            store,
            "--entity",
            "t",
            "--progress",
            "none"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.outputText.contains("kept with the source"), "\(result.outputText)")
        #expect(result.outputText.contains("sources \(store) --outside"), "\(result.outputText)")
    }

    private var outside: String {
        """
        \(path("1.json"))  {"hospital":"X","on":"2024-07-01"}
        \(path("2.json"))  {"hospital":"Y","more":[1,2]}

        """
    }

    @Test func sourcesAndWhatIsOutsideAreListed() throws {
        try importAll()
        let listed = try importer("sources", store)
        let words = listed.outputText.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            words == [
                "job state records source entities", "1 done 2 \(path("1.json")) t", "1 done 1 \(path("2.json")) t",
            ]
        )
        #expect(try importer("sources", store, "--outside").outputText == outside)
        let lines = try importer("sources", store, "--json", "--outside").outputText.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].contains(#""outside":{"hospital":"Y","more":[1,2]}"#), "\(lines)")
        #expect(lines[0].contains(#""state":"done","size":64,"#), "\(lines)")
        #expect(try importer("sources", store, "--job", "2").ending == .exit(66))
        #expect(try importer("sources", directory.path("none.sqlite")).ending == .exit(66))
    }

    @Test func sourcesOfAJobThatIsUndoneAreSaidToBe() throws {
        try importAll()
        #expect(try importer("undo", store).ending == .exit(0))
        let states = try importer("sources", store).outputText.split(separator: "\n").dropFirst().prefix(2)
        #expect(states.allSatisfy { $0.contains(" undone ") }, "\(states)")
        try importAll()
        let again = try importer("sources", store).outputText.split(separator: "\n")
        #expect(again.filter { $0.contains(" done ") && $0.hasSuffix(" t") }.count == 2, "\(again)")
    }

    @Test func rowsHaveWhatTheirSourceHas() throws {
        try importAll()
        let rows = try importer(
            "fetch",
            store,
            "t",
            "--columns",
            "d,@source.hospital,@source.more",
            "--format",
            "ndjson"
        )
        #expect(
            rows.outputText == """
                {"d":"a","@source.hospital":"X","@source.more":null}
                {"d":"b","@source.hospital":"X","@source.more":null}
                {"d":"c","@source.hospital":"Y","@source.more":[1,2]}

                """,
            "\(rows.errorText)"
        )
        let sorted = try importer(
            "fetch",
            store,
            "t",
            "--columns",
            "@source.hospital",
            "--format",
            "csv",
            "--sort",
            "d:desc"
        )
        #expect(sorted.outputText == "@source.hospital\n\"\"\"Y\"\"\"\n\"\"\"X\"\"\"\n\"\"\"X\"\"\"\n")
        try directory.write("[{\"a\":1}]", to: "plain.json")
        #expect(try importer(path("plain.json"), "--into", directory.path("p.sqlite")).ending == .exit(0))
        let none = try importer("fetch", directory.path("p.sqlite"), "plain", "--columns", "@source.x")
        #expect(none.ending == .exit(64) && none.errorText.contains("outside of the records"), "\(none.errorText)")
    }

    @Test func thePageHasIt() throws {
        try importAll()
        let list = try ServedStore(store).json("/api/status")["source_progress"] as? [[String: Any]]
        #expect(
            list?.map { $0["outside"] as? String } == [
                #"{"hospital":"X","on":"2024-07-01"}"#, #"{"hospital":"Y","more":[1,2]}"#,
            ]
        )
    }

    /// Chunks that were split before have it, too.
    @Test func splitsKeepIt() throws {
        #expect(
            try importer("split", path("1.json"), path("2.json"), "--to", path("chunks"), "--entity", "t").ending
                == .exit(0)
        )
        #expect(try importer(path("chunks"), "--into", store).ending == .exit(0))
        #expect(try importer("sources", store, "--outside").outputText == outside)
    }

    /// Not only what begins in the first MiB is a collection.
    @Test(arguments: ["big.json", "big.json.gz"])
    func collectionsAreFoundWhereverTheyBegin(name: String) throws {
        let items = (0..<20_000).map { #"{"n":\#($0),"t":"\#(String(repeating: "y", count: 80))"}"# }
        let text =
            #"{"made":"today","first":[\#(items.joined(separator: ","))],"other":{"x":[1]},"late":[{"z":1},{"z":2}]}"#
        try directory.write(text, to: "big.json")
        if name.hasSuffix(".gz") { try #require(run(["gzip", path("big.json")]).ending == .exit(0)) }
        let result = try importer(path(name), "--into", store, "--progress", "none")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.errorText.contains("(2 collections)"), "\(result.errorText)")
        #expect(
            try StoreContent.query(store, "SELECT (SELECT count(*) FROM first), (SELECT sum(z) FROM late)") == "20000|3"
        )
        #expect(try importer("sources", store, "--outside").outputText.contains(#"{"made":"today","other":{"x":[1]}}"#))
    }

    /// An array that comes late among objects by key does not make them something else.
    @Test func keyedRecordsStayRecords() throws {
        let keyed = (0..<15_000).map { #""k\#($0)":{"id":\#($0),"s":"\#(String(repeating: "p", count: 60))"}"# }
        try directory.write("{\(keyed.joined(separator: ",")),\"list\":[{\"a\":1}]}", to: "keyed.json")
        #expect(try importer(path("keyed.json"), "--into", store).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM keyed") == "15001")
    }

    /// Names are counted one by one up to a thousand; values are kept up to a mebibyte.
    @Test func manyNamesAreKept() throws {
        let names = (0..<1500).map { #""p\#($0)":\#($0)"# }.joined(separator: ",")
        try directory.write(#"{\#(names),"items":[{"id":1}],"made":"M"}"#, to: "n.json")
        #expect(try importer(path("n.json"), "--into", store).ending == .exit(0))
        let made = try importer("fetch", store, "n", "--columns", "id,@source.made", "--format", "ndjson")
        #expect(made.outputText == "{\"id\":1,\"@source.made\":\"M\"}\n")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_outside") == "1501")
        let other = try importer("fetch", store, "n", "--columns", "id,@source.mad")
        #expect(other.ending == .exit(64) && other.errorText.contains("$.mad"), "\(other.errorText)")
    }

    /// Several values of a source are a list, as it is not known whose they are.
    @Test func severalValuesAreAList() throws {
        try directory.write(
            "{\"page\":0,\"items\":[{\"id\":0}]}\n{\"page\":1,\"items\":[{\"id\":1}]}\n",
            to: "v.ndjson"
        )
        let command = [path("v.ndjson"), "--into", store, "--entity", "item", "--records", "$.items[*]"]
        #expect(try run([Project.importer] + command).ending == .exit(0))
        let rows = try importer("fetch", store, "item", "--columns", "@source.page", "--format", "ndjson")
        #expect(rows.outputText == "{\"@source.page\":[0,1]}\n{\"@source.page\":[0,1]}\n")
    }

    /// Whatever is killed, each value is there once.
    @Test func itIsThereOnceAfterKills() throws {
        let items = (0..<3000).map { #"{"n":\#($0),"t":"\#(String(repeating: "x", count: 100))"}"# }
        let groups = items.enumerated().map { #"{"g":\#($0),"items":[\#($1)]}"# }.joined(separator: ",")
        try directory.write(#"{"first":1,"groups":[\#(groups)],"last":2}"#, to: "big.json")
        let command = [
            Project.importer, path("big.json"), "--into", store, "--records", "$.groups[*].items[*]", "--chunk-size",
            "16K", "--commit-every", "50", "--progress", "none",
        ]
        for rows in [1, 700, 2000] {
            #expect(try InterruptionTests.isKilled(command, in: store, atRows: rows, later: 1))
        }
        #expect(try run(command).ending == .exit(0))
        let count = try StoreContent.query(
            store,
            "SELECT path, count(*) FROM _import_outside GROUP BY path ORDER BY path"
        )
        #expect(count == "$.first|1\n$.groups[*].g|3000\n$.last|1")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM big") == "3000")
    }
}
