import Foundation
import TestSupport
import Testing

/// `--skip` and `--limit`: the tables are those that a source with just these records gives.
struct SliceTests {
    /// A layout of records in a source.
    struct Layout: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fileName: String
        var options: [String] = []
        /// The text of records with their numbers in the whole source.
        let text: @Sendable (ArraySlice<String>) -> String
    }

    static let layouts = [
        Layout(testDescription: "array", fileName: "p.json") { "[" + $0.joined(separator: ",\n ") + "]" },
        Layout(testDescription: "NDJSON", fileName: "p.ndjson") { $0.joined(separator: "\n") + "\n" },
        Layout(testDescription: "concatenated", fileName: "p.json", options: ["--records", "$"]) { $0.joined() },
        Layout(testDescription: "keyed", fileName: "p.json", options: ["--records", "$.*"]) { records in
            "{" + records.indices.map { "\"k\($0)\": \(records[$0])" }.joined(separator: ", ") + "}"
        },
    ]
    static let slices = [(0, 40), (37, nil), (11, 50), (119, 10), (0, 1_000)]
    static let runOptions = ["--workers", "2", "--chunk-size", "2000", "--commit-every", "7"]

    private static func arguments(_ skip: Int, _ limit: Int?) -> [String] {
        ["--skip", "\(skip)"] + (limit.map { ["--limit", "\($0)"] } ?? [])
    }

    private static func slice(_ records: [String], _ skip: Int, _ limit: Int?) -> ArraySlice<String> {
        records.dropFirst(skip).prefix(limit ?? .max)
    }

    @Test(arguments: layouts)
    func isTheSameAsImportingTheSlice(_ layout: Layout) throws {
        let records = Samples.people(count: 120, seed: 3).records
        for (skip, limit) in Self.slices {
            let directory = try TemporaryDirectory()
            let part = try directory.write(layout.text(Self.slice(records, skip, limit)), to: layout.fileName)
            let expected = directory.path("expected.sqlite")
            #expect(try run([Project.importer, part, "--into", expected] + layout.options).ending == .exit(0))
            let source = try directory.write(layout.text(records[...]), to: layout.fileName)
            let store = directory.path("store.sqlite")
            let options = layout.options + Self.arguments(skip, limit)
            let result = try TestSupport.run([Project.importer, source, "--into", store] + options + Self.runOptions)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(try StoreContent.digest(store) == StoreContent.digest(expected), "\(skip), \(limit ?? -1)")
            #expect(try runImporter("verify", store).ending == .exit(0))
            let split = try SplitResult(source, chunkSize: "3K", options: options)
            #expect(split.records.count == Self.slice(records, skip, limit).count)
            #expect(split.chunks.first?.firstOrdinal == 1)
        }
    }

    /// Several record paths are sliced each by itself, compressed sources and streams like plain files.
    @Test func slicesEachPathOfACompressedSourceAndOfAStream() throws {
        let people = Samples.people(count: 90, seed: 4).records
        func document(_ users: ArraySlice<String>, _ orders: ArraySlice<String>) -> String {
            "{\"users\": [\(users.joined(separator: ","))], \"n\": 1, \"orders\": [\(orders.joined(separator: ","))]}"
        }
        let directory = try TemporaryDirectory()
        let paths = ["--records", "$.users[*]", "--records", "$.orders[*]"]
        let part = try directory.write(document(people[20..<50], people[80...]), to: "part.json")
        let expected = directory.path("expected.sqlite")
        #expect(try run([Project.importer, part, "--into", expected] + paths).ending == .exit(0))

        let whole = try directory.write(document(people[...], people[60...]), to: "whole.json")
        try TestSupport.run(["gzip", "-k", whole])
        let slice = paths + ["--skip", "20", "--limit", "30"] + Self.runOptions
        for (name, arguments, input) in [
            ("gz", [whole + ".gz"], "/dev/null"), ("stream", ["-"], whole), ("packed stream", ["-"], whole + ".gz"),
        ] {
            let store = directory.path("\(name).sqlite")
            let result = try run([Project.importer, "import"] + arguments + ["--into", store] + slice, input: input)
            #expect(result.ending == .exit(0), "\(name): \(result.errorText)")
            #expect(try StoreContent.digest(store) == StoreContent.digest(expected), "\(name)")
        }
    }

    @Test func infersFromTheSliceOnly() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"a\":\"x\"},{\"a\":1},{\"a\":2},{\"a\":[]}]", to: "p.json")
        let model = try runImporter("infer", source, "--skip", "1", "--limit", "2").outputText
        #expect(model.contains("integer64"), "\(model)")
    }

    /// What follows the last record that is wanted is no part of the import, now or at a resume.
    @Test func takesASourceThatIsBrokenOrGrowsBehindTheSlice() throws {
        let directory = try TemporaryDirectory()
        let first = try directory.write("[{\"a\":1},{\"a\":2},{\"a\": oops", to: "first.json")
        let second = try directory.write("[{\"a\":3},{\"a\":4 oops", to: "second.json")
        let store = directory.path("store.sqlite")
        let model = try directory.write(
            "{\"entities\":{\"T\":{\"records\":\"$[*]\",\"attributes\":{\"a\":{\"type\":\"integer64\"}}}}}",
            to: "model.json"
        )
        let command = [Project.importer, first, second, "--into", store, "--model", model, "--limit", "2"]
        // The second one breaks off before its second record is whole.
        #expect(try run(command).ending == .exit(65))
        try directory.write("[{\"a\":1},{\"a\":2},{\"a\": oops, and more", to: "first.json")
        try directory.write("[{\"a\":3},{\"a\":4}, oops", to: "second.json")
        let result = try run(command)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT group_concat(a, ' ') FROM T") == "1 2 3 4")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func refusesOthersAtAResumeAndForChunksThatAreCut() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"a\":1},{\"a\":2} oops", to: "p.json")
        let store = directory.path("store.sqlite")
        #expect(try runImporter(source, "--into", store, "--skip", "1").ending == .exit(65))
        let other = try runImporter(source, "--into", store, "--limit", "1")
        #expect(other.ending == .exit(64))
        #expect(other.errorText.contains("with --skip, without --limit"))
        try directory.write("[1,2]", to: "q.json")
        #expect(try runImporter("split", directory.path("q.json"), "--to", directory.path("chunks")).ending == .exit(0))
        let cut = try runImporter(directory.path("chunks"), "--into", directory.path("t.sqlite"), "--limit", "1")
        #expect(cut.ending == .exit(64))
        #expect(!FileManager.default.fileExists(atPath: directory.path("t.sqlite")))
        #expect(try runImporter("import", source, "--into", store, "--limit", "-1").ending == .exit(64))
    }
}
