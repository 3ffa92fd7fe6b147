import Foundation
import TestSupport
import Testing

/// Faults of twenty kinds, planted in records of which it is known where each is: told rightly, given back as they
/// were, and repaired.
struct PlantedFaultsTests {
    /// What `scripts/generate-faults` says of one kind of fault.
    private struct Kind: Decodable {
        let kind: String
        let keyPath: String
        let code: String
        let count: Int
        let firstByteOffset: Int
        let lines: [Int]
    }

    private static let records = 4_000
    private static let faults = 200

    private let directory: TemporaryDirectory
    private let kinds: [Kind]
    private let store: String
    /// The lines of the source, and where each begins.
    private let lines: [Data]
    private let starts: [Int]

    init() throws {
        directory = try TemporaryDirectory()
        let generator = Project.root.appending(path: "scripts/generate-faults").path
        let arguments = ["--records", "\(Self.records)", "--faults", "\(Self.faults)"]
        let generated = try run([Project.python, generator, directory.path] + arguments)
        try #require(generated.ending == .exit(0), "\(generated.errorText)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        kinds = try decoder.decode([Kind].self, from: Data(contentsOf: URL(filePath: directory.path("expected.json"))))
        let bytes = try Data(contentsOf: URL(filePath: directory.path("records.ndjson")))
        let all = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        lines = all.map { Data($0) }
        // Slices keep the places of the whole.
        starts = all.map(\.startIndex)
        store = directory.path("store.sqlite")
    }

    /// The numbers of the lines with faults, from 1.
    private var faulty: [Int] { kinds.flatMap(\.lines).sorted() }

    private func importing(_ source: String, into store: String, _ options: [String] = []) throws -> ChildProcess.Result
    {
        let command = [Project.importer, "import", directory.path(source), "--into", store]
        let result = try run(command + ["--model", directory.path("model.json")] + options)
        try #require(result.ending == .exit(0), "\(result.errorText)")
        return result
    }

    /// Where the first error of a kind may be said to be.
    private func places(of kind: Kind) throws -> ClosedRange<Int> {
        let line = try #require(kind.lines.min()) - 1
        let whole = starts[line]...starts[line] + lines[line].count
        switch kind.code {
        case "malformed": return whole
        // The flags' object, or the flag in it.
        case "unknownFlag":
            return kind.firstByteOffset...kind.firstByteOffset + #"{"share": true, "print": true}"#.utf8.count
        default: return kind.firstByteOffset...kind.firstByteOffset
        }
    }

