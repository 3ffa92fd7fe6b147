import Foundation
import TestSupport
import Testing

/// Nothing is removed or written over but what the importer has made.
struct FilesOfOthersTests {
    private let directory: TemporaryDirectory
    private let source: String
    private let store: String
    private let model: String

    init() throws {
        directory = try TemporaryDirectory()
        source = try directory.write(Samples.people(count: 300, seed: 81).ndjson, to: "people.ndjson")
        store = directory.path("store.sqlite")
        model = try directory.write(Samples.model(records: "$"), to: "model.json")
    }

    private func make(_ name: String, holding files: [String]) throws {
        try FileManager.default.createDirectory(
            atPath: directory.path(name),
            withIntermediateDirectories: true,
            attributes: nil
        )
        for file in files { try directory.write("precious \(file)", to: "\(name)/\(file)") }
    }

    private func expectUntouched(_ name: String, _ files: [String]) throws {
        #expect(directory.names(in: name) == files.sorted())
        for file in files {
            let path = directory.path("\(name)/\(file)")
            #expect(try String(contentsOf: URL(filePath: path), encoding: .utf8) == "precious \(file)")
        }
    }

    private func importing(_ options: String...) throws -> ChildProcess.Result {
        try run([Project.importer, "import", source, "--into", store, "--model", model] + options)
    }

    /// A split that was killed before its manifest had its name leaves a beginning of it, which is written again.
    @Test func goesOnAfterASplitThatHadBarelyBegun() throws {
        let partial = "s/manifest.ndjson.partial"
        func split() throws -> ChildProcess.Result {
            try run([Project.importer, "split", source, "--to", directory.path("s")])
        }
        try #require(try split().ending == .exit(0))
        let whole = try directory.contents(of: "s")
        let manifest = try #require(whole["manifest.ndjson"])
        let header = manifest.prefix { $0 != UInt8(ascii: "\n") }.count + 1
        for count in [0, 1, header / 2, header - 1, header] {
            try FileManager.default.removeItem(atPath: directory.path("s"))
            try make("s", holding: [])
            try directory.write(manifest.prefix(count), to: partial)
            let result = try split()
            #expect(result.ending == .exit(0), "\(count): \(result.errorText)")
            #expect(try directory.contents(of: "s") == whole, "\(count)")
        }
        // Its manifest has both names.
        try FileManager.default.linkItem(atPath: directory.path("s/manifest.ndjson"), toPath: directory.path(partial))
        #expect(try split().ending == .exit(0))
        #expect(try directory.contents(of: "s") == whole)
        // A byte more or another one is somebody's.
        for foreign in [manifest.prefix(header) + [0x0A], manifest.prefix(header / 2) + [0x00]] {
            try FileManager.default.removeItem(atPath: directory.path("s"))
            try make("s", holding: [])
            try directory.write(foreign, to: partial)
            #expect(try split().ending == .exit(73))
            #expect(try directory.contents(of: "s") == ["manifest.ndjson.partial": foreign])
        }
        for make in ["mkdir", "mkfifo", "ln -s ../people.ndjson"] {
            try FileManager.default.removeItem(atPath: directory.path("s"))
            try self.make("s", holding: [])
            try #require(try run(["/bin/sh", "-c", "\(make) '\(directory.path(partial))'"]).ending == .exit(0))
            #expect(try split().ending == .exit(73), "\(make)")
            #expect(directory.names(in: "s") == ["manifest.ndjson.partial"])
        }
    }

    private static let foreign = [
        ["chunk-000001.ndjson"], ["manifest.ndjson"], ["chunk-000099.ndjson.partial"], ["chunk-notes.txt"],
        ["manifest.ndjson.partial"], ["chunk-000001.ndjson", "manifest.ndjson", "notes.txt"],
    ]

