import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

/// An import stops at the record that is too many, and nowhere else, however its work is shared out.
struct RejectLimitTests {
    private static let model = """
        {"entities": {"item": {"identifier": ["key"], "attributes": {
          "key": {"type": "string"},
          "number": {"type": "integer16", "optional": true},
          "must": {"type": "double"}
        }}}}
        """

    /// Workers, chunk sizes and commit intervals, each with each other's extremes.
    private static let runs = [
        RunOptions(workers: 1, chunkSize: 1, commitEvery: 1), RunOptions(workers: 1, chunkSize: 400, commitEvery: 7),
        RunOptions(workers: 1, chunkSize: 1 << 20, commitEvery: 10_000),
        RunOptions(workers: 2, chunkSize: 1, commitEvery: 7),
        RunOptions(workers: 2, chunkSize: 400, commitEvery: 10_000),
        RunOptions(workers: 2, chunkSize: 1 << 20, commitEvery: 1),
        RunOptions(workers: 4, chunkSize: 1, commitEvery: 10_000),
        RunOptions(workers: 4, chunkSize: 400, commitEvery: 1),
        RunOptions(workers: 4, chunkSize: 1 << 20, commitEvery: 7),
    ]

    /// 120 lines; every ninth but one does not fit, in one of four ways: only the store can tell the last one.
    private static let lines: [String] = (1...120).map { index in
        let isFaulty = faulty.contains(index)
        switch isFaulty ? index % 4 : 4 {
        case 0: return "{\"key\":\"k\(index)\",\"number\":\"n\(index)\",\"must\":1}"
        case 1: return "{\"key\":\"k\(index)\",\"num"
        case 2: return "{\"number\":\(index),\"must\":\"?\"}"
        case 3: return "{\"key\":\"new\(index)\",\"number\":1}"
        // Merges into the object of a record before it, which has what this one lacks.
        case _ where index % 5 == 1 && index > 1: return "{\"key\":\"k1\",\"number\":\(index)}"
        default: return "{\"key\":\"k\(index)\",\"number\":\"\(index)\",\"must\":\(index).5}"
        }
    }
    private static let faulty = stride(from: 9, through: 120, by: 9).filter { $0 != 45 }

    private static func text(_ lines: some Sequence<String>) -> String { lines.joined(separator: "\n") + "\n" }

    private func options(_ change: (inout JobOptions) -> Void) throws -> JobOptions {
        var options = JobOptions(model: try ModelDescription(parsing: Array(Self.model.utf8)))
        options.records = [try RecordPath("$")]
        change(&options)
        return options
    }

    private func finished(_ lines: some Sequence<String>) throws -> LibraryImport {
        let job = try LibraryImport(Self.text(lines), named: "item.ndjson")
        _ = try job.pipeline(options { $0.maxErrors = .percent(100) }).run()
        return job
    }

    private func result(of lines: some Sequence<String>) throws -> String {
        let job = try finished(lines)
        return try StoreContent.result(job.store)
    }

    /// The rows alone: a table gets its primary key when the import is finished.
    private func rows(_ job: LibraryImport) throws -> String {
        try StoreContent.query(job.store, "SELECT rowid, * FROM item")
    }

