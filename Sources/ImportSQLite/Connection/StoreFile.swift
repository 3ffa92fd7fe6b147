import Foundation
import GRDB
import ImportSources
import Synchronization

/// The file of a store that an import writes, distinguished from whatever takes its name meanwhile.
package struct StoreFile: Sendable {
    /// The store's path as it was given.
    package let name: String
    private let path: String
    private let number: DeviceAndInode
    /// The WAL and its index, as a connection to the file has opened them.
    private let companions = Companions()

    private final class Companions: Sendable {
        let numbers = Mutex<[String: DeviceAndInode]>([:])
    }

    /// The file that is there; nil where there is none.
    package init?(_ store: String) {
        name = store
        path = URL(fileURLWithPath: store).path
        guard let number = DeviceAndInode(path) else { return nil }
        self.number = number
    }

    /// The file that a symbolic link leads to: one store has one lock, however it is named.
    package static func resolved(_ store: String) -> String {
        var status = stat()
        guard lstat(store, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return store }
        if let path = realpath(store, nil) {
            defer { free(path) }
            return String(cString: path)
        }
        // It leads to a file that is not there yet.
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: store) else { return store }
        let folder = URL(fileURLWithPath: store).deletingLastPathComponent()
        return URL(fileURLWithPath: target, relativeTo: folder).path
    }

    /// Makes an empty file for a new store.
    ///
    /// - Returns: nil where it cannot be made: opening the store says why.
    /// - Throws: `ImportError` with `.io` when somebody else has just made one.
    package static func made(_ store: String) throws -> StoreFile? {
        // SQLite's own mode for a new file. It holds no locks on it yet that closing the descriptor would drop.
        let descriptor = open(store, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else {
            guard errno == EEXIST else { return nil }
            throw ImportError(
                .storeFileReplaced,
                at: store,
                "another program has just made this file",
                advice: "Nothing was written to it. Give another path, or \(.sameAgain)."
            )
        }
        close(descriptor)
        return StoreFile(store)
    }

    /// True if the path still leads to the file.
    package var isInPlace: Bool { DeviceAndInode(path) == number }

    /// Makes sure that the path still leads to the file.
    ///
    /// - Throws: `ImportError` with `.io`.
    package func check() throws {
        switch DeviceAndInode(path) {
        case number: return
        case nil: throw Self.isGone(name)
        default: throw isAnother
        }
    }

    package static func isGone(_ store: String) -> ImportError {
        ImportError(
            .storeFileReplaced,
            at: store,
            "the store was moved or deleted while importing",
            advice: "What was committed until then is in the file that was moved. Put it back, then resume."
        )
    }

    package var isAnother: ImportError {
        ImportError(
            .storeFileReplaced,
            at: name,
            "another file has replaced the store while importing",
            advice: "Nothing was written to that file. Put the store back, then resume."
        )
    }

    /// Notes which files a connection has opened beside the store, while the store is in its place.
    func noteCompanions() throws {
        let found = ["-wal", "-shm"].map { ($0, DeviceAndInode(path + $0)) }
        try check()
        companions.numbers.withLock { numbers in
            for (suffix, number) in found { numbers[suffix] = number }
        }
    }

    /// Removes what the connections have opened beside the store's path; the files of others stay.
    ///
    /// A WAL that stays beside another file is read as that file's (<https://www.sqlite.org/howtocorrupt.html>, 1.4).
    func removeCompanions() {
        companions.numbers.withLock { numbers in
            for (suffix, number) in numbers where DeviceAndInode(path + suffix) == number { unlink(path + suffix) }
        }
    }

    /// Removes the file and what SQLite keeps beside it, unless another file has taken its name.
    package func remove() {
        guard isInPlace else { return }
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }
}

/// Refuses to commit to a store whose file is no longer the one at its path.
final class StoreFileGuard: TransactionObserver {
    private let file: StoreFile
    /// What the connection's busy handler asks.
    private let interruption: Interruption

    init(_ file: StoreFile, keeping interruption: Interruption) {
        self.file = file
        self.interruption = interruption
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseWillCommit() throws { try file.check() }
    func databaseDidCommit(_ database: Database) {}
    func databaseDidRollback(_ database: Database) {}
}