    @Test(arguments: foreign)
    func refusesADirectoryWithSuchNames(files: [String]) throws {
        try make("d", holding: files)
        for command in [
            ["import", source, "--into", store, "--model", model, "--chunks", directory.path("d")],
            ["import", source, "--into", store, "--chunks", directory.path("d"), "--restart"],
            ["split", source, "--to", directory.path("d")],
        ] {
            let result = try run([Project.importer] + command)
            #expect(result.ending == .exit(73), "\(command[0]): \(result.errorText)")
            #expect(result.errorText.contains(directory.path("d")))
            #expect(!FileManager.default.fileExists(atPath: store))
        }
        try expectUntouched("d", files)
    }

    @Test(arguments: foreign)
    func refusesAStoresOwnDirectoryThatWasThereBefore(files: [String]) throws {
        try make("store.sqlite.chunks", holding: files)
        let result = try importing()
        #expect(result.ending == .exit(73), "\(result.errorText)")
        try expectUntouched("store.sqlite.chunks", files)
    }

    @Test func refusesADirectoryThatHoldsTheSource() throws {
        for (name, options) in [("people.ndjson", ["--chunks", directory.path]), ("d/chunk-000001.ndjson", [])] {
            if name != "people.ndjson" { try make("d", holding: []) }
            let file = try directory.write(Data(contentsOf: URL(filePath: source)), to: name)
            let before = try Data(contentsOf: URL(filePath: file))
            let chunks = options.isEmpty ? ["--chunks", directory.path("d")] : options
            let result = try run([Project.importer, "import", file, "--into", store, "--model", model] + chunks)
            #expect(result.ending == .exit(73), "\(result.errorText)")
            #expect(result.errorText.contains("holds the source"))
            let split = try runImporter("split", file, "--to", chunks[1])
            #expect(split.ending == .exit(73), "\(split.errorText)")
            #expect(try Data(contentsOf: URL(filePath: file)) == before)
        }
    }

    @Test func usesADirectoryOfOtherFilesAndLeavesIt() throws {
        let files = ["notes.txt", "people.csv", "manifest.json", "a-chunk-000001.ndjson"]
        try make("d", holding: files)
        let result = try importing("--chunks", directory.path("d"), "--chunk-size", "5K")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        try expectUntouched("d", files)
        try make("empty", holding: [])
        #expect(try importing("--chunks", directory.path("empty"), "--again").ending == .exit(0))
        try expectUntouched("empty", [])
        #expect(try importing("--chunks", directory.path("new"), "--again").ending == .exit(0))
        #expect(!FileManager.default.fileExists(atPath: directory.path("new")))
    }

    /// Chunks that a finished import was asked to leave are nobody's to remove, and in nobody's way.
    @Test func leavesKeptChunksToTheirOwner() throws {
        #expect(try importing("--keep-chunks", "--chunk-size", "5K").ending == .exit(0))
        let kept = directory.names(in: "store.sqlite.chunks")
        #expect(kept.count > 5)
        #expect(try importing("--again", "--chunk-size", "9K").ending == .exit(0))
        #expect(directory.names(in: "store.sqlite.chunks") == kept)
        let refused = try importing("--again", "--chunks", store + ".chunks")
        #expect(refused.ending == .exit(73), "\(refused.errorText)")
        #expect(directory.names(in: "store.sqlite.chunks") == kept)
        #expect(directory.names().filter { $0.contains(".chunks") } == ["store.sqlite.chunks"])
    }

    private func edit(_ sql: String) throws {
        let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()"
        #expect(try Python.run(text: script, [store, sql]).ending == .exit(0))
    }

    @Test func refusesAStoreWhoseDirectoryWasEdited() throws {
        let files = try InterruptionTests.jobs[0].files()
        try InterruptionTests.killed(files)
        let store = files.directory.path("store.sqlite")
        let names = ["chunk-000001.ndjson", "manifest.ndjson", "notes.txt"]
        try make("victim", holding: names)
        let victim = directory.path("victim")
        let chunks = files.directory.names(in: "store.sqlite.chunks")
        let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()"
        let change = "UPDATE _import_job SET chunk_directory = '\(victim)'"
        for table in [change, "UPDATE _import_file SET path = '\(victim)'"] {
            #expect(try Python.run(text: script, [store, table]).ending == .exit(0))
            let result = try runImporter("resume", store)
            #expect(result.ending == (table == change ? .exit(74) : .exit(73)), "\(result.errorText)")
            #expect(result.errorText.contains(victim))
            try expectUntouched("victim", names)
        }
        #expect(files.directory.names(in: "store.sqlite.chunks") == chunks)
    }

