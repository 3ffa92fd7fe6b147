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

    /// Writes records as they are, or to a terminal without what that would take for commands.
    ///
    /// - Parameter format: nil for a table, which has nothing of that.
    /// - Throws: as for text.
    static func write(records bytes: [UInt8], as format: RecordFormat?) throws {
        guard let format, Terminal.columns(of: STDOUT_FILENO) != nil else { return try write(bytes: bytes) }
        let text = String(decoding: bytes, as: UTF8.self)
        let isJSON = format == .json || format == .ndjson
        try write(isJSON ? TerminalText.escapedInJSON(text) : TerminalText.escaped(text, keepingLineBreaks: true))
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
