import Foundation
import ImportModel
import Importer

/// A benchmark's data and stores, in a folder that goes with it.
package final class Workplace {
    /// How many records the sources have: 50,000, or what `IMPORTER_BENCHMARK_RECORDS` says.
    package let records: Int
    /// What the records add up to.
    let people: People
    private let folder: URL
    private var paths = 0

    package init() throws {
        let asked = ProcessInfo.processInfo.environment["IMPORTER_BENCHMARK_RECORDS"] ?? "50000"
        guard let records = Int(asked), records >= 1_000 else {
            throw WrongResult(description: "IMPORTER_BENCHMARK_RECORDS is \(asked), and not a number from 1000 on")
        }
        self.records = records
        people = People(count: records)
        folder = FileManager.default.temporaryDirectory.appending(path: "importer-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// A path where nothing is yet.
    func fresh(_ name: String) -> String {
        paths += 1
        return folder.appending(path: "\(paths)-\(name)").path
    }

    /// Removes a file or folder, and what SQLite keeps beside a store.
    func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    /// The records as a file.
    func source(_ format: People.Format) throws -> String {
        let path = folder.appending(path: format == .array ? "people.json" : "people.ndjson").path
        if !FileManager.default.fileExists(atPath: path) {
            try Data(people.text(format)).write(to: URL(fileURLWithPath: path))
        }
        return path
    }

    /// The records as chunk files, cut from an array.
    func chunks() throws -> String {
        let path = folder.appending(path: "chunks").path
        if !FileManager.default.fileExists(atPath: path) {
            try split(.array, to: path)
        }
        return path
    }

    @discardableResult
    func split(_ format: People.Format, to path: String) throws -> SplitSummary {
        try ImportPipeline.split(
            sources: [try source(format)],
            to: path,
            job: JobOptions(),
            run: RunOptions(),
            progress: ImportProgress(),
            interruption: Interruption()
        )
    }

    /// The chunks, to be put through one stage at a time.
    func probe() throws -> StageProbe {
        try StageProbe(chunks: try chunks(), model: try People.model())
    }

    /// A finished import of the array.
    func store() throws -> String {
        let path = fresh("finished.sqlite")
        let job = JobOptions(model: try People.model())
        let pipeline = ImportPipeline(sources: [try source(.array)], into: path, job: job, run: RunOptions())
        try expect("inserted", try pipeline.run().report.inserted, is: Int64(records))
        return path
    }
}
