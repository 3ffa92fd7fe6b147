import Foundation
import ImportSources
import TestSupport
import Testing

struct SourceListingTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory.path("f/sub/.git"),
            withIntermediateDirectories: true
        )
        for name in ["b.json", "a.json", "B.json", "notes.txt", ".hidden.json", "sub/c.ndjson.gz", "sub/.git/x.json"] {
            try directory.write("[1]", to: "f/\(name)")
        }
    }

    private func list(
        _ arguments: [String],
        include: [String]? = nil,
        exclude: [String]? = nil,
        _ announce: (MessageText) -> Void = { _ in }
    ) throws -> [String] {
        let selection = SourceSelection(include: include, exclude: exclude)
        let listing = try SourceListing(
            arguments.map { $0 == "-" ? $0 : directory.path($0) },
            selection,
            SourceOpener(),
            Interruption(),
            announce
        )
        return listing.sources.map { $0.name.replacing(directory.path + "/", with: "") }
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: directory.path(name), withDestinationPath: target)
    }

    @Test func aFolderHasItsDataFilesInTheOrderOfTheirBytes() throws {
        var said: [MessageText] = []
        #expect(try list(["f/"]) { said.append($0) } == ["f/B.json", "f/a.json", "f/b.json", "f/sub/c.ndjson.gz"])
        #expect(
            said.map(\.description) == ["\(directory.path)/f/: 3 files left out: .hidden.json, notes.txt, sub/.git/"]
        )
    }

    @Test func globsChooseOtherFiles() throws {
        #expect(try list(["f"], include: ["*.txt", "sub/*"]) == ["f/notes.txt", "f/sub/c.ndjson.gz"])
        #expect(try list(["f"], exclude: ["sub/*", "[A-Z]*"]) == ["f/a.json", "f/b.json"])
    }

    @Test func aPatternMatchesWhateverFilesAreCalled() throws {
        #expect(try list(["f/*"]) == ["f/B.json", "f/a.json", "f/b.json", "f/notes.txt"])
        #expect(try list(["f/**/*.{ndjson.gz,txt}"]) == ["f/notes.txt", "f/sub/c.ndjson.gz"])
        #expect(try list(["f/[ab].json"], exclude: ["b.*"]) == ["f/a.json"])
    }

    @Test func aFileOfAPatternsNameIsThatFile() throws {
        try directory.write("[1]", to: "f/[ab].json")
        #expect(try list(["f/[ab].json"]) == ["f/[ab].json"])
    }

    @Test func linksToFilesAreFollowedAndThoseToFoldersAreNot() throws {
        try directory.write("[2]", to: "other")
        try link("f/l.json", to: "../other")
        try link("f/latest.json", to: "b.json")
        try link("f/z", to: "sub")
        #expect(try list(["f/*.json"]) == ["f/B.json", "f/a.json", "f/b.json", "f/l.json"])
        #expect(try list(["f"]).contains("f/z/c.ndjson.gz") == false)
        #expect(try list(["f/z"]) == ["f/z/c.ndjson.gz"])
    }

    @Test func aLinkThatLeadsNowhereIsNamed() throws {
        try link("f/l.json", to: "nowhere")
        let error = #expect(throws: ImportError.self) { try list(["f"]) }
        #expect(error?.code == .noInput && error?.message.contains("f/l.json: is a link that leads nowhere") == true)
        #expect(try list(["f"], exclude: ["l.json"]).count == 4)
    }

    @Test(arguments: ["empty", "texts", "f/*.csv", "none.json", "none/*"])
    func whatHasNoSourceIsRefusedByName(name: String) throws {
        for folder in ["empty", "texts"] {
            try FileManager.default.createDirectory(atPath: directory.path(folder), withIntermediateDirectories: false)
        }
        try directory.write("no", to: "texts/readme.md")
        let error = #expect(throws: ImportError.self) { try list([name]) }
        #expect(error?.code == .noInput && error?.message.contains(name) == true)
        if name == "texts" { #expect(error?.message.contains("readme.md") == true) }
    }

    /// `String` takes them for equal, the system does not.
    @Test func filesWhoseNamesLookAlikeAreTwo() throws {
        try FileManager.default.createDirectory(atPath: directory.path("g"), withIntermediateDirectories: false)
        for name in ["g/caf\u{E9}.json", "g/cafe\u{301}.json"] { try directory.write("[1]", to: name) }
        #expect(try list(["g"]).map(\.utf8.count) == [13, 12])
        #expect(try list(["g/*"]).count == 2)
    }

    /// What is known of files keeps them from being looked into, and nothing else.
    @Test func whatIsKnownIsNotLookedInto() throws {
        var asked: [[String]] = []
        var known: [SourceDescription?] = []
        let listing = try SourceListing(
            [directory.path("f/a.json"), directory.path("f")],
            SourceSelection(),
            SourceOpener(),
            Interruption(),
            known: { files in
                asked.append(files.map { URL(filePath: $0.name).lastPathComponent })
                known = files.map { $0.name.hasSuffix("b.json") ? $0 : nil }
                known[3]?.isCompressed = true
                return known
            },
            { _ in }
        )
        #expect(asked == [["a.json", "B.json", "a.json", "b.json", "c.ndjson.gz"]])
        #expect(listing.sources.map(\.isCompressed) == [false, false, true, false])
    }

    @Test func aFileOfAFolderThatIsAlsoGivenByItselfIsOneSource() throws {
        #expect(try list(["f/b.json", "f"]) == ["f/b.json", "f/B.json", "f/a.json", "f/sub/c.ndjson.gz"])
    }

    @Test func aListNamesItsLineThatLeadsNowhere() throws {
        let text = "\(directory.path("f/a.json"))\n\n\(directory.path("f/none.json"))\n"
        let list = try directory.write(text, to: "list")
        let error = #expect(throws: ImportError.self) { try SourceList.sources(in: list) }
        #expect(error?.code == .noInput && error?.message.contains("line 3") == true)
        let nulls = try directory.write("\(directory.path("f/a.json"))\0\(directory.path("f/*.txt"))\0", to: "nulls")
        #expect(
            try SourceList.sources(in: nulls, isNull: true) == [directory.path("f/a.json"), directory.path("f/*.txt")]
        )
    }
}
