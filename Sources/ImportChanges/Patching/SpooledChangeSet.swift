import Foundation
import ImportEngine
import ImportSQLite
import ImportSources

/// A change set that can be read more than once: a file, or standard input in a file without a name.
package final class SpooledChangeSet: Sendable {
    /// Where it can be read now.
    package let path: String
    private let given: String
    private let file: Descriptor?

    /// - Parameter path: the change set's, `-` for standard input.
    /// - Throws: `ImportError` when standard input cannot be read or kept.
    package init(_ path: String, _ interruption: Interruption) throws {
        given = path
        guard path == "-" else {
            self.path = path
            file = nil
            return
        }
        let file = try Self.fileWithoutName()
        let input = Descriptor(borrowing: STDIN_FILENO)
        while let block = try input.next(of: "-", interruption.check) { try Self.write(block[...], to: file) }
        self.file = file
        self.path = "/dev/fd/\(file.number)"
    }

    /// Keeps what `body` writes.
    ///
    /// - Throws: `ImportError` when it cannot be kept, and what `body` throws.
    package init(_ body: (_ write: @escaping ([UInt8]) throws -> Void) throws -> Void) throws {
        let file = try Self.fileWithoutName()
        try body { try Self.write($0[...], to: file) }
        given = "-"
        self.file = file
        path = "/dev/fd/\(file.number)"
    }

    private static var folder: String { FileManager.default.temporaryDirectory.path }

    private static func fileWithoutName() throws -> Descriptor {
        var name = Array("\(folder)/importer-changes-XXXXXX".utf8CString)
        let number = mkstemp(&name)
        guard number >= 0 else { throw ImportError.system(errno, "create a file in", folder) }
        unlink(name)
        return Descriptor(owning: number)
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to file: Descriptor) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file.number, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ImportError.system(errno, "write to", folder) }
            rest = rest.dropFirst(count)
        }
    }

    /// The path of a file that stays as long as a job needs it; standard input is copied to one that the store knows of.
    package func keep(beside store: String, _ token: String, _ destination: SQLiteDestination) throws -> String {
        guard let file else { return given }
        var path = JobResolver.absolute(store + ".patch.ndjson")
        var number = 2
        while FileManager.default.fileExists(atPath: path) {
            path = JobResolver.absolute("\(store).patch-\(number).ndjson")
            number += 1
        }
        lseek(file.number, 0, SEEK_SET)
        try destination.makeRepairFile(at: path, token: token) { write in
            while let block = try file.next(of: "-") { try write(block[...]) }
        }
        return path
    }
}
