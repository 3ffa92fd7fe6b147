import Foundation
import TestSupport
import Testing

/// Records are where they were, and nothing is taken for what it is not.
struct RecordPathTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("s.sqlite")
    }

    /// Imports files of these contents into the table `t`.
    @discardableResult
    private func importing(_ files: KeyValuePairs<String, String>, _ options: String...) throws -> ChildProcess.Result {
        let sources = try files.map { try directory.write($0.value, to: $0.key) }
        return try run([Project.importer, "import"] + sources + ["--into", store, "--entity", "t"] + options)
    }

    private func rows(_ columns: String) throws -> [String] {
        try StoreContent.query(store, "SELECT \(columns) FROM t ORDER BY rowid").split(separator: "\n").map(String.init)
    }

    private var columns: String {
        get throws { try StoreContent.query(store, "SELECT group_concat(name) FROM pragma_table_info('t')") }
    }

    @Test(arguments: ["ndjson", "jsonl", "geojsonl", "LDJSON"])
    func oneLineIsARecordWhereTheNameSaysThatLinesAre(suffix: String) throws {
        let result = try importing(["a.\(suffix)": #"{"id":1,"lines":[{"x":1},{"x":2}]}"#])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.errorText.contains("--records '$.lines[*]' makes them records"), "\(result.errorText)")
        #expect(try rows("id, lines") == [#"1|[{"x":1},{"x":2}]"#])
    }

    /// The first night, the second, and what is in the table then.
    static let nights: [(first: String, second: String, columns: String, rows: [String])] = [
        (#"{"items":[{"n":1},{"n":2}],"total":2}"#, #"{"items":[],"total":0}"#, "n", ["1", "2"]),
        (#"{"items":[{"n":1}],"ok":"yes"}"#, #"{"items":[],"ok":"yes"}"#, "n", ["1"]),
        (#"{"items":[{"n":1}],"ok":"yes"}"#, #"{"items":[{"n":2}],"failed":[{"n":3}]}"#, "n", ["1", "2"]),
        (#"{"a":{"n":1},"b":{"n":2}}"#, #"{"c":{"n":3}}"#, "key,n", ["a|1", "b|2", "c|3"]),
        (#"{"a":{"n":1},"b":{"n":2}}"#, "{}", "key,n", ["a|1", "b|2"]),
        (
            "{\"no\":1,\"l\":[{\"s\":1}]}\n{\"no\":2,\"l\":[]}\n", #"{"no":3,"l":[{"s":2},{"s":3}]}"#, "no",
            ["1", "2", "3"]
        ),
        // Nothing, as other languages write it.
        (#"{"items":[{"n":1}],"kind":"L"}"#, #"{"items":null,"kind":"L"}"#, "n", ["1"]),
        (#"{"items":[{"n":1}],"kind":"L"}"#, #"{"items":{},"kind":"L"}"#, "n", ["1"]),
        // A record with an empty list is no page without records.
        (#"{"id":1,"tags":["y"],"name":"n"}"#, #"{"id":3,"tags":[]}"#, "id", ["1", "3"]),
        // The records are elsewhere, and the same.
        (#"{"items":[{"n":1}],"total":1}"#, #"[{"n":2}]"#, "n", ["1", "2"]),
        ("{\"n\":1}\n{\"n\":2}\n", #"{"items":[{"n":3}],"total":1}"#, "n", ["1", "2", "3"]),
    ]

    @Test(arguments: nights) func theNightBeforeDecides(
        first: String,
        second: String,
        columns: String,
        rows: [String]
    ) throws {
        let (one, two) = (try importing(["1.json": first]), try importing(["2.json": second]))
        #expect(one.ending == .exit(0) && two.ending == .exit(0), "\(one.errorText) \(two.errorText)")
        #expect(!two.errorText.contains("new columns"), "\(two.errorText)")
        #expect(try self.rows(columns) == rows)
    }

    @Test func theNightBeforeDecidesWhereHalfAreRecords() throws {
        #expect(try importing(["1.json": #"{"a":{"n":1},"b":{"n":2}}"#]).ending == .exit(0))
        #expect(try importing(["2.json": #"{"c":{"n":3},"d":"x"}"#]).ending == .exit(0))
        #expect(try rows("key,n") == ["a|1", "b|2", "c|3"])
    }

    @Test(arguments: nights) func otherFilesOfTheSameCommandDecide(
        first: String,
        second: String,
        columns: String,
        rows: [String]
    ) throws {
        let result = try importing(["1.json": first, "2.json": second])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try self.rows(columns) == rows)
        // In the other order, the same.
        let other = try TemporaryDirectory()
        let sources = [try other.write(second, to: "2.json"), try other.write(first, to: "1.json")]
        let turned = try run([Project.importer, "import"] + sources + ["--into", other.path("s"), "--entity", "t"])
        #expect(turned.ending == .exit(0), "\(turned.errorText)")
        let sorted = try StoreContent.query(other.path("s"), "SELECT \(columns) FROM t ORDER BY 1").split(
            separator: "\n"
        )
        #expect(sorted.map(String.init) == rows)
    }

    @Test func recordsOfAnotherKindAreRefusedUntilSomebodySaysWhereTheyAre() throws {
        try importing(["1.json": #"{"items":[{"n":1}],"total":1}"#])
        let before = try StoreContent.result(store)
        let refused = try importing(["2.json": #"{"errors":[{"code":7}],"at":"noon"}"#])
        #expect(refused.ending == .exit(64), "\(refused.errorText)")
        #expect(refused.errorText.contains("$.errors[*]") && refused.errorText.contains("$.items[*]"))
        #expect(try StoreContent.result(store) == before)
        #expect(try importing(["2.json": #"{"errors":[{"code":7}]}"#], "--records", "$.errors[*]").ending == .exit(0))
        #expect(try rows("n, code") == ["1|", "|7"])
    }

    @Test(arguments: [
        ("$[*]", "[{\"n\":1},{\"n\":2}]\n[]\n[{\"n\":3}]\n"),
        ("$[*]", "[{\"n\":1},{\"n\":2}][{\"n\":3}]"),
        ("$.e[*]", "{\"e\":[{\"n\":1},{\"n\":2}]}\n{\"e\":[{\"n\":3}]}\n{\"f\":1}\n"),
        ("$.r", "{\"r\":{\"n\":1}}{\"r\":{\"n\":2}}\n{\"r\":{\"n\":3}}"),
    ])
    func aRecordPathHoldsForEachValue(path: String, text: String) throws {
        for name in ["a.json", "a.ndjson"] {
            let result = try importing([name: text], "--records", path, "--again")
            #expect(result.ending == .exit(0), "\(result.errorText)")
        }
        #expect(try rows("n") == ["1", "2", "3", "1", "2", "3"])
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func rowsBesideDescriptionsOfOtherColumnsAreNoChoiceOfOurs() throws {
        let result = try importing([
            "a.json":
                #"{"meta":[{"name":"id"},{"name":"x"},{"name":"y"}],"data":[[1,2],[3,4],[5,6],[7,8],[9,10],[11,12],[13,14],[15,16]]}"#
        ])
        #expect(result.ending == .exit(64), "\(result.errorText)")
        #expect(result.errorText.contains("'$.meta[*]'") && result.errorText.contains("'$.data[*]'"))
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    /// Where there never was a record, the next night is not bound to look for them.
    @Test func aNightWithoutRecordsDecidesNothing() throws {
        let first = try importing(["1.json": #"{"ok":true,"errors":[],"result":[]}"#])
        #expect(first.ending == .exit(0) && first.outputText.contains("read      0"), "\(first.errorText)")
        let second = try importing(["2.json": #"{"ok":true,"errors":[],"result":[{"n":1},{"n":2}]}"#])
        #expect(second.ending == .exit(0), "\(second.errorText)")
        #expect(try rows("n") == ["1", "2"])
    }

    /// A list that is called as lists are is one, whatever texts are beside it; what has an `id` is a record.
    @Test func anEmptyPageWithTextsHasNoRecords() throws {
        let first = try importing(["1.json": #"{"type":"FeatureCollection","features":[]}"#])
        #expect(first.ending == .exit(0) && first.outputText.contains("read      0"), "\(first.errorText)")
        let second = try importing(["2.json": #"{"type":"FeatureCollection","features":[{"n":1},{"n":2}]}"#])
        #expect(second.ending == .exit(0), "\(second.errorText)")
        #expect(try rows("n") == ["1", "2"])
        let record = try directory.write(#"{"id":7,"name":"x","items":[]}"#, to: "r.json")
        #expect(try runImporter(record, "--into", directory.path("r.sqlite")).ending == .exit(0))
        #expect(try StoreContent.query(directory.path("r.sqlite"), "SELECT id FROM r") == "7")
    }

    /// An answer that is an error shares an `id` with the records.
    @Test func whatSharesFewKeysIsNoRecord() throws {
        try importing(["1.json": #"{"items":[{"id":1,"n":2,"m":3}]}"#])
        let before = try StoreContent.result(store)
        let second = try importing(["2.json": #"{"id":7,"error":"rate limited"}"#])
        #expect(second.ending == .exit(64) && second.errorText.contains("--records"), "\(second.errorText)")
        #expect(try StoreContent.result(store) == before)
    }

    @Test func whatHasNoIdentifierIsARejectAlsoWhereItIsNoObject() throws {
        let result = try importing(["1.ndjson": "{\"id\":1}\nnull\n7\n{\"id\":2}\n"], "--identifier", "id")
        #expect(result.ending == .exit(0) && result.outputText.contains("rejected  2"), "\(result.errorText)")
        #expect(try rows("id") == ["1", "2"])
    }

    @Test func theEntityOfASplitIsThatOfItsChunks() throws {
        let (source, chunks) = (try directory.write("{\"n\":1}\n", to: "a.ndjson"), directory.path("chunks"))
        #expect(try runImporter("split", source, "--to", chunks, "--entity", "thing").ending == .exit(0))
        #expect(try runImporter(chunks, "--into", store).ending == .exit(0))
        #expect(try StoreContent.tables(store) == ["thing"])
    }

    @Test func aURIIsNoPath() throws {
        let source = try directory.write("{\"n\":1}\n", to: "a.ndjson")
        let result = try runImporter(source, "--into", "file:s.sqlite")
        #expect(result.ending == .exit(73) && result.errorText.contains("URI"), "\(result.errorText)")
    }

    @Test func theFirstOfSeveralPagesMayLackTheList() throws {
        try importing(["1.json": #"{"items":[{"n":1}],"of":1}"#])
        let second = try importing(["2.ndjson": "{\"of\":2,\"n\":0}\n{\"of\":2,\"items\":[{\"n\":2}]}\n"])
        #expect(second.ending == .exit(0), "\(second.errorText)")
        #expect(try rows("n") == ["1", "2"])
    }

    @Test func aPathThatIsInNoSourceIsSaidBesideAnEmptyOne() throws {
        let result = try importing(["1.ndjson": "\n", "2.ndjson": #"{"n":2}"#], "--records", "$.x[*]")
        #expect(result.ending == .exit(65), "\(result.outputText)")
    }

    @Test func anEmptySourceAmongOthersHasNoRecords() throws {
        let result = try importing(["a.ndjson": "{\"n\":1}\n", "b.ndjson": "\n", "c.json": "", "d.ndjson": "{\"n\":2}"])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try rows("n") == ["1", "2"])
        #expect(try runImporter("verify", store).ending == .exit(0))
        let empty = try directory.write("\n", to: "alone.ndjson")
        #expect(try runImporter(empty, "--into", directory.path("other.sqlite")).ending == .exit(66))
    }

    @Test func theShapeIsDecidedAnewWhereNothingWasCommitted() throws {
        #expect(try importing(["a.json": #"{"n":1"#]).ending == .exit(65))
        let result = try importing(["a.json": #"[{"n":1},{"n":2},{"n":3}]"#])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try rows("n") == ["1", "2", "3"])
        #expect(try columns == "n")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }
}
