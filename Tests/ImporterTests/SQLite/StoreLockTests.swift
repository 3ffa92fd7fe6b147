import Foundation
import TestSupport
import Testing

@testable import Importer

struct StoreLockTests {
    @Test func onlyOneImporterHasAStore() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        var lock: StoreLock? = try StoreLock(store: store)
        #expect(StoreLock.isHeld(store: store))
        let error = #expect(throws: ImportError.self) { try StoreLock(store: store) }
        #expect(error?.code == .inUse)
        withExtendedLifetime(lock) {}
        lock = nil
        #expect(!StoreLock.isHeld(store: store))
        #expect(directory.names().isEmpty)
        _ = try StoreLock(store: store)
    }

    @Test func whoLooksIsNoImporter() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        // Somebody else looks at this very moment, at what an importer that was killed has left.
        let looking = open(store + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(looking) }
        #expect(flock(looking, LOCK_SH | LOCK_NB) == 0)
        #expect(!StoreLock.isHeld(store: store))
    }

    @Test func waitsForWhoOnlyLooks() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        let looking = open(store + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(looking, LOCK_SH | LOCK_NB) == 0)
        // The machine has something else to do, until the importer has come.
        Thread.detachNewThread {
            _ = try? wait(for: "the importer") { Self.descriptors(of: store + ".lock") > 1 ? true : nil }
            close(looking)
        }
        let lock = try StoreLock(store: store)
        #expect(StoreLock.isHeld(store: store))
        withExtendedLifetime(lock) {}
    }

    /// How many of this process there are.
    private static func descriptors(of path: String) -> Int {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path }
    }

    @Test func leavesAFileOfSomebodyElseAlone() throws {
        let directory = try TemporaryDirectory()
        let own = try directory.write("[dependencies]", to: "flake.lock")
        let error = #expect(throws: ImportError.self) { try StoreLock(store: directory.path("flake")) }
        #expect(error?.code == .cannotCreate)
        #expect(try String(contentsOfFile: own, encoding: .utf8) == "[dependencies]")
        #expect(!StoreLock.isHeld(store: directory.path("flake")))
    }

    @Test func takesOverWhatAnImporterThatWasKilledHasLeft() throws {
        let directory = try TemporaryDirectory()
        _ = try directory.write("", to: "s.sqlite.lock")
        let lock = try StoreLock(store: directory.path("s.sqlite"))
        #expect(StoreLock.isHeld(store: directory.path("s.sqlite")))
        withExtendedLifetime(lock) {}
    }

    @Test func saysThatTheFolderIsNotThere() throws {
        let directory = try TemporaryDirectory()
        let error = #expect(throws: ImportError.self) { try StoreLock(store: directory.path("no/s.sqlite")) }
        #expect(error?.code == .cannotCreate)
    }

    /// Whoever still has a reference to what a run has used keeps no other importer out.
    @Test func aRunThatIsOverHasNoLock() throws {
        let files = try LibraryImport("[{\"a\": 1}]")
        let destination = SQLiteDestination(files.store, durability: .normal)
        _ = try files.pipeline(JobOptions(), RunOptions()).importAll(into: destination)
        #expect(!FileManager.default.fileExists(atPath: files.store + ".lock"))
        _ = try files.pipeline(JobOptions(), RunOptions(again: true)).run()
        withExtendedLifetime(destination) {}
    }
}
