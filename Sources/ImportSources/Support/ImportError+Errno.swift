import Glibc

extension ImportError {
    /// What a failed system call means for a person.
    ///
    /// - Parameters:
    ///   - number: the call's `errno`.
    ///   - action: what was tried, in words: `write the chunk`.
    ///   - path: the file or directory that it was tried on.
    /// - Returns: an error with advice.
    package static func system(_ number: Int32, _ action: String, _ path: String) -> ImportError {
        let message: MessageText = "cannot \(action) \(path): \(String(cString: strerror(number)))"
        if let shortage = shortage(number, message) { return shortage.about(path) }
        let (reason, advice): (Reason, MessageText) =
            switch number {
            case ENOSPC, EDQUOT:
                (
                    .diskFull,
                    "Free some space on that disk and \(.sameAgain): it resumes where it stopped."
                )
            case ELOOP:
                (
                    .pathUnusable,
                    "Chunks are never written through a symbolic link: give the directory itself with \(.chunkDirectory)."
                )
            case ENOTDIR, EEXIST:
                (.pathUnusable, "Something else has that name: give another directory with \(.chunkDirectory).")
            case EACCES, EPERM, EROFS:
                (.pathUnusable, "Give a directory that you may write to with \(.chunkDirectory).")
            case ENOENT:
                (.pathUnusable, "Create its parent directory first.")
            default:
                (.systemCallFailed, "To resume where it stopped, \(.sameAgain).")
            }
        return ImportError(reason, message, advice: advice).about(path)
    }
}
