import Foundation

/// An open file descriptor, closed when nobody holds it any more.
package final class Descriptor: Sendable {
    package let number: Int32
    private let isBorrowed: Bool

    /// Takes a descriptor over, to close it.
    package init(owning number: Int32) {
        self.number = number
        isBorrowed = false
    }

    /// Uses a descriptor that somebody else closes: standard input.
    package init(borrowing number: Int32) {
        self.number = number
        isBorrowed = true
    }

    deinit {
        if !isBorrowed { close(number) }
    }

    /// Opens a file to be read (`open(2)`).
    ///
    /// - Parameter waits: whether reads block. A FIFO is opened without, or this would wait for a writer and not be interruptible.
    /// - Returns: the open file.
    /// - Throws: `ImportError` with `.noInput`.
    package static func open(_ path: String, waits: Bool) throws -> Descriptor {
        let flags = O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK)
        while true {
            let number = Foundation.open(path, flags)
            if number >= 0 { return Descriptor(owning: number) }
            let code = errno
            if code != EINTR { throw ImportError.cannotOpen(path, errno: code) }
        }
    }

    /// The next bytes; nil at the end.
    ///
    /// - Parameter check: called before each try to read.
    /// - Throws: `ImportError` about `path` when it cannot be read, and what `check` throws.
    package func next(of path: String, _ check: () throws -> Void = {}) throws -> [UInt8]? {
        while true {
            try check()
            var (length, code) = (0, Int32(0))
            let block = [UInt8](unsafeUninitializedCapacity: 1 << 16) { bytes, count in
                length = read(number, bytes.baseAddress, bytes.count)
                (count, code) = (max(0, length), errno)
            }
            if length >= 0 { return length == 0 ? nil : block }
            if code != EINTR { throw ImportError.cannotRead(path, errno: code) }
        }
    }
}

extension ImportError {
    /// The error for a file that cannot be opened or looked at.
    static func cannotOpen(_ path: String, errno code: Int32) -> ImportError {
        switch code {
        case ENOENT, ENOTDIR:
            return ImportError(
                .fileNotFound,
                at: path,
                "no such file",
                advice: "Check the path; `-` is standard input."
            )
        case EACCES, EPERM:
            return ImportError(
                .notPermitted,
                at: path,
                "not allowed to read this file",
                advice: "Give yourself permission to read it, or import a copy."
            )
        default:
            let message: MessageText = "cannot be opened: \(String(cString: strerror(code)))"
            return .shortage(code, at: path, message) ?? ImportError(.fileUnreadable, at: path, message)
        }
    }

    /// The error for a source that cannot be read any further.
    package static func cannotRead(_ name: String, errno code: Int32) -> ImportError {
        let reason = String(cString: strerror(code))
        switch code {
        case EISDIR:
            return ImportError(.isDirectory, at: name, "is a directory", advice: "Name the files in it.")
        case EBADF:
            return ImportError(
                .fileNotOpen,
                at: name,
                "is not open",
                advice: "Pipe the data in, or give a file's path."
            )
        default:
            return ImportError(
                .readFailed,
                at: name,
                "cannot be read: \(reason)",
                advice: "What was imported before is safe; import again when it can be read."
            )
        }
    }
}
