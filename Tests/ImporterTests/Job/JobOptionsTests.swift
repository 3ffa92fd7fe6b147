import Importer
import TestSupport
import Testing

struct JobOptionsTests {
    /// What the command would not let through, a program may say.
    @Test(arguments: [
        JobOptions(maxRecordBytes: .max), JobOptions(maxRecordBytes: 0), JobOptions(maxDepth: .max),
        JobOptions(maxDepth: 0), JobOptions(skip: -1), JobOptions(limit: .min), JobOptions(nestedDepth: 0),
        JobOptions(nestedDepth: 17),
    ])
    func numbersOutOfRangeAreRefused(options: JobOptions) throws {
        let job = try LibraryImport(LibraryImport.items(3))
        let run = RunOptions()
        let (progress, interruption) = (ImportProgress(), Interruption())
        var errors: [ImportError?] = []
        errors.append(#expect(throws: ImportError.self) { try job.pipeline(options).run() })
        errors.append(
            #expect(throws: ImportError.self) {
                try ImportPipeline.split(
                    sources: [job.source],
                    to: job.directory.path("chunks"),
                    job: options,
                    run: run,
                    progress: progress,
                    interruption: interruption
                )
            }
        )
        errors.append(
            #expect(throws: ImportError.self) {
                try ImportPipeline.infer(
                    sources: [job.source],
                    job: options,
                    run: run,
                    progress: progress,
                    interruption: interruption
                )
            }
        )
        #expect(errors.allSatisfy { $0?.code == .usage })
        #expect(job.directory.names() == ["item.json"])
    }

    /// A SQLite store keeps U+0000; a server's job that replaces it is another than one that does not.
    @Test func whatIsForServersIsRefused() throws {
        let job = try LibraryImport(LibraryImport.items(3))
        let options = JobOptions(nul: .replace)
        let error = #expect(throws: ImportError.self) { try job.pipeline(options, RunOptions()).run() }
        #expect(error?.reason == .optionsConflict && error?.message.contains("keeps U+0000") == true)
        #expect(job.directory.names() == ["item.json"])
        #expect(throws: ImportError.self) { try JobOptions(nul: .replace, isLossless: true).check() }
        #expect(options.differences(from: JobOptions()) == [.nul])
        #expect(try BookkeepingJSON.decode(JobOptions.self, BookkeepingJSON.encode(options)) == options)
    }

    /// Nor may the numbers that the result does not depend on be any.
    @Test(arguments: [
        RunOptions(workers: 0), RunOptions(workers: .min), RunOptions(workers: .max), RunOptions(chunkSize: 0),
        RunOptions(chunkSize: .max), RunOptions(commitEvery: 0), RunOptions(commitEvery: -1), RunOptions(indexes: [[]]),
    ])
    func runOptionsOutOfRangeAreRefused(run: RunOptions) throws {
        let job = try LibraryImport(LibraryImport.items(3))
        let error = #expect(throws: ImportError.self) { try job.pipeline(JobOptions(), run).run() }
        #expect(error?.code == .usage)
        #expect(job.directory.names() == ["item.json"])
    }
}
