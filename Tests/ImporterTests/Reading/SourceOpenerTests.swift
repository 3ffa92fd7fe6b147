import Foundation
import Importer
import Testing

struct SourceOpenerTests {
    let fixture: SourceFixture
    let opener = SourceOpener()
    let interruption = Interruption()

    init() throws {
        fixture = try SourceFixture()
    }

    func source(_ path: String) throws -> SourceDescription {
        let sources = try opener.describe(path, interruption: interruption)
        return try #require(sources.count == 1 ? sources.first : nil)
    }

    @Test(arguments: Array(1...31) + [4096, 1 << 20])
    func readsAFileInBlocksOfAnySize(size: Int) throws {
        let bytes = sourceLines(300)
        let file = try source(fixture.write(bytes, as: "a.json"))
        let stream = try opener.open(file, interruption: interruption)
        #expect(try readWholeStream(stream, blocksOf: size) == bytes)
        #expect(stream.offset == Int64(bytes.count))
    }

    @Test func describesAFileByItsPathSizeAndTime() throws {
        let path = try fixture.write(Array("[]".utf8), as: "a.json")
        let file = try source(path)
        #expect(file.name == path)
        #expect(file.path == URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        #expect(file.member == nil)
        #expect(file.size == 2)
        #expect((file.modified ?? 0) > 1_500_000_000_000_000_000)
        #expect(file.isRepeatable)
    }

    @Test func describesStandardInputAsNotRepeatable() throws {
        let input = try source("-")
        #expect(input == SourceDescription(name: "-", path: nil, member: nil, size: nil, modified: nil))
        #expect(!input.isRepeatable)
    }

