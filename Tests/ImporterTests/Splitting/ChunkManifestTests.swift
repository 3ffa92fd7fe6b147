import Foundation
import Importer
import Testing

@testable import ImportSources

struct ChunkManifestTests {
    private let temporary = ChunkDirectoryCheck()
    private let shape = SourceShape(layout: .stream, paths: ["$[*]"])

    private var header: ChunkManifest.Header {
        ChunkManifest.Header(
            sources: [SourceDescription(name: "a.json", path: "/a.json", member: nil, size: 7, modified: 8)],
            shapes: [shape],
            limits: SplitLimits(maxRecordBytes: 5, maxDepth: 6)
        )
    }

    private func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: temporary.path + name)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
    }

    /// Cuts `[1,2,3]` into three chunks, or until `stop` of them are sealed.
    private func cut(
        _ directory: ChunkDirectory,
        _ manifest: ChunkManifest,
        from start: SplitPosition = .start,
        firstOrdinal: Int64 = 1,
        stop: Int = 9
    ) throws -> SplitOutcome {
        let writer = ChunkWriter(
            directory: directory,
            manifest: manifest,
            chunkSize: 1,
            synced: false
        )
        var sealed = 0
        return try SourceSplitter(
            stream: MemoryStream(Array("[1,2,3]".utf8), from: Int(start.byteOffset)),
            at: start.byteOffset,
            settings: SourceSplitter.Settings(layout: shape.layout, paths: [SplitCase.path("$[*]")]),
            writer: writer,
            start: SplitStart(position: start, firstOrdinal: firstOrdinal)
        ) { _ in
            sealed += 1
            if sealed == stop { throw ImportError(.interrupted, "interrupted") }
        }.run()
    }

    @Test func keepsOthersOut() throws {
        let directory = try ChunkDirectory(path: temporary.path + "/", creates: true)
        _ = try cut(directory, ChunkManifest(creatingIn: directory, header: header, synced: true))
        #expect(try mode("") == 0o700)
        #expect(try mode("/manifest.ndjson") == 0o600)
        #expect(try mode("/chunk-000001.ndjson") == 0o600)
    }

    @Test func goesOnAfterAnInterruptionAndATornLine() throws {
        let directory = try ChunkDirectory(path: temporary.path, creates: true)
        #expect(throws: ImportError.self) {
            _ = try cut(directory, ChunkManifest(creatingIn: directory, header: header, synced: false), stop: 2)
        }
        let whole = try Data(contentsOf: URL(fileURLWithPath: temporary.path + "/manifest.ndjson"))
        for torn in ["", "{\"num", "{}", "{\"number\":3}\n{", "\0\0\0\0"] {
            try (whole + Data(torn.utf8)).write(to: URL(fileURLWithPath: temporary.path + "/manifest.ndjson"))
            let content = try #require(try ChunkManifest.readWhatIsSound(in: directory))
            #expect(content.header == header)
            #expect(content.entries.map(\.number) == [1, 2])
            #expect(content.damage?.line == (torn.isEmpty ? nil : 4))
            #expect(content.damage?.isTorn == (torn.isEmpty ? nil : torn == "{\"num" || torn == "{}"))
            try directory.remove("chunk-000003.ndjson")
            let manifest = try ChunkManifest(resuming: content, in: directory, synced: false)
            #expect(try cut(directory, manifest, from: content.entries[1].end, firstOrdinal: 3) == .finished)
            let all = try #require(try ChunkManifest.read(in: directory)).entries
            #expect(all.map(\.number) == [1, 2, 3])
            #expect(all.last?.isLast == true)
            #expect(try all.allSatisfy { try directory.isIntact($0) })
        }
    }

    @Test func knowsNoManifestWithoutAWholeHeader() throws {
        let directory = try ChunkDirectory(path: temporary.path, creates: true)
        #expect(try ChunkManifest.read(in: directory) == nil)
        for text in ["", "{\"format\":1", "nonsense\n"] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: temporary.path + "/manifest.ndjson"))
            let error = #expect(throws: ImportError.self) { try ChunkManifest.read(in: directory) }
            #expect(error?.message.contains("line 1 ") == true)
            #expect(try ChunkManifest.readWhatIsSound(in: directory) == nil)
        }
        try Data("{\"format\":3}\n".utf8).write(to: URL(fileURLWithPath: temporary.path + "/manifest.ndjson"))
        #expect(throws: ImportError.self) { _ = try ChunkManifest.read(in: directory) }
    }

    @Test func noticesADamagedChunk() throws {
        let directory = try ChunkDirectory(path: temporary.path, creates: true)
        _ = try cut(directory, ChunkManifest(creatingIn: directory, header: header, synced: false))
        let entry = try #require(try ChunkManifest.read(in: directory)?.entries.first)
        let file = URL(fileURLWithPath: temporary.path + "/chunk-000001.ndjson")
        var bytes: [UInt8] = []
        #expect(try directory.read([entry], into: &bytes))
        #expect(bytes == Array("1\n".utf8))
        #expect(try directory.isIntact(entry))
        try Data("2\n".utf8).write(to: file)
        #expect(try !directory.isIntact(entry))
        try Data("1\n1".utf8).write(to: file)
        #expect(try !directory.isIntact(entry))
        try directory.remove(chunk: 1)
        try directory.remove(chunk: 1)
        #expect(try !directory.isIntact(entry))
        #expect(try !directory.read([entry], into: &bytes))
        try directory.removeFiles(#require(try ChunkManifest.readNumbers(in: directory)).numbers)
        directory.removeIfEmpty()
        #expect(!FileManager.default.fileExists(atPath: temporary.path))
    }

    @Test func followsNoSymbolicLink() throws {
        let link = temporary.path + "-link"
        defer { unlink(link) }
        _ = try ChunkDirectory(path: temporary.path, creates: true)
        symlink(temporary.path, link)
        for path in [link, link + "/"] {
            let error = #expect(throws: ImportError.self) { _ = try ChunkDirectory(path: path, creates: true) }
            #expect(error?.code == .cannotCreate)
            #expect(error?.advice?.contains("symbolic link") == true)
        }
        let directory = try ChunkDirectory(path: temporary.path, creates: true)
        let target = ChunkDirectoryCheck()
        try FileManager.default.createDirectory(atPath: target.path, withIntermediateDirectories: true)
        let outside = target.path + "/outside"
        try Data("safe".utf8).write(to: URL(fileURLWithPath: outside))
        for name in [
            "chunk-000001.ndjson", "chunk-000001.ndjson.partial", "manifest.ndjson", "manifest.ndjson.partial",
        ] {
            symlink(outside, temporary.path + "/" + name)
        }
        #expect(throws: ImportError.self) { _ = try ChunkManifest.read(in: directory) }
        for replaces in [false, true] {
            #expect(throws: ImportError.self) {
                _ = try ChunkManifest(creatingIn: directory, header: header, replaces: replaces, synced: false)
            }
        }
        #expect(throws: ImportError.self) {
            try Array("one\n".utf8).withUnsafeBytes {
                try directory.write($0, to: ChunkDirectory.fileName(1), synced: false)
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).count == 4)
        #expect(try String(contentsOfFile: outside, encoding: .utf8) == "safe")
    }

    @Test func saysWhyADirectoryCannotBeUsed() throws {
        let file = temporary.path
        try Data().write(to: URL(fileURLWithPath: file))
        for path in [file, "/nowhere/at/all"] {
            let error = #expect(throws: ImportError.self) { _ = try ChunkDirectory(path: path, creates: true) }
            #expect(error?.code == .cannotCreate)
            #expect(error?.advice != nil)
        }
        #expect(ImportError.system(ENOSPC, "write", "/x").code == .io)
    }
}
