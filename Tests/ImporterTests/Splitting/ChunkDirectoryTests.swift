import Foundation
import Testing

@testable import Importer

struct ChunkDirectoryTests {
    private let temporary = ChunkPlace()

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
        // Shorter and longer ones: nothing of what stood there is left.
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
        try directory.removeAll()
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

    @Test func removesWhatAKilledImportLeft() throws {
        var directory: ChunkDirectory? = try ChunkDirectory(path: temporary.path, creates: true)
        for number in 1...3 { try directory.map { try write("chunk \(number)\n", chunk: number, in: $0) } }
        try directory?.remove(chunk: 1)
        directory = nil
        try "mine".write(toFile: temporary.path + "/mine.partial", atomically: false, encoding: .utf8)
        try ChunkDirectory(path: temporary.path, creates: false).removePartialChunks()
        #expect(try names() == [ChunkDirectory.fileName(2), ChunkDirectory.fileName(3), "mine.partial"])
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
        #expect(throws: ImportError.self) { try write("two\n", chunk: 2, in: directory) }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "mine")
    }
}
