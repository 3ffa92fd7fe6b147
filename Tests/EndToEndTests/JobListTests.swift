import Foundation
import TestSupport
import Testing

/// What a store holds, in a line each: its jobs and its entities.
struct JobListTests {
    private static func twoJobs(_ directory: TemporaryDirectory) throws -> String {
        let store = directory.path("s.sqlite")
        let model = #"{"entities":{"T":{"table":"t\nt","attributes":{"id":{"type":"integer64"}}}}}"#
        let model2 = try directory.write(model, to: "m.json")
        let source = try directory.write("{\"id\":1}\n{\"id\":\"x\"}\n", to: "t.ndjson")
        #expect(try runImporter(source, "--into", store, "--model", model2).ending == .exit(0))
        let fix = directory.path("fix.ndjson")
        #expect(try runImporter("rejects", store, "--to", fix).ending == .exit(0))
        let lines = try String(contentsOfFile: fix, encoding: .utf8).replacing("\"x\"", with: "2")
        #expect(try runImporter("retry", store, directory.write(lines, to: "fixed.ndjson")).ending == .exit(0))
        return store
    }

    @Test func statusListsAllJobsAndShowsOneInFullAlsoAfterARetry() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.twoJobs(directory)
        let list = try runImporter("status", store).outputText.split(separator: "\n")
        #expect(list.count == 4, "\(list)")
        let header = list[0].split(separator: " ").joined(separator: " ")
        #expect(header == "job state started (UTC) read inserted rejected repaired sources")
        #expect(list[1].hasPrefix("  1  finished"))
        #expect(list[1].hasSuffix("2         1         1         1  \(directory.path("t.ndjson"))"))
        #expect(list[2].hasSuffix("1         1         0         1  \(directory.path("fixed.ndjson")) (retry)"))
        #expect(list[3].hasSuffix("status \(store) --job N"))
        let first = try runImporter("status", store, "--job", "1").outputText
        #expect(first.contains("Errors\n  `id`: 1 string where an integer64 was expected"), "\(first)")
        #expect(try runImporter("status", store, "--job", "2").outputText.contains("fixed.ndjson into"))
        let missing = try runImporter("status", store, "--job", "3")
        #expect(missing.ending == .exit(66))
        #expect(missing.errorText.contains("has no job 3"))
    }

    @Test func statusForScriptsKeepsItsKeysAndHasAllJobs() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.twoJobs(directory)
        func object(_ options: String...) throws -> [String: Any] {
            let output = try run([Project.importer, "status", store, "--json"] + options).output
            return try #require(try JSONSerialization.jsonObject(with: output) as? [String: Any])
        }
        let last = try object()
        #expect(last["job"] as? Int == 2 && last["records_read"] as? Int == 1 && last["state"] as? String == "finished")
        let jobs = try #require(last["jobs"] as? [[String: Any]])
        #expect(jobs.map { $0["job"] as? Int } == [1, 2])
        #expect(jobs.map { $0["retry"] as? Bool } == [false, true])
        #expect(jobs.map { $0["repaired"] as? Int } == [1, 1])
        #expect(jobs.allSatisfy { ($0["started"] as? String)?.hasSuffix("Z") == true && $0["finished"] is String })
        #expect(try object("--job", "1")["rejected"] as? Int == 1)
    }

    @Test func fetchWithoutAnEntityListsEntitiesWithTheirCounts() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.twoJobs(directory)
        let other = try directory.write("[{\"a\":1,\"b\":2}]", to: "other.json")
        #expect(try runImporter(other, "--into", store).ending == .exit(0))
        let list = try runImporter("fetch", store)
        #expect(list.ending == .exit(0))
        #expect(
            list.outputText == """
                entity  records  attributes  table
                T             2           1  t\\nt
                other         1           2  other

                """
        )
        let json = try JSONSerialization.jsonObject(with: runImporter("fetch", store, "--json").output)
        let entities = try #require(json as? [[String: Any]])
        #expect(entities.map { $0["entity"] as? String } == ["T", "other"])
        #expect(entities.map { $0["records"] as? Int } == [2, 1])
        for options in [["--where", "a = 1"], ["--limit", "1"], ["--count"], ["--format", "csv"], ["--print-model"]] {
            let result = try run([Project.importer, "fetch", store] + options)
            #expect(result.ending == .exit(64), "\(options)")
            #expect(result.errorText.contains(options[0]), "\(result.errorText)")
        }
    }
}
