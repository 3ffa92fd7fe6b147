import Foundation
import Importer

/// The file of `--report`, opened before the import begins: better to learn then than hours later that it cannot be.
final class ReportFile {
    private let path: String
    private let descriptor: Int32

    /// Opens or makes the file; what is in it stays until the report is written.
    ///
    /// - Parameters:
    ///   - path: as it was given.
    ///   - files: what the report must not be written over: what each is, and its path.
    /// - Throws: `ImportError` with `.usage` when it is one of `files` or is in one that is a directory, with
    ///   `.cannotCreate` when it cannot be made.
    init(path: String, apartFrom files: [(role: String, path: String)]) throws {
        self.path = path
        try Self.check(path, apartFrom: files)
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let code = errno
            let message: MessageText = "cannot create the report \(path): \(String(cString: strerror(code)))"
            throw ImportError.shortage(code, message) ?? ImportError(.cannotCreate, message)
        }
    }

    deinit { close(descriptor) }

    private static func check(_ path: String, apartFrom files: [(role: String, path: String)]) throws {
        guard let own = FileIdentity(path) else { return }
        let folder = FileIdentity(URL(fileURLWithPath: path).deletingLastPathComponent().path)
        for file in files {
            guard let other = FileIdentity(file.path) else { continue }
            var isDirectory: ObjCBool = false
            let holdsFiles =
                FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory) && isDirectory.boolValue
            guard own == other || (holdsFiles && folder == other) else { continue }
            throw ImportError(
                .sameFile,
                own == other
                    ? "--report is the same file as \(file.role) \(file.path)"
                    : "--report is in \(file.role) \(file.path)",
                advice: "Give the report a file of its own."
            )
        }
    }

    /// Writes the report over what the file held.
    ///
    /// - Throws: `ImportError` with `.io`: the import itself is done by then.
    func write(_ report: ImportReport, of store: String) throws {
        // A pipe or a device cannot be cut, and need not be.
        _ = ftruncate(descriptor, 0)
        let failure = RawOutput.writeAll(try JSONText.document(report), to: descriptor)
        guard failure != 0 else { return }
        throw ImportError(
            .cannotWrite,
            "cannot write the report \(path): \(String(cString: strerror(failure)))",
            advice:
                "What was imported is in the store; `\(CommandName.text) status \(store.storeWords()) --json` prints the same report."
        )
    }
}
