import Foundation
import Importer
import Synchronization
import Testing

struct PipedSourceTests {
    let pipe = Pipe()
    let interruption = Interruption()

    var opener: SourceOpener { SourceOpener(standardInput: pipe.fileHandleForReading.fileDescriptor) }
    let input = SourceDescription(name: "-", path: nil, member: nil, size: nil, modified: nil)

    /// Writes to the pipe from another thread, a few bytes at a time, and closes it.
    func feed(_ bytes: [UInt8], by step: Int = 1000) {
        let handle = pipe.fileHandleForWriting
        let thread = Thread {
            for start in stride(from: 0, to: bytes.count, by: step) {
                try? handle.write(contentsOf: bytes[start..<min(start + step, bytes.count)])
            }
            try? handle.close()
        }
        thread.start()
    }

    /// Whoever has read all that was written waits for more, or is about to.
    private func waitUntilAllIsRead() {
        var count: Int32 = 1
        while ioctl(pipe.fileHandleForReading.fileDescriptor, UInt(FIONREAD), &count) == 0, count > 0 { sched_yield() }
    }

    @Test(arguments: [1, 3, 31, 4096]) func readsWhatComesInPieces(size: Int) throws {
        let bytes = sourceLines(50)
        feed(bytes, by: 7)
        let stream = try opener.open(input, interruption: interruption)
        let sample = try stream.peek(limit: 100)
        #expect(sample.bytes == Array(bytes[..<100]))
        #expect(try readWholeStream(stream, blocksOf: size) == bytes)
    }

    @Test func passesOverWhatTheStoreHas() throws {
        let bytes = sourceLines(5000)
        feed(bytes)
        let stream = try opener.open(input, at: 70_001, interruption: interruption)
        #expect(stream.offset == 70_001)
        #expect(try readWholeStream(stream) == Array(bytes[70_001...]))
    }

    @Test func refusesAStreamShorterThanWhatTheStoreHas() throws {
        feed(Array("[1]".utf8))
        let error = #expect(throws: ImportError.self) {
            try opener.open(input, at: 4, interruption: interruption)
        }
        #expect(error?.code == .badInput)
    }

    @Test(arguments: [Interruption.Reason.interrupt, .terminate, .hangup])
    func anInterruptionEndsAReadThatWaits(reason: Interruption.Reason) throws {
        try pipe.fileHandleForWriting.write(contentsOf: [UInt8](repeating: 0x20, count: 1000))
        let stream = try opener.open(input, interruption: interruption)
        let interruption = interruption
        let thread = Thread { [self] in
            waitUntilAllIsRead()
            interruption.request(reason)
        }
        thread.start()
        let error = #expect(throws: ImportError.self) { try readWholeStream(stream) }
        #expect(error?.reason == reason.error)
        try pipe.fileHandleForWriting.close()
    }

    @Test(.enabled(if: SourceFixture.has("gzip"))) func anInterruptionEndsADecompressionThatWaits() throws {
        let fixture = try SourceFixture()
        try fixture.write(sourceLines(5000), as: "a.json")
        try fixture.run("gzip a.json")
        try pipe.fileHandleForWriting.write(contentsOf: fixture.bytes(of: "a.json.gz").prefix(30_000))
        let interruption = interruption
        let thread = Thread { [self] in
            waitUntilAllIsRead()
            interruption.request(.interrupt)
        }
        thread.start()
        let error = #expect(throws: ImportError.self) {
            try readWholeStream(opener.open(input, interruption: interruption))
        }
        #expect(error?.code == .interrupted)
        try pipe.fileHandleForWriting.close()
    }

    @Test(.enabled(if: SourceFixture.has("gzip", "tar"))) func readsCompressedInput() throws {
        let fixture = try SourceFixture()
        let bytes = sourceLines(20_000)
        try fixture.write(bytes, as: "a.json")
        try fixture.run("tar czf a.tar.gz a.json")
        feed(try fixture.bytes(of: "a.tar.gz"))
        #expect(try readWholeStream(opener.open(input, interruption: interruption)) == bytes)
    }

    @Test(.enabled(if: SourceFixture.has("zip"))) func readsAZipFileOfOne() throws {
        let fixture = try SourceFixture()
        let bytes = sourceLines(20_000)
        try fixture.write(bytes, as: "a.json")
        try fixture.run("zip -q a.zip a.json")
        feed(try fixture.bytes(of: "a.zip"))
        #expect(try readWholeStream(opener.open(input, interruption: interruption)) == bytes)
    }

    @Test(.enabled(if: SourceFixture.has("tar"))) func joinsTheMembersOfAnArchive() throws {
        let fixture = try SourceFixture()
        try fixture.write(Array("[1]".utf8), as: "a.json")
        try fixture.write(Array("[2]".utf8), as: "b.json")
        try fixture.run("tar cf a.tar a.json b.json")
        feed(try fixture.bytes(of: "a.tar"))
        let bytes = try readWholeStream(opener.open(input, interruption: interruption))
        #expect(bytes == Array("[1]\n[2]".utf8))
    }

    @Test(.enabled(if: SourceFixture.has("mkfifo"))) func readsANamedPipeOnce() throws {
        let fixture = try SourceFixture()
        try fixture.run("mkfifo fifo")
        let path = fixture.path("fifo")
        let sources = try SourceOpener().describe(path, interruption: interruption)
        #expect(sources == [SourceDescription(name: path, path: nil, member: nil, size: nil, modified: nil)])
        let bytes = sourceLines(3000)
        let writer = Thread { try? Data(bytes).write(to: URL(fileURLWithPath: path), options: []) }
        writer.start()
        #expect(try readWholeStream(SourceOpener().open(sources[0], interruption: interruption)) == bytes)
    }

    @Test func saysThatStandardInputIsClosed() throws {
        let closed = SourceOpener(standardInput: 987)
        let error = #expect(throws: ImportError.self) { try closed.open(input, interruption: interruption) }
        #expect(error?.code == .noInput)
        #expect(error?.message.contains("standard input") == true)
    }
}
