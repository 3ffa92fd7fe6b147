import Foundation
import Testing

@testable import Importer

/// Files of several members, broken ones, and archives one after the other.
struct CompressedMembersTests {
    let fixture: SourceFixture
    let opener = SourceOpener()
    let interruption = Interruption()
    let bytes = sourceLines(3000)

    init() throws {
        fixture = try SourceFixture()
        try fixture.write(bytes, as: "a.json")
        try fixture.write(sourceLines(60_000), as: "large.json")
    }

    static let tools = ["gzip", "zstd", "xz", "bzip2"].filter { SourceFixture.has($0) }

    func read(_ name: String) throws -> (bytes: [UInt8], failure: ImportError?) {
        let source = try #require(opener.describe(fixture.path(name), interruption: interruption).first)
        return readStreamUntilFailure(try opener.open(source, interruption: interruption))
    }

    /// Changes a byte that far from the end.
    func damage(_ name: String, at place: Int) throws {
        var changed = try fixture.bytes(of: name)
        changed[changed.count - place] ^= 0x10
        try fixture.write(changed, as: name)
    }

    @Test(arguments: tools) func membersAreOneStream(tool: String) throws {
        try fixture.run("(\(tool) -c a.json; : | \(tool) -c; \(tool) -c large.json; \(tool) -c a.json) > out")
        let read = try read("out")
        #expect(read.failure == nil)
        #expect(read.bytes == bytes + sourceLines(60_000) + bytes)
    }

    @Test(arguments: tools) func soundMembersBeforeACutOneAreGiven(tool: String) throws {
        try fixture.run("\(tool) -c a.json > one; (cat one; head -c 20 one) > out")
        let read = try read("out")
        #expect(read.bytes.prefix(bytes.count) == bytes[...])
        #expect(read.failure?.code == .badInput)
        #expect(read.failure?.message.contains("ends too early") == true)
    }

    @Test(arguments: tools) func whatFollowsIsSaidAfterTheSoundMembers(tool: String) throws {
        for rest in ["{\"lost\":1}", "x", "\\0\\0\\0\\0{}"] {
            try fixture.run("(\(tool) -c a.json; printf '\(rest)') > out")
            let read = try read("out")
            #expect(read.bytes == bytes)
            #expect(read.failure?.code == .badInput)
        }
    }

    @Test(arguments: tools) func zeroesMayFollow(tool: String) throws {
        try fixture.run("(\(tool) -c a.json; head -c 2000 /dev/zero) > out")
        let read = try read("out")
        #expect(read.bytes == bytes)
        #expect(read.failure == nil)
    }

    @Test(.enabled(if: SourceFixture.has("gzip"))) func aCutSmallGzipFileGivesWhatStandsBefore() throws {
        try fixture.run("gzip -c a.json | head -c -30 > cut; gzip -dc cut > plain || true")
        let read = try read("cut")
        #expect(read.bytes == (try fixture.bytes(of: "plain")))
        #expect(read.bytes.count > bytes.count * 9 / 10)
        #expect(read.failure?.code == .badInput)
    }

    /// The checksum stands 8 bytes before the end, the length 4.
    @Test(.enabled(if: SourceFixture.has("gzip")), arguments: [8, 4])
    func everyMemberIsCheckedBeforeItIsGiven(place: Int) throws {
        try fixture.run("gzip -c a.json > good; gzip -c a.json > bad")
        try damage("bad", at: place)
        // As many as to have the bad one begin anywhere in a block.
        for before in 1...6 {
            let good = String(repeating: "good ", count: before)
            try fixture.run("cat \(good) bad good > out")
            let read = try read("out")
            #expect(read.bytes.count == bytes.count * before)
            #expect(read.failure?.message.contains("checksum") == true)
        }
        try fixture.run("cat bad good > out")
        #expect(try self.read("out").bytes == [])
    }

    @Test(.enabled(if: SourceFixture.has("gzip"))) func aLargeMemberIsCheckedAtItsEnd() throws {
        try fixture.run("gzip -c large.json > out; gzip -c a.json > good")
        try damage("out", at: 8)
        try fixture.run("cat good >> out")
        let read = try read("out")
        #expect(read.bytes.count <= sourceLines(60_000).count)
        #expect(read.failure?.message.contains("checksum") == true)
        // A resume passes over what it has, and meets it as well.
        let source = try #require(opener.describe(fixture.path("out"), interruption: interruption).first)
        let again = readStreamUntilFailure(try opener.open(source, at: 1000, interruption: interruption))
        #expect(again.failure?.message.contains("checksum") == true)
    }

    @Test func whatIsCompressedTwiceIsRead() throws {
        try fixture.run("gzip -c a.json | gzip -c > out")
        #expect(try read("out").bytes == bytes)
    }

    @Test(.enabled(if: SourceFixture.has("tar", "gzip")), arguments: ["cat", "gzip", "members"])
    func tarsOneAfterTheOtherAreAllRead(how: String) throws {
        try fixture.run("tar cf 1.tar a.json; tar cf 2.tar large.json")
        switch how {
        case "cat": try fixture.run("cat 1.tar 2.tar > out")
        case "gzip": try fixture.run("cat 1.tar 2.tar | gzip > out")
        default: try fixture.run("gzip 1.tar; gzip 2.tar; cat 1.tar.gz 2.tar.gz > out")
        }
        let sources = try opener.describe(fixture.path("out"), interruption: interruption)
        #expect(sources.map(\.member) == ["a.json", "large.json"])
        let read = try sources.map { try readWholeStream(opener.open($0, interruption: interruption)) }
        #expect(read == [bytes, sourceLines(60_000)])
    }

    @Test(.enabled(if: SourceFixture.has("tar"))) func theOldestTarIsKnown() throws {
        try fixture.run("tar --format=v7 -cf out a.json")
        #expect(try read("out").bytes == bytes)
    }

    @Test(.enabled(if: SourceFixture.has("tar"))) func linksAreNamed() throws {
        try fixture.run("ln a.json hard.json; ln -s a.json soft.json; tar cf out a.json hard.json soft.json")
        var said: [MessageText] = []
        let sources = try opener.describe(fixture.path("out"), interruption: interruption) { said.append($0) }
        #expect(sources.map(\.member) == ["a.json"])
        #expect(said.count == 1)
        #expect(said.first?.description.hasSuffix("are left out, 2: hard.json, soft.json") == true)
    }

    static let foreign: [(String, [UInt8])] = [
        ("7z", [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]), ("rar", [0x52, 0x61, 0x72, 0x21, 0x1A, 0x07]),
        ("lz4", [0x04, 0x22, 0x4D, 0x18]), (".Z", [0x1F, 0x9D]), ("lzma", [0x5D, 0, 0, 0x80, 0]),
    ]

    @Test(arguments: foreign) func whatIsNotReadIsNamed(name: String, mark: [UInt8]) throws {
        try fixture.write(mark + Array("and more".utf8), as: "out")
        let source = try #require(opener.describe(fixture.path("out"), interruption: interruption).first)
        let error = #expect(throws: ImportError.self) { try opener.open(source, interruption: interruption) }
        #expect(error?.code == .badInput)
        #expect(error?.message.contains(name) == true)
        #expect(error?.advice?.description.hasPrefix("Decompress it first") == true)
    }
}
