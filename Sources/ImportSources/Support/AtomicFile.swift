import Foundation
import Synchronization

/// A file that is whole once it has its name, or is known to nobody before.
package final class AtomicFile {
    private let path: String
    private let overwrites: Bool
    private let temporaryPath: String
    private var descriptor: Int32
    /// The names of files that are not whole: a signal may end the process.
    private static let unfinished = Mutex<Set<String>>([])

    /// Makes the file under a name of its own; `finish` renames it.
    ///
    /// - Throws: `ImportError` with `.cannotCreate`.
    package init(path: String, overwrites: Bool) throws {
        self.path = path
        self.overwrites = overwrites
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw ImportError(
                    .fileExists,
                    at: path,
                    "exists, and is not a regular file",
                    advice: "Give the path of a file; - is standard output."
                )
            }
            guard overwrites else { throw Self.isThere(path) }
        }
        (temporaryPath, descriptor) = Self.unfinished.withLock { unfinished in
            var name = "\(path).partial-\(getpid())"
            var descriptor = Self.make(name, mode: 0o666)
            // A file of this name is another's.
            for number in 2..<100 where descriptor < 0 && errno == EEXIST {
                name = "\(path).partial-\(getpid())-\(number)"
                descriptor = Self.make(name, mode: 0o666)
            }
            if descriptor >= 0 { unfinished.insert(name) }
            return (name, descriptor)
        }
        guard descriptor >= 0 else { throw failure(.cannotCreate, "create") }
    }

    /// Makes the file under its name, for this user alone.
    ///
    /// - Throws: `ImportError` with `.cannotCreate`, also when it is there.
    package init(newFile path: String) throws {
        self.path = path
        temporaryPath = path
        overwrites = false
        descriptor = Self.make(path, mode: 0o600)
        guard descriptor >= 0 else { throw failure(.cannotCreate, "create") }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        unlink(temporaryPath)
        _ = Self.unfinished.withLock { $0.remove(temporaryPath) }
    }

    /// Removes all files that are not whole, and ends the process; none is made or gets its name meanwhile.
    package static func discardAll(then end: () -> Never) -> Never {
        unfinished.withLock { unfinished in
            for path in unfinished { unlink(path) }
            end()
        }
    }

    private static func make(_ path: String, mode: mode_t) -> Int32 {
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    }

    private static func isThere(_ path: String) -> ImportError {
        ImportError(
            .fileExists,
            at: path,
            "exists, and may have been edited",
            advice: "Give another path, or \(.overwrites) to write over it."
        )
    }

    private func failure(_ reason: ImportError.Reason, _ action: String) -> ImportError {
        let number = errno
        let message: MessageText = "cannot \(action) \(path): \(String(cString: strerror(number)))"
        return (.shortage(number, message) ?? ImportError(reason, message)).about(path)
    }

    /// Its device and inode.
    package var number: DeviceAndInode {
        get throws {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw failure(.systemCallFailed, "look at") }
            return DeviceAndInode(status)
        }
    }

    package func write(_ bytes: ArraySlice<UInt8>) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw failure(.cannotWrite, "write")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Puts the file in its place, once its bytes are on the disk.
    package func finish() throws {
        guard fsync(descriptor) == 0 else { throw failure(.cannotWrite, "write") }
        if temporaryPath != path {
            try Self.unfinished.withLock { unfinished in
                try rename()
                unfinished.remove(temporaryPath)
            }
        }
        close(descriptor)
        descriptor = -1
    }

    private func rename() throws {
        if !overwrites {
            if link(temporaryPath, path) == 0 {
                unlink(temporaryPath)
                return
            }
            var status = stat()
            if errno == EEXIST || lstat(path, &status) == 0 { throw Self.isThere(path) }
        }
        guard Foundation.rename(temporaryPath, path) == 0 else { throw failure(.cannotCreate, "create") }
    }
}
