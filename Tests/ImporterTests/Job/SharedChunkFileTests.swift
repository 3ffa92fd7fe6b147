import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

/// Chunks of small sources share a file and are committed together; what is known of each source stays its own.
struct SharedChunkFileTests {
    private static let model = """
        {"entities":{"item":{"attributes":{"id":{"type":"integer64"},"name":{"type":"string"}}}}}
        """
    /// Each source has a file of its own.
    private static let apart = RunOptions(workers: 2, chunkSize: 1, keepsChunks: true)

    /// A folder of sources, and what their records are to become.
    private struct Folder {
        let directory: TemporaryDirectory
        var sources: [String] = []
        /// Rows as the store is to have them, in order.
        var rows: [String] = []
        /// The source and the ordinal of each reject.
        var rejects: [String] = []
        /// Values outside of the records, with their source.
        var outside: [String] = []
        var records = 0

        /// Most have a few records, some none or a reject, and one has more than a chunk.
        init(_ count: Int, seed: UInt64 = 1) throws {
            directory = try TemporaryDirectory()
            var random = SeededGenerator(seed: seed)
            for source in 0..<count {
                let length = source == count / 2 ? 3_000 : Int.random(in: 0...4, using: &random)
                let texts = (0..<length).map { _ -> String in
                    records += 1
                    guard Int.random(in: 0..<12, using: &random) > 0 || length > 4 else {
                        rejects.append("\(source)|\(records)")
                        return #"{"id":"none","name":"r"}"#
                    }
                    rows.append("\(rows.count + 1)|\(records)|n\(source)")
                    return #"{"id":\#(records),"name":"n\#(source)"}"#
                }
                let mark = source % 7 == 3 ? "\u{FEFF}" : ""
                let isLines = source % 3 == 1
                if !isLines { outside.append("\(source)|\"v\(source)\"") }
                let text =
                    isLines
                    ? texts.map { $0 + "\n" }.joined()
                    : #"{"of":"v\#(source)","items":[\#(texts.joined(separator: ",\n"))]}"#
                sources.append(try directory.write(mark + text, to: "\(1_000 + source).\(isLines ? "ndjson" : "json")"))
            }
        }

        var store: String { directory.path("store.sqlite") }

        func pipeline(_ run: RunOptions, into store: String = "store.sqlite", maxErrors: ErrorLimit = .unlimited) throws
            -> ImportPipeline
        {
            ImportPipeline(
                sources: sources,
                into: directory.path(store),
                job: JobOptions(
                    model: try ModelDescription(parsing: Array(SharedChunkFileTests.model.utf8)),
                    maxErrors: maxErrors
                ),
                run: run
            )
        }

