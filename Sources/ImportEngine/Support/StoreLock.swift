import Foundation
import ImportSources

/// The operating system's lock that makes an importer the only one of its store.
///
/// It dies with its process.
///
/// It is a file of its own beside the store (`flock(2)`, close-on-exec), which is empty: opening and closing the store's
/// own file would drop the POSIX locks that SQLite holds on it.
package final class StoreLock {
    private let path: String
    private let descriptor: Int32

    /// Takes the lock of the store at `store`.
    ///
    /// - Throws: `ImportError` with `.inUse` when another importer has it, `.cannotCreate` when the file cannot be made or
    ///   is somebody's own.
    package init(store: String) throws {
        path = store + ".lock"
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
            guard descriptor >= 0 else {
                let code = errno
                let message = String(cString: strerror(code))
                throw ImportError.shortage(code, at: path, "\(message)")
                    ?? ImportError(
                        .storeUnusable,
                        at: path,
                        "\(message)",
                        advice: "The store's folder must exist and be writable."
                    )
            }
            guard Self.isLock(descriptor) else {
                close(descriptor)
                throw ImportError(
                    .lockTaken,
                    at: path,
                    "has the name of the store's lock file, and is not one",
                    advice: "Give the store another name. Nothing was changed."
                )
            }
            guard Self.lock(descriptor) else {
                close(descriptor)
                throw ImportError(
                    .storeInUse,
                    at: store,
                    "another import into this store is running",
                    advice: "Wait for it to end, or stop it. Nothing was changed."
                )
            }
            // Anyone who had the lock before removes the file: make sure that this one is still the one by that name.
            var mine = stat()
            var named = stat()
            if fstat(descriptor, &mine) == 0, stat(path, &named) == 0, mine.st_ino == named.st_ino {
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    /// True if a file may be a lock, which goes with the import: other programs have files by such names too.
    private static func isLock(_ descriptor: Int32) -> Bool {
        var file = stat()
        return fstat(descriptor, &file) == 0 && file.st_mode & S_IFMT == S_IFREG && file.st_size == 0
    }

    /// Takes the lock, unless an importer has it.
    ///
    /// Somebody may only be looking whether it is free, and be passed over by a busy machine meanwhile: that is waited for, up
    /// to 10 seconds.
    private static func lock(_ descriptor: Int32) -> Bool {
        for _ in 0..<1_000 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            // Those who look share it; an importer does not.
            guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return false }
            flock(descriptor, LOCK_UN)
            usleep(10_000)
        }
        return false
    }

    deinit {
        unlink(path)
        close(descriptor)
    }

    /// True if some importer has the lock of the store now.
    package static func isHeld(store: String) -> Bool {
        let descriptor = open(store + ".lock", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)
        // One that others may not look at is there as long as its importer is.
        guard descriptor >= 0 else { return errno == EACCES }
        defer { close(descriptor) }
        // Shared: those who look must not take one another for an importer.
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }
}
