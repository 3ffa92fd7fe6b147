import Foundation
import TestSupport
import Testing

/// The store that was opened is the one that is written.
struct StoreReplacementTests {
    private static let files = ["", "-wal", "-shm"]

    private let files: ImportFiles
    private let store: String
    private let moved: String

    init() throws {
        files = try ImportJob.withModel(count: 8_000)[1].files()
        store = files.directory.path("store.sqlite")
        moved = files.directory.path("moved.sqlite")
    }

    /// Begins the import and stops it in the middle.
    private func begun() throws -> ChildProcess {
        var generator = SeededGenerator(seed: 4)
        return try InterruptionTests.progressed(
            files.command(into: "store.sqlite", InterruptionTests.run),
            in: store,
            &generator
        )
    }

    /// Another database with a WAL of its own, in which its only rows are.
    private func stranger() throws -> String {
        let path = files.directory.path("stranger.sqlite")
        let script = """
            import os, sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("CREATE TABLE precious (a)")
            database.execute("INSERT INTO precious VALUES (42)")
            database.commit()
            os._exit(0)
            """
        try #require(try Python.run(text: script, [path]).ending == .exit(0))
        return path
    }

    private func contents(_ path: String) -> [Data?] {
        Self.files.map { try? Data(contentsOf: URL(filePath: path + $0)) }
    }

    private func move(_ path: String, to other: String) {
        for suffix in Self.files { rename(path + suffix, other + suffix) }
    }

    @Test(arguments: [true, false])
    func aFileThatTakesTheStoresPlaceIsLeftAlone(withItsWAL: Bool) throws {
        let child = try begun()
        let stranger = try stranger()
        if !withItsWAL {
            let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA journal_mode = DELETE')"
            try #require(try Python.run(text: script, [stranger]).ending == .exit(0))
        }
        let before = contents(stranger)
        try #require(before[0] != nil && (before[1] != nil) == withItsWAL)
        move(store, to: moved)
        move(stranger, to: store)
        child.resume()
        let result = child.wait()
        #expect(result.ending == .exit(74), "\(result.ending) \(result.errorText)")
        #expect(result.errorText.contains("another file has replaced the store while importing"))
        #expect(contents(store) == before)
        // Back in its place, the import continues where it was.
        for suffix in Self.files { unlink(store + suffix) }
        move(moved, to: store)
        let resumed = try run([Project.importer, "resume", store] + InterruptionTests.run)
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        #expect(try StoreContent.result(store) == files.uninterruptedResult())
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func aStoreThatIsMovedAwayEndsTheImport() throws {
        let child = try begun()
        move(store, to: moved)
        child.resume()
        let result = child.wait()
        #expect(result.ending == .exit(74), "\(result.ending) \(result.errorText)")
        #expect(result.errorText.contains("the store was moved or deleted while importing"))
        #expect(Self.files.allSatisfy { !FileManager.default.fileExists(atPath: store + $0) })
        let resumed = try run([Project.importer, "resume", moved] + InterruptionTests.run)
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        #expect(try StoreContent.result(moved) == files.uninterruptedResult())
    }
}
