import Foundation
import ImportModel
import TestSupport
import Testing

@testable import Importer

/// Chunks whose checksums are right and whose lines are not what a splitter writes.
struct HandmadeChunkTests {
    @Test(arguments: ["5", "{}", "[]", "\"q\"", #"{"a":{"x":1},"b":{"x":2}}"#, "[1,2,3,4,5]"])
    func aKeyedLineWithoutAMemberIsAReject(line: String) throws {
        let job = try LibraryImport(#"{"first": {"x": 1}, "other": {"x": 2}, "last": {"x": 3}}"#)
        let chunks = job.directory.path("chunks")
        let path = try RecordPath("$.*")
        let text = #"{"entities":{"item":{"attributes":{"x":{"type":"integer64"}}}}}"#
        let model = try ModelDescription(parsing: Array(text.utf8))
        _ = try ImportPipeline.split(
            sources: [job.source],
            to: chunks,
            job: JobOptions(records: [path]),
            run: RunOptions(),
            progress: ImportProgress(),
            interruption: Interruption()
        )
        let file = URL(filePath: chunks + "/chunk-000001.ndjson")
        var lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        lines[1] = line
        let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        let manifest = URL(filePath: chunks + "/manifest.ndjson")
        let checksum = bytes.withUnsafeBytes { XXH3Hasher.digest(of: $0) }
        let sealed = try String(contentsOf: manifest, encoding: .utf8)
            .replacing(/"checksum":"[0-9a-f]*"/, with: "\"checksum\":\"\(checksum)\"")
            .replacing(/"bytes":\d+/, with: "\"bytes\":\(bytes.count)")
        try Data(bytes).write(to: file)
        try Data(sealed.utf8).write(to: manifest)
        try FileManager.default.removeItem(atPath: job.source)
        let pipeline = ImportPipeline(
            sources: [chunks],
            into: job.store,
            job: JobOptions(model: model),
            run: RunOptions()
        )
        let report = try pipeline.run().report
        #expect(report.inserted == 2)
        #expect(report.rejected == 1)
        #expect(try StoreContent.query(job.store, "SELECT x FROM item ORDER BY rowid") == "1\n3")
    }
}
