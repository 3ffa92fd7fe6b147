import Foundation
import Importer
import Synchronization
import Testing

@testable import ImportCommand

struct ImportRunTests {
    /// What a run printed and threw.
    private struct Result {
        var output = ""
        var error: ImportError?
    }

    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "import-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: path(name), atomically: false, encoding: .utf8)
        return path(name)
    }

    /// Imports in this process.
    private func run(
        _ source: String,
        into store: String,
        _ options: String...,
        prepare: (ImportPipeline) -> Void = { _ in }
    ) throws -> Result {
        let output = try OutputArguments.parse(["--progress", "none"] + options)
        let pipeline = ImportPipeline(sources: [source], into: store, job: JobOptions(), run: RunOptions())
        prepare(pipeline)
        var result = Result()
        let printed = Mutex("")
        let run = ImportRun(
            store: store,
            inspection: StoreInspection(store: store),
            sources: [source],
            output: output
        ) { text in
            printed.withLock { $0 += text }
        }
        do {
            try run.perform(pipeline)
        } catch let error as ImportError {
            result.error = error
        }
        result.output = printed.withLock { $0 }
        return result
    }

    @Test func aFailedImportPrintsItsReportToo() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try write(#"[{"a":1},{"a":2},"#, to: "broken.json")
        let result = try run(source, into: path("s.sqlite"), "--json", "--report", path("r.json"))
        #expect(result.error?.code == .badInput)
        let report = try JSONDecoder().decode(ImportReport.self, from: Data(result.output.utf8))
        #expect(report.state == .failed)
        #expect(report.inserted == 2)
        #expect(try String(contentsOfFile: path("r.json"), encoding: .utf8) == result.output)
    }

    @Test func theReportIsNeverThatOfAnotherJob() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = path("s.sqlite")
        _ = try run(try write(#"[{"a":1},"#, to: "broken.json"), into: store)
        let result = try run(path("missing.json"), into: store, "--json", "--report", path("r.json"))
        #expect(result.error?.code == .noInput)
        #expect(result.output.isEmpty)
        #expect(try String(contentsOfFile: path("r.json"), encoding: .utf8).isEmpty)
    }

    @Test func whatIsLeftUnfinishedIsSaidAtTheEnd() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = path("s.sqlite")
        let broken = try write(#"[{"a":1},"#, to: "broken.json")
        _ = try run(broken, into: store)
        let result = try run(try write(#"[{"a":1}]"#, to: "whole.json"), into: store)
        #expect(result.error == nil)
        #expect(result.output.contains("Not finished\n  job 1  \(broken): stopped after 1 record\n"))
        #expect(try StoreInspection(store: store).status().sources == [broken])
    }

    @Test func anInterruptionBeforeTheFirstByteBeginsNothing() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try write(#"[{"a":1}]"#, to: "a.json")
        let result = try run(source, into: path("s.sqlite"), "--json") { $0.interruption.request(.terminate) }
        #expect(result.error?.code == .terminated)
        #expect(!FileManager.default.fileExists(atPath: path("s.sqlite")))
        #expect(result.error?.description.contains("resume") == false)
        #expect(result.output.isEmpty)
    }

    @Test func theReportIsNotWrittenOverWhatTheImportNeeds() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = #"[{"a":1}]"#
        let source = try write(text, to: "a.json")
        let store = path("s.sqlite")
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: "s.sqlite")
        try FileManager.default.linkItem(atPath: source, toPath: path("hard.json"))
        let taken = [
            source, path("hard.json"), store, store + "-wal", store + ".lock", path("link"),
            folder.path + "/../" + folder.lastPathComponent + "/s.sqlite", store + ".chunks/manifest.ndjson",
        ]
        try FileManager.default.createDirectory(atPath: store + ".chunks", withIntermediateDirectories: true)
        for report in taken {
            let result = try run(source, into: store, "--report", report)
            #expect(result.error?.code == .usage, "\(report)")
        }
        #expect(try String(contentsOfFile: source, encoding: .utf8) == text)
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test func theReportMayGoToADeviceThatIsASourceToo() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        // Nothing can be lost in it.
        #expect(FileIdentity("/dev/null") == nil)
        let files = [(role: "the source", path: "/dev/null")]
        #expect(throws: Never.self) { try ReportFile(path: "/dev/null", apartFrom: files) }
    }
}