    @Test func saysThatAFileIsMissing() throws {
        let error = #expect(throws: ImportError.self) {
            try opener.describe(fixture.path("none.json"), interruption: interruption)
        }
        #expect(error?.code == .noInput)
        #expect(error?.message.contains("none.json") == true)
        #expect(error?.advice != nil)
    }

    @Test func saysThatADirectoryIsNoSource() throws {
        let error = #expect(throws: ImportError.self) {
            try opener.describe(fixture.directory.path, interruption: interruption)
        }
        #expect(error?.code == .noInput)
        #expect(error?.message.contains("directory") == true)
    }

    @Test(.enabled(if: getuid() != 0)) func saysThatAFileMayNotBeRead() throws {
        let path = try fixture.write([0x5B, 0x5D], as: "secret.json")
        chmod(path, 0)
        let error = #expect(throws: ImportError.self) { try opener.describe(path, interruption: interruption) }
        #expect(error?.code == .noInput)
    }

    @Test func opensAFileAtAnyOffset() throws {
        let bytes = sourceLines(100)
        let file = try source(fixture.write(bytes, as: "a.json"))
        for offset in [0, 1, 77, bytes.count - 1, bytes.count] {
            let stream = try opener.open(file, at: Int64(offset), interruption: interruption)
            #expect(stream.offset == Int64(offset))
            #expect(try readWholeStream(stream) == Array(bytes[offset...]))
        }
    }

    @Test func refusesAnOffsetPastTheEnd() throws {
        let file = try source(fixture.write([0x5B, 0x5D], as: "a.json"))
        let error = #expect(throws: ImportError.self) {
            try opener.open(file, at: 3, interruption: interruption)
        }
        #expect(error?.code == .badInput)
    }

    @Test(arguments: [1, 2, 3, 5, 4096]) func takesOffAByteOrderMarkAndCountsIt(size: Int) throws {
        let path = try fixture.write([0xEF, 0xBB, 0xBF] + Array("[1]".utf8), as: "bom.json")
        let stream = try opener.open(source(path), interruption: interruption)
        #expect(stream.offset == 3)
        #expect(try stream.peek().bytes == Array("[1]".utf8))
        #expect(try readWholeStream(stream, blocksOf: size) == Array("[1]".utf8))
        #expect(stream.offset == 6)
        let again = try opener.open(source(path), at: 4, interruption: interruption)
        #expect(try readWholeStream(again) == Array("1]".utf8))
    }

    @Test func readsAFileThatIsOnlyAByteOrderMarkAsEmpty() throws {
        let path = try fixture.write([0xEF, 0xBB, 0xBF], as: "bom.json")
        let stream = try opener.open(source(path), interruption: interruption)
        #expect(try readWholeStream(stream) == [])
        #expect(stream.offset == 3)
    }

    @Test(arguments: [
        ("UTF-16LE", String.Encoding.utf16LittleEndian, [0xFF, 0xFE] as [UInt8]),
        ("UTF-16BE", .utf16BigEndian, [0xFE, 0xFF]),
        ("UTF-32LE", .utf32LittleEndian, [0xFF, 0xFE, 0, 0]),
        ("UTF-32BE", .utf32BigEndian, [0, 0, 0xFE, 0xFF]),
    ])
    func decodesWideEncodings(name: String, encoding: String.Encoding, mark: [UInt8]) throws {
        let text = try #require("[\"é\"]".data(using: encoding))
        for head in [mark, []] {
            let path = try fixture.write(head + [UInt8](text), as: "wide.json")
            let stream = try opener.open(source(path), interruption: interruption)
            #expect(stream.encoding == name && stream.totalBytes == nil)
            #expect(stream.offset == (head.isEmpty ? 0 : 3))
            #expect(try readWholeStream(stream) == Array("[\"é\"]".utf8))
            // Offsets count the decoded bytes.
            let rest = try opener.open(source(path), at: stream.offset - 2, interruption: interruption)
            #expect(try readWholeStream(rest) == Array("\"]".utf8))
        }
    }

    @Test func decodesWhatIsAskedFor() throws {
        let text = String(repeating: "caf\u{E9} ", count: 50_000)
        var described = try source(fixture.write([UInt8](#require(text.data(using: .isoLatin1))), as: "latin.json"))
        described.encoding = "ISO-8859-1"
        #expect(try readWholeStream(opener.open(described, interruption: interruption)) == Array(text.utf8))
        let rest = try opener.open(described, at: 6, interruption: interruption)
        #expect(try readWholeStream(rest) == Array(text.utf8.dropFirst(6)))
        described.encoding = "WINDOW-1252"
        let error = #expect(throws: ImportError.self) { try opener.open(described, interruption: interruption) }
        #expect(error?.code == .usage && error?.message.contains("did you mean WINDOWS-1252?") == true)
    }

    @Test(arguments: [
        ([0x41, 0x81, 0x20], 1, "is not SHIFT_JIS"), ([0x41, 0x42, 0x83], 2, "ends within a character"),
    ])
    func saysWhereAnEncodingDoesNotHold(bytes: [UInt8], place: Int64, words: String) throws {
        var described = try source(fixture.write(bytes, as: "jis.json"))
        described.encoding = "SHIFT_JIS"
        let stream = try opener.open(described, interruption: interruption)
        let error = #expect(throws: ImportError.self) { try readWholeStream(stream) }
        #expect(error?.code == .badInput && error?.message.contains(words) == true)
        #expect(error?.position?.byteOffset == place)
    }

    @Test func takesShortFilesForUTF8() throws {
        for text in ["", "1", "12", "{}", "[1]"] {
            let stream = try opener.open(
                source(fixture.write(Array(text.utf8), as: "s.json")),
                interruption: interruption
            )
            #expect(try readWholeStream(stream) == Array(text.utf8))
        }
    }

    @Test func givesWhatWasPeekedAgain() throws {
        let bytes = sourceLines(100)
        let file = try source(fixture.write(bytes, as: "a.json"))
        for size in [1, 7, 4096] {
            let stream = try opener.open(file, interruption: interruption)
            let short = try stream.peek(limit: 10)
            #expect(short.bytes == Array(bytes[..<10]))
            #expect(!short.isWhole)
            #expect(try stream.peek(limit: bytes.count - 1).isWhole == false)
            let whole = try stream.peek(limit: bytes.count)
            #expect(whole.bytes == bytes)
            #expect(whole.isWhole)
            #expect(stream.offset == 0)
            #expect(try readWholeStream(stream, blocksOf: size) == bytes)
        }
    }

    @Test func stopsReadingWhenInterrupted() throws {
        let stream = try opener.open(source(fixture.write([0x5B, 0x5D], as: "a.json")), interruption: interruption)
        interruption.request(.terminate)
        let error = #expect(throws: ImportError.self) { try readWholeStream(stream) }
        #expect(error?.code == .terminated)
    }
}