    /// A copy of the chunks in their directory's place is not what was recorded, but may be given.
    @Test func refusesADirectoryThatWasSwapped() throws {
        let files = try InterruptionTests.jobs[0].files()
        let expected = try files.uninterruptedResult()
        try InterruptionTests.killed(files)
        let store = files.directory.path("store.sqlite")
        let chunks = store + ".chunks"
        try FileManager.default.moveItem(atPath: chunks, toPath: chunks + ".away")
        try FileManager.default.copyItem(atPath: chunks + ".away", toPath: chunks)
        let names = files.directory.names(in: "store.sqlite.chunks")
        let refused = try runImporter("resume", store)
        #expect(refused.ending == .exit(73), "\(refused.errorText)")
        #expect(refused.errorText.contains("--chunks"))
        #expect(files.directory.names(in: "store.sqlite.chunks") == names)
        let resumed = try runImporter("resume", store, "--chunks", chunks)
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        #expect(try StoreContent.result(store) == expected)
        #expect(files.directory.names(in: "store.sqlite.chunks.away") == names)
    }

    /// What somebody puts beside the chunks of an interrupted import stays, whatever its name.
    @Test func leavesWhatOthersPutBesideTheChunks() throws {
        for job in [InterruptionTests.jobs[0], InterruptionTests.jobs[2]] {
            let files = try job.files()
            let expected = try files.uninterruptedResult()
            try InterruptionTests.killed(files)
            let chunks = "store.sqlite.chunks"
            let others = ["chunk-009999.ndjson", "chunk-009998.ndjson.partial", "notes.txt"]
            for name in others { try files.directory.write("precious", to: "\(chunks)/\(name)") }
            let result = try runImporter("resume", files.directory.path("store.sqlite"))
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(try StoreContent.result(files.directory.path("store.sqlite")) == expected)
            #expect(files.directory.names(in: chunks) == others.sorted())
        }
    }

    /// Names beyond the reserved ones that somebody uses are passed over, and stay.
    @Test func passesOverNamesThatAreUsedByOthers() throws {
        let files = try InterruptionTests.jobs[0].files()
        let expected = try files.uninterruptedResult()
        try InterruptionTests.killed(files)
        let chunks = "store.sqlite.chunks"
        let others = ["chunk-000066.ndjson", "chunk-000067.ndjson.partial", "chunk-000070.ndjson"]
        for name in others { try files.directory.write("precious", to: "\(chunks)/\(name)") }
        let store = files.directory.path("store.sqlite")
        let result = try runImporter("resume", store, "--chunk-size", "5K", "--keep-chunks")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.result(store) == expected)
        let names = files.directory.names(in: chunks)
        #expect(names.contains("chunk-000069.ndjson") && names.contains("chunk-000071.ndjson"))
        for name in others {
            let path = files.directory.path("\(chunks)/\(name)")
            #expect(try String(contentsOf: URL(filePath: path), encoding: .utf8) == "precious")
        }
    }

    @Test func movesItsOwnChunksElsewhere() throws {
        let files = try InterruptionTests.jobs[0].files()
        let expected = try files.uninterruptedResult()
        try InterruptionTests.killed(files)
        let store = files.directory.path("store.sqlite")
        try files.directory.write("precious", to: "store.sqlite.chunks/notes.txt")
        let result = try runImporter("resume", store, "--chunks", files.directory.path("elsewhere"))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.result(store) == expected)
        #expect(files.directory.names(in: "store.sqlite.chunks") == ["notes.txt"])
        #expect(!FileManager.default.fileExists(atPath: files.directory.path("elsewhere")))
    }
}
