import Foundation
import Importer
import TestSupport
import Testing

@testable import ImportSources

/// A chunk directory that somebody else has made is input like any other: it can be refused, and do no harm.
struct HostileChunksTests {
    private let directory: TemporaryDirectory
    private let chunks: String

    init() throws {
        directory = try TemporaryDirectory()
        chunks = directory.path("chunks")
        let source = try directory.write(Samples.people(count: 40, seed: 95).array, to: "people.json")
        let split = try runImporter("split", source, "--to", chunks, "--chunk-size", "3K")
        try #require(split.ending == .exit(0), "\(split.errorText)")
        try #require(directory.names(in: "chunks").count > 3)
    }

    private func importing(_ name: String = "store.sqlite") throws -> ChildProcess.Result {
        try runImporter("import", chunks, "--into", directory.path(name), "--entity", "people")
    }

    /// Writes an edited manifest with the checksums that its lines are to have, so that only what they say can be wrong.
    private func write(_ text: String) throws {
        let lines = text.split(separator: "\n").map { line in
            let object = line.replacing(/,"check":"[0-9a-f]{16}"\}/, with: "}")
            return String(decoding: ManifestLine.bytes(Data(object.utf8), reserving: []), as: UTF8.self)
        }
        try Data(lines.joined().utf8).write(to: URL(filePath: chunks + "/manifest.ndjson"))
    }

    private func expectRefusal(_ words: String, code: Int32 = 65) throws {
        let store = directory.path("store.sqlite")
        let result = try importing()
        #expect(result.ending == .exit(code), "\(result.errorText)")
        #expect(result.errorText.contains(words), "\(result.errorText)")
        if FileManager.default.fileExists(atPath: store) { try FileManager.default.removeItem(atPath: store) }
    }

    @Test(arguments: ["manifest.ndjson", "chunk-000001.ndjson"])
    func waitsForNoPipeOrDevice(name: String) throws {
        let file = chunks + "/" + name
        try FileManager.default.removeItem(atPath: file)
        try #require(mkfifo(file, 0o600) == 0)
        try expectRefusal("\(name): is not a regular file")
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/dev/zero")
        try expectRefusal(name, code: 73)
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        try expectRefusal("\(name): is not a regular file")
    }

    @Test(arguments: [100 << 30, 3 << 30, 1 << 20])
    func asksForNoMemoryThatASparseManifestSeemsToNeed(size: Int) throws {
        let lines = try Data(contentsOf: URL(filePath: chunks + "/manifest.ndjson")).count { $0 == 0x0A }
        try #require(truncate(chunks + "/manifest.ndjson", off_t(size)) == 0)
        try expectRefusal(size > 4 << 30 ? "has 107,374,182,400 bytes" : "line \(lines + 1) is not as it was written")
    }

    @Test func asksForNoMemoryThatAnEntryClaims() throws {
        let manifest = URL(filePath: chunks + "/manifest.ndjson")
        let text = try String(contentsOf: manifest, encoding: .utf8)
        for size in [200 << 30, Int.max] {
            let changed = text.replacing(/"bytes":\d+/, with: "\"bytes\":\(size)")
            try write(changed)
            try #require(truncate(chunks + "/chunk-000001.ndjson", off_t(min(size, 200 << 30))) == 0)
            try expectRefusal("line 2 is not as it was written")
        }
        // What a chunk may have, and its file has not.
        let changed = text.replacing(/"bytes":\d+/, with: "\"bytes\":2000000000")
        try write(changed)
        try expectRefusal(".ndjson: is not as it was written", code: 74)
    }

    /// Every digit of every line matters.
    @Test func noticesAChangedDigitInEachLine() throws {
        let manifest = URL(filePath: chunks + "/manifest.ndjson")
        let lines = try Data(contentsOf: manifest).split(separator: 0x0A, omittingEmptySubsequences: false)
            .map(Array.init)
        for index in lines.indices.dropLast() {
            let digits = lines[index].indices.filter { UInt8(ascii: "0")...UInt8(ascii: "9") ~= lines[index][$0] }
            for place in [digits[0], digits[digits.count / 2], digits[digits.count - 1]] {
                var changed = lines
                changed[index][place] = UInt8(ascii: changed[index][place] == UInt8(ascii: "7") ? "4" : "7")
                try Data(changed.joined(separator: [0x0A])).write(to: manifest)
                try expectRefusal("manifest.ndjson: line \(index + 1) is not as it was written")
                // The split itself continues with nothing else.
                let again = try runImporter("split", directory.path("people.json"), "--to", chunks)
                #expect(again.ending == .exit(index == 0 ? 73 : 65), "\(again.errorText)")
            }
        }
    }

    @Test func doesNotTakeALineThatBreaksOffForTheEnd() throws {
        let manifest = URL(filePath: chunks + "/manifest.ndjson")
        let bytes = try Data(contentsOf: manifest)
        let lines = bytes.count { $0 == 0x0A }
        try bytes.dropLast().write(to: manifest)
        try expectRefusal("line \(lines) breaks off")
        // The split continues from there.
        let split = try runImporter("split", directory.path("people.json"), "--to", chunks, "--chunk-size", "3K")
        #expect(split.ending == .exit(0), "\(split.errorText)")
        #expect(try Data(contentsOf: manifest) == bytes)
        #expect(try importing().ending == .exit(0))
    }

    @Test func refusesAPlaceThatIsNotTheEndOfItsChunk() throws {
        let text = try String(contentsOfFile: chunks + "/manifest.ndjson", encoding: .utf8)
        try write(text.replacing(/"byteOffset":(\d)/, with: { "\"byteOffset\":1\($0.output.1)" }))
        try expectRefusal("line 2 is not as it was written")
        try write(text)
        #expect(try importing().ending == .exit(0))
    }
}
