import Foundation
import Importer
import Testing

struct CompressedSourceTests {
    let fixture: SourceFixture
    let opener = SourceOpener()
    let interruption = Interruption()
    let bytes = sourceLines(12_000)

    init() throws {
        fixture = try SourceFixture()
        try fixture.write(bytes, as: "a.json")
    }

    func sources(_ name: String) throws -> [SourceDescription] {
        try opener.describe(fixture.path(name), interruption: interruption)
    }

    func read(_ source: SourceDescription, at offset: Int64 = 0, blocksOf size: Int = 65_536) throws -> [UInt8] {
        try readWholeStream(opener.open(source, at: offset, interruption: interruption), blocksOf: size)
    }

    /// Every kind, made by the tools of this machine; a kind whose tool is missing is left out.
    static let commands: [String: String] = [
        "gzip": "gzip -c a.json > out", "zstd": "zstd -q -c a.json > out", "xz": "xz -0 -c a.json > out",
        "bzip2": "bzip2 -c a.json > out", "zip": "zip -q out.zip a.json && mv out.zip out", "tar": "tar cf out a.json",
    ]

    static var kinds: [String] { commands.keys.filter { SourceFixture.has($0) }.sorted() }

    @Test(arguments: kinds) func readsEveryKindWhateverItsName(kind: String) throws {
        try fixture.run(try #require(Self.commands[kind]))
        let found = try sources("out")
        let member = ["zip", "tar"].contains(kind) ? "a.json" : nil
        #expect(found.map(\.name) == [fixture.path("out") + (member.map { ":\($0)" } ?? "")])
        #expect(found.map(\.member) == [member])
        #expect(try read(found[0]) == bytes)
        #expect(try read(found[0], blocksOf: 31) == bytes)
    }

    @Test(arguments: kinds) func opensEveryKindInTheMiddle(kind: String) throws {
        try fixture.run(try #require(Self.commands[kind]))
        let source = try #require(sources("out").first)
        for offset in [1, 262_144, 300_001, bytes.count] {
            let stream = try opener.open(source, at: Int64(offset), interruption: interruption)
            #expect(stream.offset == Int64(offset))
            #expect(try readWholeStream(stream) == Array(bytes[offset...]))
        }
        #expect(throws: ImportError.self) { try read(source, at: Int64(bytes.count) + 1) }
    }

    @Test(arguments: kinds) func aTruncatedSourceGivesWhatStandsBeforeAndThenFails(kind: String) throws {
        try fixture.run(try #require(Self.commands[kind]))
        let whole = try fixture.bytes(of: "out")
        try fixture.write(Array(whole[..<(whole.count * 2 / 3)]), as: "cut")
        // zip and tar are listed when they are described; a broken one fails there, or when it is read.
        do {
            let source = try #require(sources("cut").first)
            let (read, error) = readStreamUntilFailure(try opener.open(source, interruption: interruption))
            #expect(error?.code == .badInput)
            #expect(error?.message.contains("cut") == true)
            #expect(error?.message.contains("\(read.count) decompressed bytes") == true)
            #expect(error?.advice != nil)
            #expect(read.elementsEqual(bytes[..<read.count]))
            if kind != "bzip2" { #expect(read.count > 0) }
        } catch let error as ImportError {
            #expect(kind == "zip" || kind == "tar")
            #expect(error.code == .badInput)
        }
    }

    @Test(.enabled(if: SourceFixture.has("gzip"))) func concatenatedGzipMembersAreOneStream() throws {
        try fixture.run("(gzip -c a.json; gzip -c a.json) > out.gz")
        let source = try #require(sources("out.gz").first)
        #expect(try read(source) == bytes + bytes)
    }

    @Test(.enabled(if: SourceFixture.has("gzip"))) func bytesThatFollowAGzipMemberAreNotLost() throws {
        try fixture.run("(gzip -c a.json; printf '{\"lost\":1}') > out.gz")
        let source = try #require(sources("out.gz").first)
        let (read, error) = readStreamUntilFailure(try opener.open(source, interruption: interruption))
        #expect(read == bytes)
        #expect(error?.code == .badInput)
    }

    @Test(.enabled(if: SourceFixture.has("gzip"))) func zeroesThatPadAGzipFileAreNothing() throws {
        try fixture.run("(gzip -c a.json; head -c 2000 /dev/zero) > out.gz")
        #expect(try read(try #require(sources("out.gz").first)) == bytes)
    }

    @Test(.enabled(if: SourceFixture.has("gzip"))) func aChangedByteInAGzipFileIsDamage() throws {
        try fixture.run("gzip -c a.json > out.gz")
        var damaged = try fixture.bytes(of: "out.gz")
        damaged[damaged.count - 6] ^= 1
        try fixture.write(damaged, as: "out.gz")
        let source = try #require(sources("out.gz").first)
        let (_, error) = readStreamUntilFailure(try opener.open(source, interruption: interruption))
        #expect(error?.code == .badInput)
    }

    @Test(.enabled(if: SourceFixture.has("bzip2"))) func bytesThatFollowABzip2FileAreNotLost() throws {
        try fixture.run("(bzip2 -c a.json; printf '{\"lost\":1}') > out")
        let source = try #require(sources("out").first)
        let (read, error) = readStreamUntilFailure(try opener.open(source, interruption: interruption))
        #expect(read == bytes)
        #expect(error?.code == .badInput)
    }

    @Test(.enabled(if: SourceFixture.has("gzip"))) func anEmptyCompressedFileIsEmpty() throws {
        try fixture.run(": | gzip > empty.gz")
        let stream = try opener.open(try #require(sources("empty.gz").first), interruption: interruption)
        #expect(try stream.peek().isWhole)
        #expect(try readWholeStream(stream) == [])
    }

    @Test func aGzipMarkAloneIsDamage() throws {
        try fixture.write([0x1F, 0x8B, 0x08], as: "mark.gz")
        #expect(throws: ImportError.self) {
            try read(try #require(sources("mark.gz").first))
        }
        try fixture.write([0x1F, 0x8B] + Array("plain text".utf8), as: "mark.gz")
        #expect(throws: ImportError.self) {
            try read(try #require(sources("mark.gz").first))
        }
    }

    @Test func plainJSONIsNeverTakenForAnArchive() throws {
        for text in ["PK", "BZh", "[\"PK\u{3}\u{4}\"]", "{\"ustar\":1}"] {
            try fixture.write(Array(text.utf8), as: "plain.json")
            #expect(try read(try #require(sources("plain.json").first)) == Array(text.utf8))
        }
    }

    @Test(.enabled(if: SourceFixture.has("gzip"))) func takesAByteOrderMarkOffCompressedText() throws {
        try fixture.write([0xEF, 0xBB, 0xBF] + Array("[1]".utf8), as: "bom.json")
        try fixture.run("gzip bom.json")
        let stream = try opener.open(try #require(sources("bom.json.gz").first), interruption: interruption)
        #expect(stream.offset == 3)
        #expect(try readWholeStream(stream) == Array("[1]".utf8))
    }
}

struct ArchiveSourceTests {
    let fixture: SourceFixture
    let opener = SourceOpener()
    let interruption = Interruption()

    init() throws {
        fixture = try SourceFixture()
        try fixture.write(sourceLines(3000), as: "b.json")
        try fixture.write(Array("[1]".utf8), as: "a.json")
        try fixture.write(Array("[2,2]".utf8), as: "dir/ü.json")
    }

    static let commands: [String: String] = [
        "tar": "tar cf out b.json a.json dir", "gzip": "tar czf out b.json a.json dir",
        "zip": "zip -q -r out.zip b.json a.json dir && mv out.zip out", "xz": "tar cJf out b.json a.json dir",
        "bzip2": "tar cjf out b.json a.json dir", "zstd": "tar --zstd -cf out b.json a.json dir",
    ]

    static var kinds: [String] { commands.keys.filter { SourceFixture.has($0, "tar") }.sorted() }

    @Test(arguments: kinds) func everyFileIsASourceInTheArchivesOrder(kind: String) throws {
        try fixture.run(try #require(Self.commands[kind]))
        let path = fixture.path("out")
        let sources = try opener.describe(path, interruption: interruption)
        #expect(sources.map(\.member) == ["b.json", "a.json", "dir/ü.json"])
        #expect(sources.map(\.name) == ["\(path):b.json", "\(path):a.json", "\(path):dir/ü.json"])
        #expect(Set(sources.map(\.path)).count == 1)
        let read = try sources.map { try readWholeStream(opener.open($0, interruption: interruption)) }
        #expect(read == [sourceLines(3000), Array("[1]".utf8), Array("[2,2]".utf8)])
        #expect(try readWholeStream(opener.open(sources[2], at: 3, interruption: interruption)) == Array("2]".utf8))
    }

    @Test(.enabled(if: SourceFixture.has("zip"))) func whatMacOSAddsIsNoSource() throws {
        try fixture.write([0, 5, 22, 7], as: "__MACOSX/._a.json")
        try fixture.run("zip -q out.zip a.json __MACOSX/._a.json")
        let sources = try opener.describe(fixture.path("out.zip"), interruption: interruption)
        #expect(sources.map(\.member) == ["a.json"])
        #expect(try readWholeStream(opener.open(sources[0], interruption: interruption)) == Array("[1]".utf8))
    }

    @Test(.enabled(if: SourceFixture.has("zip"))) func anEncryptedArchiveIsRefused() throws {
        try fixture.run("zip -q -P secret out.zip b.json")
        let source = try #require(opener.describe(fixture.path("out.zip"), interruption: interruption).first)
        let error = #expect(throws: ImportError.self) {
            try readWholeStream(opener.open(source, interruption: interruption))
        }
        #expect(error?.code == .badInput)
        #expect(error?.message.contains("encrypted") == true)
    }

    @Test(.enabled(if: SourceFixture.has("tar"))) func aMemberThatIsGoneIsNoInput() throws {
        try fixture.run("tar cf out b.json a.json")
        let sources = try opener.describe(fixture.path("out"), interruption: interruption)
        try fixture.run("tar cf out b.json")
        let error = #expect(throws: ImportError.self) {
            try readWholeStream(opener.open(sources[1], interruption: interruption))
        }
        #expect(error?.code == .noInput)
    }

    @Test(.enabled(if: SourceFixture.has("tar"))) func aMemberThatStandsTwiceIsRefused() throws {
        try fixture.run("tar cf out a.json b.json && tar rf out a.json")
        let error = #expect(throws: ImportError.self) {
            try opener.describe(fixture.path("out"), interruption: interruption)
        }
        #expect(error?.code == .badInput)
        #expect(error?.message.contains("a.json") == true)
    }

    @Test(.enabled(if: SourceFixture.has("tar"))) func anArchiveWithoutFilesIsRefused() throws {
        try fixture.run("mkdir empty && tar cf out empty")
        let error = #expect(throws: ImportError.self) {
            try opener.describe(fixture.path("out"), interruption: interruption)
        }
        #expect(error?.code == .badInput)
    }

    @Test(.enabled(if: SourceFixture.has("tar"))) func aStreamThatIsDroppedEarlyHoldsNothingUp() throws {
        try fixture.run("tar czf out b.json a.json")
        let sources = try opener.describe(fixture.path("out"), interruption: interruption)
        for _ in 0..<20 {
            let stream = try opener.open(sources[0], interruption: interruption)
            #expect(try stream.peek(limit: 10).bytes.count == 10)
        }
    }
}
