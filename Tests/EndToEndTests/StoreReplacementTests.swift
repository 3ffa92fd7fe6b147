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

    /// What takes the place of a store that alone is moved away, without its WAL.
    enum Replacement: String, CaseIterable {
        case none, database, databaseInWALMode, store, text
    }

    /// A model, an identifier, neither.
    private static let jobs =
        ImportJob.withModel(count: 4_000).prefix(2) + ImportJob.inferred(count: 4_000).prefix(1)

    @Test(arguments: jobs, Replacement.allCases)
    func aStoreThatAloneIsMovedAwayIsWholeAndLeavesNothing(_ job: ImportJob, _ replacement: Replacement) throws {
        let files = try job.files()
        let (store, moved) = (files.directory.path("store.sqlite"), files.directory.path("moved.sqlite"))
        var generator = SeededGenerator(seed: 5)
        let child = try InterruptionTests.progressed(
            files.command(into: "store.sqlite", InterruptionTests.run),
            in: store,
            &generator
        )
        let committed = try StoreContent.rowCountLeft(store) ?? 0
        let other = files.directory.path("other.sqlite")
        switch replacement {
        case .none: break
        case .database, .databaseInWALMode:
            let mode = replacement == .database ? "DELETE" : "WAL"
            let script = """
                import sqlite3, sys
                database = sqlite3.connect(sys.argv[1])
                database.execute("PRAGMA journal_mode = \(mode)")
                database.execute("CREATE TABLE precious AS SELECT 42 AS a")
                database.commit()
                database.close()
                """
            try #require(try Python.run(text: script, [other]).ending == .exit(0))
        case .store:
            let source = try files.directory.write("[{\"a\": 1}]", to: "other.json")
            try #require(try runImporter("import", source, "--into", other).ending == .exit(0))
        case .text: try Data("not a database".utf8).write(to: URL(filePath: other))
        }
        let content = try? Data(contentsOf: URL(filePath: other))
        rename(store, moved)
        if replacement != .none { rename(other, store) }
        child.resume()
        let result = child.wait()
        #expect(result.ending == .exit(74), "\(result.ending) \(result.errorText)")
        // Nothing of the import is left beside the file that is there now.
        #expect(Self.files.map { try? Data(contentsOf: URL(filePath: store + $0)) } == [content, nil, nil])
        #expect(!FileManager.default.fileExists(atPath: moved + "-wal"))
        #expect(try StoreContent.isWhole(moved))
        #expect(try StoreContent.rowCount(moved) >= committed)
        if replacement != .none { unlink(store) }
        rename(moved, store)
        let resumed = try run([Project.importer, "resume", store] + InterruptionTests.run)
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        #expect(try StoreContent.result(store) == files.uninterruptedResult())
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
