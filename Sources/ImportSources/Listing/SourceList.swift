import Foundation

/// A list of sources in a file or on standard input.
public enum SourceList {
    /// The sources of a list, one a line, or each with a byte 0 behind it.
    ///
    /// - Parameters:
    ///   - path: the list's path, or `-` for standard input.
    ///   - isNull: whether a byte 0 is between them, as `find -print0` writes it.
    /// - Throws: `ImportError` with `.noInput` when the list cannot be read, has no source, or one that is not there.
    public static func sources(in path: String, isNull: Bool = false) throws -> [String] {
        let list = path == "-" ? Descriptor(borrowing: 0) : try Descriptor.open(path, waits: true)
        var bytes: [UInt8] = []
        while let block = try list.next(of: path) { bytes += block }
        let lines = bytes.split(separator: isNull ? 0 : 0x0A, omittingEmptySubsequences: false)
        var sources: [String] = []
        for (index, line) in lines.enumerated() {
            let line = !isNull && line.last == 0x0D ? line.dropLast() : line
            guard !line.isEmpty else { continue }
            let text = String(decoding: line, as: UTF8.self)
            guard text != "-", ImportSource(text).exists else {
                throw ImportError(
                    .fileNotFound,
                    at: path,
                    "\(isNull ? "entry" : "line") \(index + 1): \(text.shownPath): "
                        + (text == "-" ? "cannot be in a list" : "no such file"),
                    advice: "Paths in a list begin at the current folder, or with /."
                )
            }
            sources.append(text)
        }
        guard !sources.isEmpty else {
            throw ImportError(.sourceEmpty, at: path, "lists no source", advice: "Give a path on each line.")
        }
        return sources
    }
}
