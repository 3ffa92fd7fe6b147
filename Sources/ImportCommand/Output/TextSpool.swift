import Foundation
import Importer

/// Text that is kept until what precedes it is known: a file without a name, so that memory does not depend on its length.
final class TextSpool {
    private let file: UnsafeMutablePointer<FILE>

    /// - Throws: `ImportError` with `.cannotCreate` when there is no room for it.
    init() throws {
        guard let file = tmpfile() else {
            throw ImportError(
                .cannotCreate,
                "cannot create a temporary file: \(String(cString: strerror(errno)))",
                advice: "Make room in the folder for temporary files."
            )
        }
        self.file = file
    }

    deinit { fclose(file) }

    /// Adds text at the end.
    func append(_ text: String) throws {
        var bytes = text
        let written = bytes.withUTF8 { fwrite($0.baseAddress, 1, $0.count, file) }
        guard written == bytes.utf8.count else { throw failure() }
    }

    /// Hands on all of it, some bytes at a time.
    func write(_ output: ([UInt8]) throws -> Void) throws {
        guard fflush(file) == 0 else { throw failure() }
        rewind(file)
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let length = fread(&block, 1, block.count, file)
            guard length > 0 else { break }
            try output(Array(block[..<length]))
        }
        guard ferror(file) == 0 else { throw failure() }
    }

    private func failure() -> ImportError {
        ImportError(.cannotWrite, "a temporary file fails: \(String(cString: strerror(errno)))")
    }
}
