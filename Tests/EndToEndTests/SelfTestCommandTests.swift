import Foundation
import TestSupport
import Testing

/// `importer selftest` imports, kills and compares, and leaves nothing behind.
struct SelfTestCommandTests {
    private static let shapes = [
        "array", "NDJSON", "records in a document", "gzip", "identifiers that come again", "nested tables", "rejects",
        "standard input", "small files", "a file that grows", "mirror", "all",
    ]

    @Test func printsWhatItTriedAndLeavesNothing() throws {
        let directory = try TemporaryDirectory()
        let result = try runImporter("selftest", "--dir", directory.path, "--minutes", "0.05", "--seed", "7", "--quiet")
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        #expect(result.errorText == "")
        let lines = result.outputText.split(separator: "\n")
        #expect(lines.first?.hasPrefix("Imported made-up data on \(directory.path)") == true)
        #expect(lines.first?.hasSuffix("seed 7") == true)
        for shape in Self.shapes {
            let line = try #require(lines.first { $0.hasPrefix(shape + "  ") }, "\(shape) in \(result.outputText)")
            #expect(line.hasSuffix("  yes") || line.hasSuffix("  not tried"), "\(line)")
        }
        #expect(lines.contains { $0.hasPrefix("all  ") && $0.hasSuffix("  yes") })
        #expect(lines.filter { $0.hasSuffix("MB") || $0.hasSuffix("kB") }.count == 3)
        #expect(directory.names().isEmpty)
    }

    @Test func printsTheSameAsJSON() throws {
        let directory = try TemporaryDirectory()
        let result = try runImporter("selftest", "--dir", directory.path, "--minutes", "0.001", "--json", "--quiet")
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        let report = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
        #expect(report["directory"] as? String == directory.path)
        #expect((report["seed"] as? Int ?? 0) > 0 && (report["seconds"] as? Double ?? 0) > 0)
        #expect(report["difference"] == nil)
        let rows = try #require(report["rows"] as? [[String: Any]])
        #expect(rows.compactMap { $0["shape"] as? String } == Self.shapes.dropLast())
        // The case at hand is finished.
        #expect(rows.first?["times"] as? Int == 1 && rows.first?["equal"] as? Bool == true)
        let speeds = try #require(report["speeds"] as? [[String: Any]])
        #expect(speeds.allSatisfy { ($0["records_per_second"] as? Double ?? 0) > 0 && $0["bytes_per_second"] != nil })
        #expect(directory.names().isEmpty)
    }

    @Test func leavesNothingWhereItIsInterrupted() throws {
        let directory = try TemporaryDirectory()
        let child = try ChildProcess([Project.importer, "selftest", "--dir", directory.path, "--minutes", "60"])
        try wait(for: "an import", instead: { child.account }) {
            guard child.isRunning else { throw NeverCame("an import: \(child.account)") }
            return directory.names().first { name in
                FileManager.default.fileExists(atPath: directory.path("\(name)/speed/whole.sqlite"))
            }
        }
        child.signal(SIGINT)
        let result = child.wait()
        #expect(result.ending == .exit(130), "\(result.errorText)")
        #expect(result.errorText.contains("importer: interrupted\n") && result.outputText.isEmpty)
        #expect(directory.names().isEmpty)
    }

    @Test func saysWhereItCannotWrite() throws {
        let directory = try TemporaryDirectory()
        let result = try runImporter("selftest", "--dir", directory.path("nowhere"))
        #expect(result.ending == .exit(73), "\(result.errorText)")
        #expect(result.errorText.contains(directory.path("nowhere")) && result.outputText.isEmpty)
    }
}
