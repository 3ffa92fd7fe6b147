import Foundation
import ImportModel
import Importer

/// Where a difference is written: standard output, or a file that gets its name when it is whole.
final class DifferenceOutput {
    private let file: AtomicFile?

    /// - Parameter path: nil for standard output.
    init(_ path: String?, overwrites: Bool) throws {
        file = try path.map { try AtomicFile(path: $0, overwrites: overwrites) }
    }

    /// True if a person reads it, who may have asked for no colours (<https://no-color.org>).
    var isTerminal: Bool {
        let noColor = ProcessInfo.processInfo.environment["NO_COLOR"] ?? ""
        return file == nil && noColor.isEmpty && Terminal.columns(of: STDOUT_FILENO) != nil
    }

    func write(_ text: String) throws { try write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) throws {
        if let file { try file.write(bytes[...]) } else { try StandardOutput.write(bytes: bytes) }
    }

    func finish() throws { try file?.finish() }
}
