import Foundation

/// The operating system's lock that makes an importer the only one of its store.
///
/// It dies with its process.
///
/// It is a file of its own beside the store (`flock(2)`, close-on-exec): opening and closing the store's own file would
/// drop the POSIX locks that SQLite holds on it.
final class StoreLock {
    private let path: String
    private let descriptor: Int32

    /// Takes the lock of the store at `store`.
    ///
    /// - Throws: `ImportError` with `.inUse` when another importer has it, `.cannotCreate` when the file cannot be made.
    init(store: String) throws {
        path = store + ".lock"
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else {
                throw ImportError(
                    .cannotCreate,
                    "\(path): \(String(cString: strerror(errno)))",
                    advice: "The store's folder must be there and writable."
                )
            }
            guard Self.lock(descriptor) else {
                close(descriptor)
                throw ImportError(
                    .inUse,
                    "\(store): another import is running into this store",
                    advice: "Wait for it to end, or stop it; this one has touched nothing."
                )
            }
            // Whoever had the lock before removes the file: make sure that this one is still the one by that name.
            var mine = stat()
            var named = stat()
            if fstat(descriptor, &mine) == 0, stat(path, &named) == 0, mine.st_ino == named.st_ino {
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    /// Takes the lock, a few times over: somebody may only be looking whether it is free.
    private static func lock(_ descriptor: Int32) -> Bool {
        for _ in 0..<10 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
            usleep(10_000)
        }
        return false
    }

    deinit {
        unlink(path)
        close(descriptor)
    }

    /// Whether some importer has the lock of the store now.
    static func isHeld(store: String) -> Bool {
        let descriptor = open(store + ".lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Shared: those who look must not take one another for an importer.
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }
}
