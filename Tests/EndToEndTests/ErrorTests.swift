import Foundation
import TestSupport
import Testing

/// Errors as people and scripts see them.
struct ErrorTests {
    /// What errors that are alike have in common.
    private struct Alike: Hashable {
        let entity: String
        let keyPath: String
        let code: String
        let expected: String
        let found: String
    }

    /// A group of errors as the report has it, or as it is counted again from the rejects.
    private struct Group: Equatable {
        let alike: Alike
        var count: Int
        let source: String
        let byteOffset: Int
        let record: Int
    }

    private static func objects(_ data: Data) throws -> [[String: Any]] {
        try data.split(separator: UInt8(ascii: "\n")).map {
            try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
        }
    }

    private static func alike(_ error: [String: Any], entity: Any?) throws -> Alike {
        let code = try #require(error["code"] as? String)
        return Alike(
            entity: try #require(entity as? String),
            keyPath: try #require(error["key_path"] as? String),
            code: code,
            expected: try #require(error["expected"] as? String),
            found: code == "recordTooLarge" ? "more" : try #require(error["found"] as? String)
        )
    }

    private static func recounted(_ rejects: Data) throws -> [Group] {
        var groups: [Group] = []
        for reject in try objects(rejects) {
            for error in try #require(reject["errors"] as? [[String: Any]]) {
                let alike = try alike(error, entity: reject["entity"])
                if let place = groups.firstIndex(where: { $0.alike == alike }) {
                    groups[place].count += 1
                } else {
                    groups.append(
                        Group(
                            alike: alike,
                            count: 1,
                            source: try #require(reject["source"] as? String),
                            byteOffset: try #require(error["byte_offset"] as? Int),
                            record: try #require(reject["ordinal"] as? Int)
                        )
                    )
                }
            }
        }
        return groups
    }

    private static func reported(_ report: Data) throws -> [Group] {
        let object = try JSONSerialization.jsonObject(with: report) as? [String: Any]
        return try #require(object?["errors"] as? [[String: Any]]).map { group in
            let first = try #require(group["first"] as? [String: Any])
            return Group(
                alike: try alike(group, entity: group["entity"]),
                count: try #require(group["count"] as? Int),
                source: try #require(first["source"] as? String),
                byteOffset: try #require(first["byte_offset"] as? Int),
                record: try #require(first["record"] as? Int)
            )
        }
    }

    @Test(arguments: ImportJob.withModel(count: 600), ["1", "4"])
    func groupsAreWhatTheRejectsSay(_ job: ImportJob, workers: String) throws {
        let files = try job.files()
        let options = [
            "--workers", workers, "--chunk-size", "9K", "--commit-every", "50", "--max-record-bytes", "2000",
        ]
        let result = try run(files.command(into: "store.sqlite", options + ["--json"]))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let store = files.directory.path("store.sqlite")
        let groups = try Self.reported(result.output)
        #expect(groups.count >= 2)
        #expect(try groups == Self.recounted(runImporter("rejects", store, "--json").output))
        #expect(try groups == Self.reported(runImporter("status", store, "--json").output))
        let summary = try runImporter("status", store).outputText
        #expect(summary.contains("\nErrors\n  `"))
        #expect(try runImporter("verify", store).outputText.contains("the groups count every error"))
    }

    /// A limit that stops the import stops it at the same record after kills.
    @Test(arguments: [1, 2])
    func stopsAtTheSameRecordAfterKills(seed: Int) throws {
        var job = ImportJob.withModel(count: InterruptionTests.count)[2]
        job.options += ["--max-errors", "250"]
        let files = try job.files()
        let whole = try run(files.command(into: "whole.sqlite", ["--progress", "none"]))
        #expect(whole.ending == .exit(65), "\(whole.errorText)")
        let expected = try StoreContent.result(files.directory.path("whole.sqlite"))
        let store = files.directory.path("store.sqlite")
        let command = files.command(into: "store.sqlite", InterruptionTests.run + ["--progress", "none"])
        var generator = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<3 {
            let child = try InterruptionTests.progressed(command, in: store, &generator)
            child.signal(SIGKILL)
            #expect(child.wait().ending == .signal(SIGKILL), "the import was too short to be killed")
        }
        for _ in 0..<2 {
            let last = try run(command)
            #expect(last.ending == .exit(65))
            #expect(last.errorText == whole.errorText.replacing("whole.sqlite", with: "store.sqlite"))
            #expect(try StoreContent.result(store) == expected)
        }
        let report = try Report(runImporter("status", store, "--json").output)
        #expect(report.state == "failed")
        #expect(report.rejected == 250)
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func losslessNamesTheNumberThatADoubleDoesNotHold() throws {
        let directory = try TemporaryDirectory()
        let number = "12345678901234567891"
        let text = "{\"id\":1,\"price\":{\"net\":1.25}}\n{\"id\":2,\"price\":{\"net\":\(number)}}\n{\"id\":3}\n"
        let source = try directory.write(text, to: "orders.ndjson")
        let model = try directory.write(
            """
            {"entities": {"orders": {"attributes": {"id": {"type": "integer64"},
              "net": {"type": "double", "from": "price.net", "optional": true}}}}}
            """,
            to: "model.json"
        )
        let store = directory.path("store.sqlite")
        let options = ["--into", store, "--model", model, "--lossless"]
        let result = try run([Project.importer, source] + options)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let offset = text.utf8.distance(from: text.startIndex, to: try #require(text.firstRange(of: number)).lowerBound)
        let line =
            "`price.net`: 1 number with more digits than double holds, which would be lost, first at byte \(offset)"
        #expect(result.outputText.contains("\n  \(line) of \(source)\n"))
        let reject = try runImporter("rejects", store).outputText
        #expect(reject.contains("price.net: double: number with more digits than double holds would be lost"))
        #expect(reject.contains("(byte \(offset))"))
        // It is part of what the result depends on.
        let stop = ["--model", model, "--lossless", "--on-error", "stop", "--again"]
        let other = try run([Project.importer, source, "--into", store] + stop)
        #expect(other.ending == .exit(65))
        let resumed = try runImporter(source, "--into", store, "--model", model, "--on-error", "stop")
        #expect(resumed.ending == .exit(64))
        #expect(resumed.errorText.contains("--lossless"))
    }

    @Test(arguments: [
        ["--max-errors", "x"], ["--max-errors", "101%"], ["--max-errors", "-1"], ["--on-error", "skip"],
        ["--on-error", "stop", "--max-errors", "5"],
    ])
    func refusesWhatMakesNoSense(_ options: [String]) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[1]", to: "a.json")
        let result = try run([Project.importer, source, "--into", directory.path("s.sqlite")] + options)
        #expect(result.ending == .exit(64))
        #expect(result.errorText.contains(options[options.count - 2]))
        #expect(!FileManager.default.fileExists(atPath: directory.path("s.sqlite")))
    }
}