        /// What the store has, as it was worked out beside the text.
        func check(_ store: String = "store.sqlite") throws {
            let store = directory.path(store)
            let lines = { (sql: String) in try StoreContent.query(store, sql).split(separator: "\n").map(String.init) }
            #expect(try lines("SELECT rowid, id, name FROM item ORDER BY rowid") == rows)
            #expect(try lines("SELECT source, ordinal FROM _import_reject ORDER BY ordinal") == rejects)
            #expect(try lines("SELECT source, value FROM _import_outside ORDER BY source") == outside)
            // The rows of each chunk are those that its source has given.
            #expect(
                try lines(
                    """
                    SELECT count(*) FROM item JOIN _import_chunk AS chunk ON item.rowid BETWEEN first_rowid AND last_rowid
                    WHERE item.name = 'n' || chunk.source
                    """
                ) == ["\(rows.count)"]
            )
            #expect(try lines("SELECT sum(records), min(is_complete) FROM _import_chunk") == ["\(records)|1"])
            #expect(try StoreInspection(store: store).verify().allSatisfy(\.holds))
        }
    }

    @Test(arguments: [1, 3, 10_000]) func whatIsKnownOfASourceIsItsOwn(commitEvery: Int) throws {
        let folder = try Folder(60)
        let run = RunOptions(workers: 3, chunkSize: 8_000, commitEvery: commitEvery, keepsChunks: true)
        _ = try folder.pipeline(run).run()
        try folder.check()
        let entries = try #require(
            try ChunkManifest.read(in: ChunkDirectory(path: folder.store + ".chunks", creates: false))
        ).entries
        #expect(Set(entries.map(\.source)) == Set(0..<60))
        #expect(Set(entries.map(\.fileNumber)).count < 20)
        _ = try folder.pipeline(Self.apart, into: "apart.sqlite").run()
        try folder.check("apart.sqlite")
        #expect(try StoreContent.result(folder.store) == StoreContent.result(folder.directory.path("apart.sqlite")))
    }

    /// It may stop anywhere in a shared file, and its chunks may be gone by the next run.
    @Test(arguments: [true, false]) func stoppedAtEachRejectItGoesOn(keepsChunks: Bool) throws {
        let folder = try Folder(60, seed: 7)
        let run = RunOptions(workers: 2, chunkSize: 4_000, commitEvery: 5)
        #expect(folder.rejects.count > 5)
        for taken in folder.rejects.indices {
            let pipeline =
                try taken == 0
                ? folder.pipeline(run, maxErrors: .count(0))
                : ImportPipeline(resuming: folder.store, run: run, maxErrors: .count(Int64(taken)))
            let error = #expect(throws: ImportError.self) { try pipeline.run() }
            #expect(error?.code == .badInput)
            let read = try StoreContent.query(folder.store, "SELECT sum(records_read) FROM _import_entity")
            #expect(read == "\((folder.rejects[taken].split(separator: "|").last.flatMap { Int($0) } ?? 0) - 1)")
            if !keepsChunks { try? FileManager.default.removeItem(atPath: folder.store + ".chunks") }
        }
        _ = try ImportPipeline(resuming: folder.store, run: run, maxErrors: .unlimited).run()
        try folder.check()
    }

    /// The first reject too many is in the middle of a file: what precedes it is committed.
    @Test func tooManyRejectsStopItThere() throws {
        let folder = try Folder(60, seed: 3)
        let third = try #require(folder.rejects.dropFirst(2).first?.split(separator: "|"))
        let (source, ordinal) = (try #require(Int(third[0])), try #require(Int(third[1])))
        let error = #expect(throws: ImportError.self) {
            try folder.pipeline(RunOptions(workers: 2), maxErrors: .count(2)).run()
        }
        #expect(error?.message.contains("\(1_000 + source).") == true)
        let counts = try StoreContent.query(folder.store, "SELECT sum(records_read), sum(rejected) FROM _import_entity")
        #expect(counts == "\(ordinal - 1)|2")
        _ = try ImportPipeline(resuming: folder.store, run: RunOptions(), maxErrors: .unlimited).run()
        try folder.check()
    }

    private func split(_ folder: Folder) throws -> String {
        let path = folder.directory.path("split")
        _ = try ImportPipeline.split(
            sources: folder.sources,
            to: path,
            job: JobOptions(),
            run: RunOptions(chunkSize: 2_000),
            progress: ImportProgress(),
            interruption: Interruption()
        )
        return path
    }

    private func importSplit(_ folder: Folder, _ path: String) throws {
        let model = try ModelDescription(parsing: Array(Self.model.utf8))
        _ = try ImportPipeline(
            sources: [path],
            into: folder.store,
            job: JobOptions(model: model, maxErrors: .unlimited),
            run: RunOptions(commitEvery: 7)
        ).run()
    }

    /// A split that was cut off in the middle of a file's lines goes on, and gives what one that was not gives.
    @Test func aSplitThatIsCutOffGoesOn() throws {
        let folder = try Folder(30)
        let path = try split(folder)
        let manifest = URL(fileURLWithPath: path + "/manifest.ndjson")
        let whole = try Data(contentsOf: manifest)
        let files = folder.directory.names(in: "split")
        let entries = try #require(try ChunkManifest.read(in: ChunkDirectory(path: path, creates: false))).entries
        #expect(entries.contains { $0.part?.offset ?? 0 > 0 })
        for lines in stride(from: 2, to: entries.count, by: 3) {
            let ends = whole.indices.filter { whole[$0] == 0x0A }
            try whole[...(ends[lines] + 9)].write(to: manifest)
            #expect(try split(folder) == path)
            let directory = try ChunkDirectory(path: path, creates: false)
            let again = try #require(try ChunkManifest.read(in: directory)).entries
            #expect(again.map(\.sourceHash) == entries.map(\.sourceHash))
            #expect(again.map(\.firstOrdinal) == entries.map(\.firstOrdinal))
            #expect(try again.allSatisfy { try directory.isIntact($0) })
            try? FileManager.default.removeItem(atPath: path)
            #expect(try split(folder) == path)
            #expect(folder.directory.names(in: "split") == files)
        }
        try importSplit(folder, path)
        try folder.check()
    }

    /// A file that somebody has changed is refused, wherever in it that was.
    @Test(arguments: [0, 1, 2]) func aChangedFileIsRefused(change: Int) throws {
        let folder = try Folder(30)
        let path = try split(folder)
        let file = URL(fileURLWithPath: path + "/chunk-000001.ndjson")
        var bytes = try Data(contentsOf: file)
        switch change {
        case 0: bytes.append(contentsOf: Array(#"{"id":1}"#.utf8) + [0x0A])
        case 1: bytes[bytes.count - 3] ^= 1
        default: bytes.removeLast()
        }
        try bytes.write(to: file)
        let error = #expect(throws: ImportError.self) { try importSplit(folder, path) }
        #expect(error?.reason == .chunkDamaged)
    }

    /// Parts that overlap, leave the file or have another size than their neighbours are not sound.
    @Test(arguments: [
        (#""part":[1,0,"#, #""part":[1,1,"#), (#""part":[1,"#, #""part":[2,"#),
        (#""part":[1,0,"#, #""part":[1,-1,"#), (#""part":[1,0,"#, #""part":[9223372036854775807,9223372036854775807,"#),
    ]) func doubtfulPartsAreNotTaken(part: String, other: String) throws {
        let folder = try Folder(8)
        let path = try split(folder)
        let manifest = path + "/manifest.ndjson"
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        var lines = text.split(separator: "\n").map(String.init)
        #expect(lines[1].contains(part))
        lines[1] = lines[1].replacingOccurrences(of: part, with: other)
        let header = lines[0] + "\n"
        let rest = ManifestText.sealed(lines[1] + "\n")
        try (header + rest).write(toFile: manifest, atomically: false, encoding: .utf8)
        let content = try ChunkManifest.readWhatIsSound(in: ChunkDirectory(path: path, creates: false))
        #expect(content?.entries.isEmpty == true)
        #expect(content?.damage?.line == 2)
    }
}
