import Foundation
import Importer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Whoever reads standard output is gone.
struct OutputClosed: Error {}

/// Standard output, for results.
///
/// Foundation's and C's own printing would let a full disk go by unnoticed.
enum StandardOutput {
    /// Writes all of `text`.
    ///
    /// - Throws: `OutputClosed` when the reader is gone, `ImportError` with `.io` when it cannot be written.
    static func write(_ text: String) throws {
        try check(RawOutput.writeAll(text, to: STDOUT_FILENO))
    }

    /// Writes bytes as they are.
    ///
    /// - Throws: as for text.
    static func write(bytes: [UInt8]) throws {
        try check(bytes.withUnsafeBytes { RawOutput.writeAll($0, to: STDOUT_FILENO) })
    }

    private static func check(_ failure: Int32) throws {
        guard failure != 0 else { return }
        if failure == EPIPE { throw OutputClosed() }
        throw ImportError(.io, "cannot write to standard output: \(String(cString: strerror(failure)))")
    }

    /// Writes a JSON document.
    static func write(json value: some Encodable) throws {
        try write(JSONText.document(value))
    }
}

/// Standard error, for progress and messages.
///
/// A terminal that is gone must not end the import: failures are ignored.
enum StandardError {
    static func write(_ text: String) {
        _ = RawOutput.writeAll(text, to: STDERR_FILENO)
    }

    /// Writes a message of one line as progress in `mode` has them.
    static func write(message: String, mode: ProgressMode) {
        guard mode != .quiet else { return }
        let json = mode == .json ? try? ProgressLine.json(message: message) : nil
        write(json ?? "importer: " + TerminalText.escaped(message) + "\n")
    }

    /// How wide help is set: the terminal's width up to 100, 80 elsewhere.
    static var helpColumns: Int { min(Terminal.columns(of: STDOUT_FILENO) ?? 80, 100) }
}

/// Writing to descriptors.
enum RawOutput {
    /// Writes all of `text` and returns 0, or the `errno` of the write that failed.
    static func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// Writes all of `bytes` and returns 0, or the `errno` of the write that failed.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes
        while !rest.isEmpty {
            let written = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if written < 0 {
                guard errno == EINTR || (errno == EAGAIN && isWritable(descriptor)) else { return errno }
                continue
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
        return 0
    }

    /// Waits until a descriptor that somebody made nonblocking takes bytes again.
    private static func isWritable(_ descriptor: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return Foundation.poll(&poll, 1, 10_000) > 0
    }
}
