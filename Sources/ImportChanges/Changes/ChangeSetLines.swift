import Foundation
import ImportEngine
import ImportModel
import ImportSources

/// Reads a file's lines.
final class ChangeSetLines {
    private let path: String
    private let name: String
    private let file: Descriptor
    private let maxLineBytes: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// The number of the line that was read last, from 1; of a file that is read from within, counted from there.
    private(set) var lineNumber: Int64 = 0
    /// The first byte of the line that was read last, from 0.
    private(set) var byteOffset: Int64 = 0
    /// Just past the line that was read last, its line feed included.
    private(set) var nextOffset: Int64 = 0

    /// - Parameters:
    ///   - name: what messages call the file, if it is not its path.
    ///   - byteOffset: where to begin: at the beginning of a line.
    init(_ path: String, named name: String? = nil, maxLineBytes: Int, at byteOffset: Int64 = 0) throws {
        self.path = path
        self.name = name ?? path
        self.maxLineBytes = maxLineBytes
        file = try Descriptor.open(path, waits: true)
        guard byteOffset > 0 else { return }
        guard lseek(file.number, off_t(byteOffset), SEEK_SET) == off_t(byteOffset) else {
            throw ImportError.cannotRead(path, errno: errno)
        }
        nextOffset = byteOffset
    }

    /// The next line without its line feed; nil at the end of the file.
    func next() throws -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) { return line(to: end, breakLength: 1) }
            searched = buffer.count
            guard searched - start <= maxLineBytes else {
                begin()
                throw error("a line of more than \(maxLineBytes.grouped) bytes")
            }
            if isAtEnd { return start < buffer.count ? line(to: buffer.count, breakLength: 0) : nil }
            if start > 0 {
                buffer.removeSubrange(..<start)
                searched -= start
                start = 0
            }
            try fill()
        }
    }

    private func begin() {
        lineNumber += 1
        byteOffset = nextOffset
    }

    private func line(to end: Int, breakLength: Int) -> [UInt8] {
        begin()
        let line = Array(buffer[start..<end])
        start = end + breakLength
        nextOffset += Int64(line.count + breakLength)
        return line
    }

    private func fill() throws {
        let block = try file.next(of: path)
        isAtEnd = block == nil
        buffer += block ?? []
    }

    /// Adds a line that was read to a checksum.
    func add(_ line: [UInt8], to hasher: XXH3Hasher) {
        line.withUnsafeBytes { hasher.update($0) }
        [UInt8(ascii: "\n")].withUnsafeBytes { hasher.update($0) }
    }

    /// What is wrong with the last line.
    func error(_ reason: String) -> ImportError { error(ChangeSetScanner.LineError(reason: reason, byteOffset: 0)) }

    func error(_ error: ChangeSetScanner.LineError) -> ImportError {
        let offset = byteOffset + Int64(error.byteOffset)
        return ImportError(
            .changeSetInvalid,
            at: name,
            position: ImportError.Position(
                line: max(lineNumber, 1),
                column: Int64(error.byteOffset) + 1,
                byteOffset: offset
            ),
            "line \(max(lineNumber, 1)): \(error.reason)",
            advice: error.advice ?? "Make the change set again."
        )
    }
}
