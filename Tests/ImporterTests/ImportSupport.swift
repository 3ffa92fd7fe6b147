import Foundation
import ImportModel
import TestSupport

@testable import Importer

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

    func pipeline(_ job: JobOptions = JobOptions(), _ run: RunOptions = RunOptions()) -> ImportPipeline {
        ImportPipeline(sources: [source], into: store, job: job, run: run)
    }
}
