import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportMigration

/// A source of the same size and time is the same only if its bytes are.
struct SourceIdentityTests {
    enum Replacement: CaseIterable {
        /// Another file in its place, with its time.
        case otherFile
        /// Written over in place, and its time set back.
        case otherBytes
    }

    /// Changes a character of a file and keeps its size and its modification time.
    private func replace(_ path: String, at place: Int, _ way: Replacement) throws {
        var status = stat()
        try #require(stat(path, &status) == 0)
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[place] = bytes[place] == UInt8(ascii: "7") ? UInt8(ascii: "8") : UInt8(ascii: "7")
        switch way {
        case .otherFile:
            try bytes.write(to: URL(filePath: path + ".new"))
            try #require(rename(path + ".new", path) == 0)
        case .otherBytes:
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.write(contentsOf: bytes)
            try file.close()
        }
        let times = [status.st_atim, status.st_mtim]
        try #require(utimensat(AT_FDCWD, path, times, 0) == 0)
        var now = stat()
        try #require(stat(path, &now) == 0)
        try #require(now.st_size == status.st_size && now.st_mtim.tv_nsec == status.st_mtim.tv_nsec)
    }

    /// Where the name of the record with this number begins.
    private func place(ofNameIn text: String, id: Int) throws -> Int {
        let range = try #require(text.utf8.firstRange(of: Array("{\"id\":\(id),\"name\":\"n".utf8)))
        return text.utf8.distance(from: text.utf8.startIndex, to: range.upperBound)
    }

    private var model: JobOptions {
        get throws {
            let text =
                #"{"entities":{"item":{"attributes":{"id":{"type":"integer64"},"name":{"type":"string"}}}}}"#
            return JobOptions(model: try ModelDescription(parsing: Array(text.utf8)))
        }
    }

    /// Imports until something is committed.
    private func interrupted(_ job: LibraryImport, _ options: JobOptions) throws {
        let run = RunOptions(workers: 1, chunkSize: 2_000, commitEvery: 10)
        #expect(try job.pipeline(options, run).isStoppedAfterACommit())
    }

    @Test(arguments: Replacement.allCases)
    func refusesAnotherSourceOfTheSameSizeAndTime(_ way: Replacement) throws {
        let text = LibraryImport.items(3_000)
        let job = try LibraryImport(text)
        try interrupted(job, model)
        let before = try StoreContent.result(job.store)
        try replace(job.source, at: place(ofNameIn: text, id: 3_000), way)
        let error = #expect(throws: ImportError.self) { try job.pipeline(model).run() }
        #expect(error?.code == .badInput)
        #expect(try StoreContent.result(job.store) == before)
    }

    /// Chunks that were cut before the source was replaced are not imported.
    @Test(arguments: Replacement.allCases, [true, false])
    func cutsAgainWhatWasReplacedBehindTheMarker(_ way: Replacement, isModelGiven: Bool) throws {
        let text = LibraryImport.items(3_000)
        let job = try LibraryImport(text)
        let options = isModelGiven ? try model : JobOptions()
        try interrupted(job, options)
        try replace(job.source, at: place(ofNameIn: text, id: 1), way)
        _ = try job.pipeline(options).run()
        let whole = try LibraryImport(String(contentsOfFile: job.source, encoding: .utf8))
        _ = try whole.pipeline(options).run()
        #expect(try StoreContent.digest(job.store) == StoreContent.digest(whole.store))
    }

    /// What touches a file without changing it costs a look at its bytes, and no work that was done.
    @Test(arguments: [true, false])
    func goesOnWithTheSameBytesInAnotherFile(isModelGiven: Bool) throws {
        let text = LibraryImport.items(3_000)
        let job = try LibraryImport(text)
        let options = isModelGiven ? try model : JobOptions()
        try interrupted(job, options)
        let done = try StoreContent.query(job.store, "SELECT max(rowid) FROM item")
        let copy = try job.directory.write(text, to: "copy.json")
        var status = stat()
        try #require(stat(job.source, &status) == 0)
        try #require(rename(copy, job.source) == 0)
        try #require(utimensat(AT_FDCWD, job.source, [status.st_atim, status.st_mtim], 0) == 0)
        let pipeline = job.pipeline(options)
        let report = try pipeline.run().report
        #expect(report.inserted == 3_000)
        #expect(pipeline.progress.snapshot.resumedRecords >= (Int64(done) ?? .max))
        let whole = try LibraryImport(text)
        _ = try whole.pipeline(options).run()
        #expect(try StoreContent.digest(job.store) == StoreContent.digest(whole.store))
    }

    @Test(arguments: Replacement.allCases)
    func knowsThatAFinishedSourceIsAnotherNow(_ way: Replacement) throws {
        let text = LibraryImport.items(50)
        let job = try LibraryImport(text)
        _ = try job.pipeline(model).run()
        try #require(chmod(job.source, 0o600) == 0)
        #expect(try job.pipeline(model).run().wasAlreadyFinished)
        try replace(job.source, at: place(ofNameIn: text, id: 25), way)
        let error = #expect(throws: ImportError.self) { try job.pipeline(model).run() }
        #expect(error?.code == .badInput)
        #expect(error?.message.contains("has changed since it was imported") == true)
    }
}
