import Foundation
import Importer

/// Whole imports, as the command does them, from opening the source to the report.
extension StageBenchmark {
    static var endToEnd: [StageBenchmark] {
        [
            importing("EndToEnd_array", .array, floor: "EndToEnd_floor_sqlite"),
            importing("EndToEnd_ndjson", .ndjson, floor: "EndToEnd_floor_sqlite"),
            importing("EndToEnd_inferred", .array, isInferred: true, floor: "EndToEnd_array"),
            importing("EndToEnd_uuid", .array, identifier: "guid", floor: "EndToEnd_array"),
            StageBenchmark("EndToEnd_again", floor: "EndToEnd_uuid") { place in
                let source = try place.source(.array)
                let job = JobOptions(model: try People.model(identifier: "guid"))
                let path = place.fresh("again.sqlite")
                _ = try ImportPipeline(sources: [source], into: path, job: job, run: RunOptions()).run()
                return { measure in
                    let run = RunOptions(again: true)
                    var report: ImportReport?
                    try measure {
                        report = try ImportPipeline(sources: [source], into: path, job: job, run: run).run().report
                    }
                    try expect("unchanged", report?.unchanged, is: Int64(place.records))
                    try expect("sums", try RawStore(path).sums(), is: place.people.sums)
                }
            },
            Self.floor("EndToEnd_floor_sqlite", every: 10_000),
        ]
    }

    private static func importing(
        _ name: String,
        _ format: People.Format,
        identifier: String? = nil,
        isInferred: Bool = false,
        floor: String
    ) -> StageBenchmark {
        StageBenchmark(name, floor: floor) { place in
            let source = try place.source(format)
            let job = JobOptions(model: isInferred ? nil : try People.model(identifier: identifier))
            return { measure in
                let path = place.fresh("store.sqlite")
                var report: ImportReport?
                try measure {
                    report = try ImportPipeline(sources: [source], into: path, job: job, run: RunOptions()).run().report
                }
                try expect("state", report?.state, is: .finished)
                try expect("inserted", report?.inserted, is: Int64(place.records))
                try expect("sums", try RawStore(path).sums(), is: place.people.sums)
                place.remove(path)
            }
        }
    }
}
