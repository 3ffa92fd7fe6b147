import Foundation
import Importer
import Testing

struct ChunkDirectoryTests {
    private let temporary = ChunkDirectoryCheck()

    private func write(_ text: String, chunk number: Int, in directory: ChunkDirectory) throws {
        try Array(text.utf8).withUnsafeBytes {
            try directory.write($0, to: ChunkDirectory.fileName(number), synced: false)
        }
    }

    private func text(_ number: Int) throws -> String {
        try String(contentsOfFile: temporary.path + "/" + ChunkDirectory.fileName(number), encoding: .utf8)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: temporary.path).sorted()
    }

    private func fileNumber(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: temporary.path + "/" + name)
        return (attributes[.systemFileNumber] as? NSNumber)?.intValue
    }

    @Test func writesOverTheFileOfAChunkThatIsDoneWith() throws {
        let directory = try ChunkDirectory(path: temporary.path, creates: true)
        try write("a long first chunk\n", chunk: 1, in: directory)
        let file = try fileNumber(ChunkDirectory.fileName(1))
        try directory.remove(chunk: 1)
        #expect(try !names().contains(ChunkDirectory.fileName(1)))
        // Shorter and longer ones: nothing of what was there is left.
        try write("short\n", chunk: 2, in: directory)
        #expect(try text(2) == "short\n")
        #expect(try fileNumber(ChunkDirectory.fileName(2)) == file)
        try directory.remove(chunk: 2)
        try write("a third chunk that is longer\n", chunk: 3, in: directory)
        #expect(try text(3) == "a third chunk that is longer\n")
        #expect(try names() == [ChunkDirectory.fileName(3)])
    }

    @Test func keepsFewFilesToBeWrittenOver() throws {
        let directory = try ChunkDirectory(path: temporary.path, creates: true)
        for number in 1...20 { try write("chunk \(number)\n", chunk: number, in: directory) }
        for number in 1...20 { try directory.remove(chunk: number) }
        #expect(try names().count < 6)
        #expect(try names().allSatisfy { $0.hasSuffix(".partial") })
        try directory.remove(chunk: 21)
        var numbers = ReservedChunkNumbers()
        _ = numbers.append(1...20)
        try directory.removeChunks(numbers)
        directory.removeIfEmpty()
        #expect(!FileManager.default.fileExists(atPath: temporary.path))
    }

    @Test func leavesNothingWhenNoMoreIsWritten() throws {
        let directory = try ChunkDirectory(path: temporary.path, creates: true)
        for number in 1...3 { try write("chunk \(number)\n", chunk: number, in: directory) }
        try directory.remove(chunk: 1)
        directory.endWriting()
        try directory.remove(chunk: 2)
        #expect(try names() == [ChunkDirectory.fileName(3)])
    }

    @Test func removesNoFileWhoseNameIsNotReserved() throws {
        var directory: ChunkDirectory? = try ChunkDirectory(path: temporary.path, creates: true)
        for number in 1...4 { try directory.map { try write("chunk \(number)\n", chunk: number, in: $0) } }
        try directory?.remove(chunk: 1)
        directory = nil
        let others = [
            "chunk-000007.ndjson", "chunk-000008.ndjson.partial", "chunk-1.ndjson", "chunk-000003.ndjson.gz",
            "chunk-+00003.ndjson", "chunk-.ndjson", "manifest.ndjson", "mine.partial",
        ]
        for name in others { try "mine".write(toFile: temporary.path + "/" + name, atomically: false, encoding: .utf8) }
        var numbers = ReservedChunkNumbers()
        _ = numbers.append(1...3)
        _ = numbers.append(5...6)
        try ChunkDirectory(path: temporary.path, creates: false).removeChunks(numbers, keeping: [2])
        #expect(try names() == (others + ["chunk-000002.ndjson", "chunk-000004.ndjson"]).sorted())
    }

    @Test func writesOverNoFileOfOthers() throws {
        let directory = try ChunkDirectory(path: temporary.path, creates: true)
        for name in ["chunk-000001.ndjson", "chunk-000002.ndjson.partial"] {
            try "mine".write(toFile: temporary.path + "/" + name, atomically: false, encoding: .utf8)
        }
        for number in 1...2 {
            let error = #expect(throws: ImportError.self) { try write("chunk\n", chunk: number, in: directory) }
            #expect(error?.code == .cannotCreate)
        }
        #expect(try names() == ["chunk-000001.ndjson", "chunk-000002.ndjson.partial"])
        #expect(try text(1) == "mine")
    }

    /// A hard link to a chunk is somebody's copy of it.
    @Test func writesOverNoFileThatHasAnotherName() throws {
        let directory = try ChunkDirectory(path: temporary.path, creates: true)
        try write("one\n", chunk: 1, in: directory)
        try #require(link(temporary.path + "/chunk-000001.ndjson", temporary.path + "/copy") == 0)
        try directory.remove(chunk: 1)
        try write("two\n", chunk: 2, in: directory)
        #expect(try String(contentsOfFile: temporary.path + "/copy", encoding: .utf8) == "one\n")
        #expect(try text(2) == "two\n")
    }

    @Test func doesNotWriteThroughALinkThatTookTheFilesPlace() throws {
        let directory = try ChunkDirectory(path: temporary.path, creates: true)
        try write("one\n", chunk: 1, in: directory)
        try directory.remove(chunk: 1)
        let spare = try #require(try names().first)
        let target = temporary.path + "/target"
        try "mine".write(toFile: target, atomically: false, encoding: .utf8)
        try FileManager.default.removeItem(atPath: temporary.path + "/" + spare)
        try FileManager.default.createSymbolicLink(atPath: temporary.path + "/" + spare, withDestinationPath: target)
        try write("two\n", chunk: 2, in: directory)
        #expect(try text(2) == "two\n")
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
        #expect(try names().contains(spare))
    }
}
