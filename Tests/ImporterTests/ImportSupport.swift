import Foundation
import GRDB
import ImportModel
import Importer
import TestSupport

/// An import through the library, in a directory of its own.
struct LibraryImport {
    let directory: TemporaryDirectory
    let source: String
    let store: String

    /// Writes the records to be imported.
    init(_ text: String, named name: String = "item.json") throws {
        directory = try TemporaryDirectory()
        source = try directory.write(text, to: name)
        store = directory.path("store.sqlite")
    }

    /// An array of `count` objects `{"id":i,"name":"n…"}`, the smallest id last.
    static func items(_ count: Int) -> String {
        let records = (0..<count).map { "{\"id\":\(count - $0),\"name\":\"n\($0 % 7)\"}" }
        return "[" + records.joined(separator: ",\n") + "]"
    }

    /// An import of that many `items` which is over: the first is imported, the others are as if they had been.
    static func finished(items count: Int) throws -> Self {
        let job = try Self(items(1))
        _ = try job.pipeline().run()
        let writer = try DatabaseQueue(path: job.store)
        try writer.write {
            try $0.execute(
                sql: """
                    UPDATE item SET id = \(count);
                    WITH RECURSIVE others (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM others WHERE i + 1 < \(count))
                    INSERT INTO item (id, name) SELECT \(count) - i, 'n' || (i % 7) FROM others
                    """
            )
        }
        try writer.close()
        return job
    }

    func pipeline(_ job: JobOptions = JobOptions(), _ run: RunOptions = RunOptions()) -> ImportPipeline {
        ImportPipeline(sources: [source], into: store, job: job, run: run)
    }
}

extension ImportPipeline {
    /// Runs the import and stops it once something is committed.
    ///
    /// - Returns: whether it was stopped; false if it was quicker.
    func isStoppedAfterACommit() throws -> Bool {
        let observer = NotificationCenter.default.addObserver(forName: .storeDidMerge, object: merges, queue: nil) {
            [interruption] _ in interruption.request(.interrupt)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        do {
            _ = try run()
            return false
        } catch let error as ImportError where error.code == .interrupted {
            return true
        }
    }
}
