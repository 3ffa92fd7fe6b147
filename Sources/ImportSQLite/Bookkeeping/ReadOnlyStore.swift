import Foundation
import GRDB
import ImportSources
import Synchronization

/// A store that is open for reading, distinguished from whatever takes its name later.
///
/// It reads in short transactions only, so that nothing keeps the store's WAL from being taken over into the store.
package final class ReadOnlyStore: Sendable {
    /// The path as it was given.
    package let name: String
    private let path: String
    private let file: DeviceAndInode
    private let queue: DatabaseQueue
    /// The version of the schema that GRDB remembers tables of; nil before it was asked for.
    private let schemaVersion = Mutex<Int64?>(nil)

    /// Opens a store.
    ///
    /// - Throws: `ImportError` with `.noInput` when there is no file, `.io` when it is no SQLite database, or a store of a newer
    ///   format.
    package init(
        _ store: String,
        opening open: (String) throws -> DatabaseQueue = { try StoreConnection.reader($0) }
    ) throws {
        name = store
        path = URL(fileURLWithPath: store).path
        // Before it is opened: if another replaces it meanwhile, the two differ.
        let file = DeviceAndInode(path)
        do {
            queue = try open(store)
        } catch let error as ImportError where error.code == .cannotCreate {
            throw error.becoming(.notAStore).advising("Give the path of a store, or of another SQLite database.")
        }
        guard let file else { throw Self.isGone(store) }
        self.file = file
        do {
            _ = try read { try BookkeepingSchema.checkFormat($0, store: store) }
        } catch {
            close()
            throw error
        }
    }

    /// A store that may be made only later: nil while there is no file.
    ///
    /// - Throws: as `init` does.
    package static func ifThere(_ store: String) throws -> ReadOnlyStore? {
        let path = URL(fileURLWithPath: store).path
        guard DeviceAndInode(path) != nil else { return nil }
        do {
            return try ReadOnlyStore(store)
        } catch let error as ImportError where error.code == .noInput && DeviceAndInode(path) == nil {
            return nil
        }
    }

    deinit { close() }

    /// True if the path still leads to the file that was opened.
    package var isInPlace: Bool { DeviceAndInode(path) == file }

    /// The same file with a new connection.
    ///
    /// - Throws: as `init` and `read` do.
    package func reopened() throws -> ReadOnlyStore {
        try checkPlace()
        let new = try ReadOnlyStore(name)
        guard new.file == file else { throw isAnother }
        return new
    }

    /// Closes the connection; the last one to close moves the WAL into the store.
    package func close() {
        if isInPlace { try? queue.inDatabase { try UntrustedStoreGuard.setTidiesUp(true, $0) } }
        try? queue.retire()
    }

    /// Calls `body` in a transaction, which sees one state of the store, between two commits.
    ///
    /// - Throws: `ImportError` when the store cannot be read, or its file was replaced or deleted; what `body` throws.
    package func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try read(Interruption(), body)
    }

    /// The same, which an interruption ends at once.
    package func read<Result>(_ interruption: Interruption, _ body: (Database) throws -> Result) throws -> Result {
        try checkPlace()
        do {
            return try queue.interruptible(by: interruption) { try queue.read(body) }
        } catch let error as DatabaseError {
            try checkPlace()
            throw ImportError(store: name, error)
        }
    }

    /// The same for bookkeeping, some tables of which other connections make later.
    func readBookkeeping<Result>(
        _ interruption: Interruption,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        try read(interruption) { database in
            let version = try Int64.fetchOne(database, sql: "PRAGMA schema_version")
            let isKnown = schemaVersion.withLock { known in
                defer { known = version }
                return known == version
            }
            // GRDB remembers tables and columns, and does not see what other connections make of them.
            if !isKnown { database.clearSchemaCache() }
            return try body(database)
        }
    }

    private func checkPlace() throws {
        switch DeviceAndInode(path) {
        case file: break
        case nil: throw Self.isGone(name)
        default: throw isAnother
        }
    }

    private static func isGone(_ store: String) -> ImportError {
        ImportError(.storeNotFound, at: store, "is no longer there", advice: "It was moved or deleted.")
    }

    private var isAnother: ImportError {
        ImportError(
            .storeReplaced,
            at: name,
            "is another store than the one that was opened",
            advice: "Open it again to read what is there now."
        )
    }
}
