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
        let looking = open(store + ".lock", O_RDWR | O_CREAT, 0o600)
        defer { close(looking) }
        #expect(flock(looking, LOCK_SH | LOCK_NB) == 0)
        #expect(!StoreLock.isHeld(store: store))
    }

    @Test func saysThatTheFolderIsNotThere() throws {
        let directory = try TemporaryDirectory()
        let error = #expect(throws: ImportError.self) { try StoreLock(store: directory.path("no/s.sqlite")) }
        #expect(error?.code == .cannotCreate)
    }
}
