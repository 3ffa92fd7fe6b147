#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension ImportError {
    /// What a failed system call means for a person.
    ///
    /// - Parameters:
    ///   - number: the call's `errno`.
    ///   - action: what was tried, in words: `write the chunk`.
    ///   - path: the file or directory that it was tried on.
    /// - Returns: an error with advice.
    static func system(_ number: Int32, _ action: String, _ path: String) -> ImportError {
        let message = "cannot \(action) \(path): \(String(cString: strerror(number)))"
        if let shortage = shortage(number, message) { return shortage }
        switch number {
        case ENOSPC, EDQUOT:
            return ImportError(
                .io,
                message,
                advice: "Free some space on that disk and run the same command again: it resumes where it stopped."
            )
        case ELOOP:
            return ImportError(
                .cannotCreate,
                message,
                advice: "Chunks are never written through a symbolic link: give the directory itself with --chunks."
            )
        case ENOTDIR, EEXIST:
            return ImportError(
                .cannotCreate,
                message,
                advice: "Something else has that name: give another directory with --chunks."
            )
        case EACCES, EPERM, EROFS:
            return ImportError(
                .cannotCreate,
                message,
                advice: "Give a directory that you may write to with --chunks."
            )
        case ENOENT:
            return ImportError(.cannotCreate, message, advice: "Make the directory above it first.")
        default:
            return ImportError(.io, message, advice: "Run the same command again: it resumes where it stopped.")
        }
    }
}
