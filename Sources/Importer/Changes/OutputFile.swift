/// A file for a result, which gets its name when it is whole.
package final class OutputFile {
    private let file: ExportFile

    /// - Throws: `ImportError` with `.cannotCreate` when it cannot be made, or is there and is not to be written over.
    package init(_ path: String, overwrites: Bool) throws {
        file = try ExportFile(path: path, overwrites: overwrites)
    }

    /// Appends bytes.
    package func write(_ bytes: [UInt8]) throws { try file.write(bytes[...]) }

    /// Puts the file in its place.
    package func finish() throws { try file.finish() }

    /// Removes all files that are not whole, and ends the process; none is made or gets its name meanwhile.
    package static func discardAll(then end: () -> Never) -> Never { ExportFile.discardAll(then: end) }
}