    /// Three runs each, which have all of the workers, chunk sizes and commit intervals; together every run is there at least twice.
    @Test(arguments: [nil, 0, 1, 2, 3, 7, 11] as [Int?])
    func stopsBeforeTheSameRecordAndGoesOnThereOnceItIsMended(limit: Int?) throws {
        let runs = [[0, 4, 8], [1, 5, 6], [2, 3, 7]][((limit ?? 2) + 1) % 3].map { Self.runs[$0] }
        let ordinal = Self.faulty[limit ?? 0]
        let before = try rows(finished(Self.lines[..<(ordinal - 1)]))
        let offset = Self.text(Self.lines[..<(ordinal - 1)]).utf8.count
        let mended = Self.lines.enumerated().map { index, line in
            index >= ordinal - 1 && Self.faulty.contains(index + 1) ? "{\"key\":\"mended\(index)\",\"must\":0}" : line
        }
        let whole = try result(of: mended)
        for run in runs {
            let job = try LibraryImport(Self.text(Self.lines), named: "item.ndjson")
            let options = try options {
                if let limit { $0.maxErrors = .count(Int64(limit)) } else { $0.onError = .stop }
            }
            for _ in 0..<2 {
                let error = try #require(throws: ImportError.self) { try job.pipeline(options, run).run() }
                #expect(error.code == .badInput)
                #expect(
                    error.message.contains("record \(ordinal.grouped) (byte \(offset.grouped))"),
                    "\(error.message)"
                )
                let report = try StoreInspection(store: job.store).status()
                #expect(report.state == .failed)
                #expect(report.recordsRead == Int64(ordinal - 1))
                #expect(report.rejected == Int64(limit ?? 0))
                #expect(try rows(job) == before, "\(run)")
                #expect(try StoreInspection(store: job.store).verify().allSatisfy(\.holds))
            }
            try Self.text(mended).write(toFile: job.source, atomically: true, encoding: .utf8)
            let outcome = try ImportPipeline(resuming: job.store, run: run).run()
            #expect(outcome.report.state == .finished)
            #expect(try StoreContent.result(job.store) == whole, "\(run)")
        }
    }

    @Test func aLimitThatIsNotExceededChangesNothing() throws {
        let expected = try result(of: Self.lines)
        for limit in [ErrorLimit.count(Int64(Self.faulty.count)), .percent(10), .percent(100)] {
            let job = try LibraryImport(Self.text(Self.lines), named: "item.ndjson")
            let report = try job.pipeline(options { $0.maxErrors = limit }, Self.runs[4]).run().report
            #expect(report.rejected == Int64(Self.faulty.count))
            #expect(try StoreContent.result(job.store) == expected)
        }
    }

    /// 12 of 120 are rejected: 10 percent.
    @Test func aPercentageIsJudgedWhenEverythingIsImported() throws {
        let expected = try rows(finished(Self.lines))
        for run in [Self.runs[0], Self.runs[4], Self.runs[8]] {
            let job = try LibraryImport(Self.text(Self.lines), named: "item.ndjson")
            let options = try options { $0.maxErrors = .percent(9.99) }
            for _ in 0..<2 {
                let error = try #require(throws: ImportError.self) { try job.pipeline(options, run).run() }
                #expect(error.code == .badInput)
                #expect(error.message.contains("12 of 120 records were rejected"))
                #expect(error.message.contains("9.99%"))
                #expect(try StoreInspection(store: job.store).status().state == .failed)
                #expect(try rows(job) == expected)
                #expect(!FileManager.default.fileExists(atPath: job.store + ".chunks"))
            }
        }
    }

    @Test func aPercentageIsExact() throws {
        for tenths in 1...1_000 {
            let percent = try #require(ErrorLimit("\(tenths / 10).\(tenths % 10)%"))
            guard case .percent(let value) = percent else { continue }
            try RejectLimit.judge(rejected: Int64(tenths) * 7, of: 7_000, by: .percent(value))
            #expect(throws: ImportError.self) {
                try RejectLimit.judge(rejected: Int64(tenths) * 7 + 1, of: 7_000, by: .percent(value))
            }
        }
    }

    @Test(arguments: [runs[1], runs[2], runs[8]])
    func stopsWhenTheFirstThousandRecordsAreAllRejected(run: RunOptions) throws {
        let bad = Array(repeating: "{\"id\":1}", count: 1_000)
        let job = try LibraryImport(Self.text(bad + Self.lines), named: "item.ndjson")
        for _ in 0..<2 {
            let error = try #require(throws: ImportError.self) { try job.pipeline(options { _ in }, run).run() }
            #expect(error.code == .badInput)
            #expect(error.message.contains("records were all rejected"))
            let report = try StoreInspection(store: job.store).status()
            #expect(report.state == .failed)
            #expect(report.rejected == 999)
            #expect(report.recordsRead == 999)
        }
        var again = run
        again.restart = true
        let report = try job.pipeline(options { $0.maxErrors = .percent(100) }, again).run().report
        #expect(report.rejected == 1_012)
        #expect(report.recordsRead == 1_120)

        for other in [bad.dropLast() + Self.lines[..<1] + bad, Self.lines[..<1] + bad + bad] {
            let job = try LibraryImport(Self.text(other), named: "item.ndjson")
            let report = try job.pipeline(options { _ in }, run).run().report
            #expect(report.inserted == 1)
            #expect(report.rejected == Int64(other.count - 1))
        }
    }

    @Test func aLimitIsReadAsItIsWritten() {
        #expect(ErrorLimit("0") == .count(0))
        #expect(ErrorLimit("5") == .count(5))
        #expect(ErrorLimit("2.5%") == .percent(2.5))
        #expect(ErrorLimit("100%") == .percent(100))
        for text in ["", "%", "-1", "+1", "1.5", "100.1%", "1e1%", "nan%", "5 %", "x", "99999999999999999999", ".%"] {
            #expect(ErrorLimit(text) == nil, "\(text)")
        }
        for limit in [ErrorLimit.count(7), .percent(2.5), .percent(100), .percent(0)] {
            #expect(ErrorLimit(limit.description) == limit)
        }
    }
}
