import Foundation
import Importer

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The file of `--report`, opened before the import begins: better to learn then than hours later that it cannot be.
final class ReportFile {
    private let path: String
    private let descriptor: Int32

    /// - Throws: `ImportError` with `.cannotCreate`.
    init(path: String) throws {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw ImportError(.cannotCreate, "cannot create the report \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Puts the report in place of what the file held.
    ///
    /// - Throws: `ImportError` with `.io`: the import itself is done by then.
    func write(_ report: ImportReport) throws {
        // A pipe or a device cannot be cut, and need not be.
        _ = ftruncate(descriptor, 0)
        let failure = RawOutput.writeAll(try JSONText.document(report), to: descriptor)
        guard failure != 0 else { return }
        throw ImportError(
            .io,
            "cannot write the report \(path): \(String(cString: strerror(failure)))",
            advice: "What was imported is in the store; `importer status STORE --json` prints the same report."
        )
    }
}
