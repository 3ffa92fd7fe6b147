import Glibc

/// Standard error, for progress and messages.
///
/// A terminal that is gone must not end the import: failures are ignored.
enum StandardError {
    static func write(_ text: String) {
        _ = RawOutput.writeAll(text, to: STDERR_FILENO)
    }

    /// How wide help is set: the terminal's width up to 100, 80 elsewhere.
    static var helpColumns: Int { min(Terminal.columns(of: STDOUT_FILENO) ?? 80, 100) }
}
