import Foundation
import Importer

/// The reader of standard output is gone.
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
        throw ImportError(.cannotWrite, "cannot write to standard output: \(String(cString: strerror(failure)))")
    }

    /// Writes a JSON document.
    static func write(json value: some Encodable) throws {
        try write(JSONText.document(value))
    }
}
