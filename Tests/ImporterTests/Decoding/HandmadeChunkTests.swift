import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

/// Chunks whose checksums are right and whose lines are not what a splitter writes, and manifests with such numbers.
struct HandmadeChunkTests {
    private let job: LibraryImport
    private let chunks: String

    init() throws {
        job = try LibraryImport(#"{"first": {"x": 1}, "other": {"x": 2}, "last": {"x": 3}}"#, named: "item.json")
        chunks = job.directory.path("chunks")
    }

    private func split(_ source: String, at path: String, maxRecordBytes: Int = 64 << 20) throws {
        _ = try ImportPipeline.split(
            sources: [source],
            to: chunks,
            job: JobOptions(records: [try RecordPath(path)], maxRecordBytes: maxRecordBytes),
            run: RunOptions(),
            progress: ImportProgress(),
            interruption: Interruption()
        )
        try FileManager.default.removeItem(atPath: source)
    }

    /// Puts other bytes in a chunk's place, and their checksum into the manifest.
    private func replaceLine(_ index: Int, by line: String) throws {
        let file = URL(filePath: chunks + "/chunk-000001.ndjson")
        var lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        lines[index] = line
        let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        try Data(bytes).write(to: file)
        let checksum = bytes.withUnsafeBytes { XXH3Hasher.digest(of: $0) }
        try changeManifest {
            $0.replacing(/"checksum":"[0-9a-f]*"/, with: "\"checksum\":\"\(checksum)\"")
                .replacing(/"bytes":\d+/, with: "\"bytes\":\(bytes.count)")
        }
    }

    private func changeManifest(_ body: (String) -> String) throws {
        let manifest = URL(filePath: chunks + "/manifest.ndjson")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        let changed = ManifestText.sealed(body(text))
        #expect(changed != text)
        try Data(changed.utf8).write(to: manifest)
    }

    private func importChunks() throws -> ImportReport {
        let text = #"{"entities":{"item":{"attributes":{"x":{"type":"integer64"}}}}}"#
        let model = try ModelDescription(parsing: Array(text.utf8))
        return try ImportPipeline(
            sources: [chunks],
            into: job.store,
            job: JobOptions(model: model),
            run: RunOptions()
        ).run().report
    }

    @Test(arguments: ["5", "{}", "[]", "\"q\"", #"{"a":{"x":1},"b":{"x":2}}"#, "[1,2,3,4,5]"])
    func aKeyedLineWithoutAMemberIsAReject(line: String) throws {
        try split(job.source, at: "$.*")
        try replaceLine(1, by: line)
        let report = try importChunks()
        #expect(report.inserted == 2)
        #expect(report.rejected == 1)
        #expect(try StoreContent.query(job.store, "SELECT x FROM item ORDER BY rowid") == "1\n3")
    }

    /// The splitter would have found it: only in lines, which it does not parse, may it be left.
    @Test(arguments: ["{\"x\":\u{0B}2}", "{\"x\":2\u{0C}}"])
    func aFormFeedInADocumentsChunkIsAReject(line: String) throws {
        try split(try job.directory.write(#"[{"x": 1}, {"x": 2}, {"x": 3}]"#, to: "array.json"), at: "$[*]")
        try replaceLine(1, by: line)
        let report = try importChunks()
        #expect(report.inserted == 2)
        #expect(report.rejected == 1)
        let place = try #require(line.utf8.firstIndex { $0 == 0x0B || $0 == 0x0C })
        let offset = 11 + line.utf8.distance(from: line.utf8.startIndex, to: place)
        #expect(
            try StoreContent.query(job.store, "SELECT errors ->> '$[0].byteOffset' FROM _import_reject") == "\(offset)"
        )
    }

    @Test(arguments: [
        (#"gaps":\[\[1,"#, #"gaps":[[1,9223372036854775807],[1,"#),
        (#"gaps":\[\[\d+,\d+"#, #"gaps":[[3,6148914691236517206"#),
        (#"firstOrdinal":1"#, #"firstOrdinal":9223372036854775807"#),
        (#"firstOrdinal":1"#, #"firstOrdinal":9223372036854775805"#),
        (#"endByte":\d+"#, #"endByte":9223372036854775807"#),
        (#"outside":\{\}"#, #"outside":{"$.a":9223372036854775807}"#),
        (#"outside":\{\}"#, #"outside":{"$.a":-1}"#),
        (#"firstByte":1\d"#, #"firstByte":9223372036854775807"#),
        (#"length":\d+"#, #"length":9223372036854775807"#),
    ])
    func numbersThatNoSourceHasAreRefused(pattern: String, replacement: String) throws {
        try split(
            try job.directory.write(#"{"a": {"x": 1}, "b": {"x": [22222222222]}, "c": {"x": 3}}"#, to: "big.json"),
            at: "$.*",
            maxRecordBytes: 16
        )
        let expression = try Regex("\"" + pattern)
        try changeManifest { $0.replacing(expression, with: "\"" + replacement) }
        #expect(throws: ImportError.self) { try importChunks() }
    }
}
