import Foundation
import TestSupport
import Testing

@testable import Importer

/// What `watch` reads of a manifest: whole lines that are as they were written, and nothing after one that is not.
struct ManifestTailTests {
    private let directory: TemporaryDirectory
    private let manifest: URL
    /// As `split` has written it.
    private let content: Data
    /// Where its lines end.
    private let ends: [Int]

    init() throws {
        directory = try TemporaryDirectory()
        let source = try directory.write(
            (1...60).map { "{\"id\":\($0)}\n" }.joined(),
            to: "items.ndjson"
        )
        let chunks = directory.path("chunks")
        _ = try ImportPipeline.split(
            sources: [source],
            to: chunks,
            job: JobOptions(),
            run: RunOptions(chunkSize: 100),
            progress: ImportProgress(),
            interruption: Interruption()
        )
        manifest = URL(filePath: chunks + "/" + ChunkManifest.fileName)
        let content = try Data(contentsOf: manifest)
        self.content = content
        ends = content.indices.filter { content[$0] == 0x0A }.map { $0 + 1 }
        try #require(ends.count > 4)
    }

    private func tail() -> ManifestTail { ManifestTail(directory: directory.path("chunks"), token: nil) }

    /// The records of the chunks that the first lines name, read by other means.
    private func records(in bytes: Int) throws -> Int64 {
        try content[..<bytes].split(separator: 0x0A).dropFirst().reduce(0) { sum, line in
            let entry = try JSONSerialization.jsonObject(with: line) as? [String: Any]
            return sum + Int64(try #require(entry?["records"] as? Int))
        }
    }

    /// Cut off anywhere, it has the lines that are whole; what is added later is read from there on.
    @Test func countsTheLinesThatAreWholeWhereverItBreaksOff() throws {
        for length in 0...content.count {
            try content[..<length].write(to: manifest)
            var tail = tail()
            tail.update()
            let whole = ends.last { $0 <= length } ?? 0
            let expected = try records(in: whole)
            #expect(tail.records == expected, "\(length) bytes")
            try content.write(to: manifest)
            // Another inode or the same: it is read on, or again.
            tail.update()
            #expect(tail.records == 60, "\(length) bytes")
            #expect(tail.source?.records == 60)
        }
    }

    /// The lines that were appended to the same file while it was looked at.
    @Test func readsOnWhereItsFileGrows() throws {
        try content[..<ends[0]].write(to: manifest)
        let handle = try FileHandle(forWritingTo: manifest)
        defer { try? handle.close() }
        try handle.seekToEnd()
        var tail = tail()
        for byte in content[ends[0]...].indices {
            try handle.write(contentsOf: content[byte...byte])
            tail.update()
            #expect(try tail.records == records(in: ends.last { $0 <= byte + 1 } ?? 0))
        }
        #expect(tail.records == 60)
    }

    /// What follows is not counted, be it a line like the others.
    @Test(arguments: [
        "x\n", "{}\n", "\n", "\0\0\0\n", #"{"firstByte":0,"endByte":9,"records":1000}"# + "\n",
        #"{"firstByte":0,"endByte":9,"records":1000,"check":"0000000000000000"}"# + "\n",
    ])
    func endsAtALineThatIsNotAsItWasWritten(garbage: String) throws {
        let middle = ends[ends.count / 2]
        try (content[..<middle] + Data(garbage.utf8) + content[middle...]).write(to: manifest)
        var tail = tail()
        tail.update()
        #expect(try tail.records == records(in: middle))
        try (content + Data(garbage.utf8)).write(to: manifest)
        tail = self.tail()
        tail.update()
        #expect(tail.records == 60)
    }

    @Test func endsAtALineWithAnotherFigure() throws {
        for line in 1..<ends.count {
            let start = ends[line - 1]
            for digit in (start..<ends[line]).filter({ (0x30...0x39).contains(content[$0]) }) {
                var changed = content
                changed[digit] = content[digit] == 0x39 ? 0x38 : content[digit] + 1
                try changed.write(to: manifest)
                var tail = tail()
                tail.update()
                #expect(try tail.records == records(in: start), "byte \(digit)")
            }
        }
    }

    /// One of another job, or one whose first line is not sound, counts nothing.
    @Test func countsNothingUnderAnotherHeader() throws {
        var other = ManifestTail(directory: directory.path("chunks"), token: "x")
        other.update()
        #expect(other.records == 0)
        var changed = content
        let digit = try #require(content[..<ends[0]].lastIndex { (0x30...0x39).contains($0) })
        changed[digit] = content[digit] == 0x39 ? 0x38 : content[digit] + 1
        try changed.write(to: manifest)
        var tail = tail()
        tail.update()
        #expect(tail.records == 0)
    }
}