    @Test(arguments: [["--workers", "1"], ["--workers", "4", "--chunk-size", "20K", "--commit-every", "37"]])
    func areGroupedAsTheyWerePlanted(_ options: [String]) throws {
        let report = directory.path("report.json")
        let summary = try importing("records.ndjson", into: store, options + ["--report", report]).outputText
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: report))) as? [String: Any]
        let groups = try #require(object?["errors"] as? [[String: Any]])
        #expect(kinds.count == 20)
        #expect(groups.count == kinds.count)
        for kind in kinds {
            #expect(kind.count == Self.faults / kinds.count)
            let group = try #require(
                groups.first { $0["key_path"] as? String == kind.keyPath && $0["code"] as? String == kind.code },
                "\(kind.kind)"
            )
            #expect(group["count"] as? Int == kind.count, "\(kind.kind)")
            #expect(group["entity"] as? String == "item")
            let first = try #require(group["first"] as? [String: Any])
            #expect(first["record"] as? Int == kind.lines.min(), "\(kind.kind)")
            #expect(first["source"] as? String == directory.path("records.ndjson"))
            let place = try #require(first["byte_offset"] as? Int)
            #expect(try places(of: kind).contains(place), "\(kind.kind): \(place)")
        }
        try isSummed(summary, groups)

        let counts = try Report(Data(contentsOf: URL(filePath: report)))
        #expect(counts.read == Self.records)
        #expect(counts.rejected == Self.faults)
        #expect(counts.inserted == Self.records - Self.faults)
        let listed = try runImporter("rejects", store, "--json").output.split(separator: UInt8(ascii: "\n"))
        let rejects = try listed.map { try #require(try JSONSerialization.jsonObject(with: $0) as? [String: Any]) }
        #expect(rejects.map { $0["ordinal"] as? Int } == faulty)
        // One fault is one error, and not the cause of others.
        #expect(rejects.allSatisfy { ($0["errors"] as? [Any])?.count == 1 })
        #expect(rejects.map { $0["byte_offset"] as? Int } == faulty.map { starts[$0 - 1] })
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// The ten groups of which the first error comes first, a line each, and one for the others.
    private func isSummed(_ summary: String, _ groups: [[String: Any]]) throws {
        let lines = summary.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let heading = try #require(lines.firstIndex(of: "Errors"), "\(summary)")
        let shown = lines[(heading + 1)...].prefix { !$0.isEmpty }
        try #require(shown.count == 11, "\(summary)")
        #expect(shown.last == "  … and 10 more (--json has all)")
        let earliest = kinds.sorted { ($0.lines.min() ?? 0) < ($1.lines.min() ?? 0) }
        for (line, kind) in zip(shown.dropLast(), earliest) {
            #expect(line.hasPrefix("  `\(kind.keyPath.isEmpty ? "$" : kind.keyPath)`: "), "\(kind.kind): \(line)")
            #expect(line.contains(" \(kind.count) "), "\(kind.kind): \(line)")
            let digits = line.components(separatedBy: "first at byte ").last?.prefix { $0 != " " }.filter(\.isNumber)
            let place = try #require(digits.flatMap { Int($0) }, "\(line)")
            #expect(try places(of: kind).contains(place), "\(kind.kind): \(line)")
            #expect(line.hasSuffix(" of \(directory.path("records.ndjson"))"))
        }
    }

    @Test func areGivenBackAsTheyWere() throws {
        _ = try importing("records.ndjson", into: store)
        let expected = faulty.reduce(into: Data()) { $0 += lines[$1 - 1] + Data("\n".utf8) }
        #expect(try runImporter("rejects", store, "--raw").output == expected)
    }

    @Test func areAllRepaired() throws {
        _ = try importing("records.ndjson", into: store, ["--chunk-size", "100K"])
        let exported = directory.path("fix.ndjson")
        #expect(try runImporter("rejects", store, "--to", exported).ending == .exit(0))
        // Each line's record becomes that line of the mended records; the lines come in another order.
        let mended = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: directory.path("mended.ndjson"), toPath: mended.path("records.ndjson"))
        let edited = directory.path("edited.ndjson")
        try RepairJob.check("edit", exported, mended.path, edited)
        let retry = try runImporter("retry", store, edited, "--json")
        try #require(retry.ending == .exit(0), "\(retry.errorText)")
        let report = try Report(retry.output)
        #expect(report.inserted == Self.faults && report.read == Self.faults)
        #expect(try repaired(by: "2") == Self.faults)
        let states = "SELECT state, count(*) FROM _import_reject GROUP BY state"
        #expect(try StoreContent.query(store, states) == "repaired|\(Self.faults)")
        #expect(try StoreContent.query(store, "SELECT rejected FROM _import_entity WHERE job = 1") == "\(Self.faults)")
        #expect(try runImporter("rejects", store).outputText.isEmpty)
        #expect(try runImporter("verify", store).ending == .exit(0))

        let other = directory.path("mended.sqlite")
        let whole = try Report(importing("mended.ndjson", into: other, ["--json"]).output)
        #expect(whole.inserted == Self.records && whole.rejected == 0)
        try RepairJob.check("same", store, other)

        let before = try StoreContent.text(store)
        let again = try runImporter("retry", store, edited)
        #expect(again.ending == .exit(0))
        #expect(again.outputText.contains("nothing was changed"), "\(again.outputText)")
        #expect(try StoreContent.text(store) == before)
        #expect(try StoreContent.query(store, states) == "repaired|\(Self.faults)")
    }

    /// How many rejects a job of the store says that it has repaired.
    private func repaired(by job: String) throws -> Int? {
        let status = try runImporter("status", store, "--json").output
        let object = try JSONSerialization.jsonObject(with: status) as? [String: Any]
        #expect((object?["job"] as? NSNumber)?.stringValue == job)
        return object?["repaired"] as? Int
    }
}
