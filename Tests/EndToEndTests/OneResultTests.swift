import Foundation
import TestSupport
import Testing

/// The store is a function of source, model and job options: how the work is shared out changes nothing.
struct OneResultTests {
    static let workers = ["1", "2", "4"]
    static let chunkSizes = ["1", "3000", "64K", "8M"]
    static let commits = ["1", "7", "10000"]

    /// Each two of these together: a chunk size and an interval with all of each other, and with all numbers of workers.
    static let runs = chunkSizes.enumerated().flatMap { row, chunkSize in
        commits.enumerated().map { column, commitEvery in
            [
                "--workers", workers[(row + column) % workers.count], "--chunk-size", chunkSize,
                "--commit-every", commitEvery,
            ]
        }
    }

    static let jobs =
        ImportJob.withModel(count: 150) + ImportJob.inferred(count: 150) + ImportJob.parts(count: 150)
        + ImportJob.generated(count: 150)

    @Test(arguments: jobs)
    func isTheSameHoweverTheWorkIsSharedOut(_ job: ImportJob) throws {
        let files = try job.files()
        let expected = try files.uninterruptedResult()
        for options in Self.runs {
            let store = "store\(options.joined()).sqlite"
            let result = try run(files.command(into: store, options))
            #expect(result.ending == .exit(0), "\(options): \(result.errorText)")
            #expect(try StoreContent.result(files.directory.path(store)) == expected, "\(options)")
        }
    }

    @Test(arguments: ImportJob.withModel(count: 500) + ImportJob.inferred(count: 500))
    func accountsForEveryRecord(_ job: ImportJob) throws {
        let files = try job.files()
        let result = try run(files.command(into: "store.sqlite", ["--report", files.directory.path("report.json")]))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let store = files.directory.path("store.sqlite")
        #expect(try runImporter("verify", store).ending == .exit(0))

        let report = try Report(Data(contentsOf: URL(filePath: files.directory.path("report.json"))))
        #expect(report.state == "finished")
        #expect(report.read == report.inserted + report.updated + report.unchanged + report.ignored + report.rejected)
        #expect(report.read >= 500)
        #expect(report.rejected > 0 || job.model == nil)
        #expect(try Report(runImporter("status", store, "--json").output) == report)
        let rows = try StoreContent.tables(store).map { table in
            try Int(StoreContent.query(store, "SELECT count(*) FROM \"\(table)\"")) ?? -1
        }
        #expect(rows.reduce(0, +) == report.inserted)
        #expect(try Int(StoreContent.query(store, "SELECT count(*) FROM _import_reject")) == report.rejected)
        #expect(!FileManager.default.fileExists(atPath: store + ".chunks"))
    }

    @Test(arguments: ImportJob.inferred(count: 400))
    func isTheSameWithThePrintedModel(_ job: ImportJob) throws {
        let files = try job.files()
        let expected = try files.uninterruptedResult()
        let printed = try run([Project.importer, "infer", files.sources[0]] + files.jobOptions)
        #expect(printed.ending == .exit(0), "\(printed.errorText)")
        let model = try files.directory.write(printed.output, to: "printed.json")
        let result = try run(files.command(into: "store.sqlite", ["--model", model]))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.digest(files.directory.path("store.sqlite")) == expected.prefix(64))
    }
}
