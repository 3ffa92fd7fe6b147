import Foundation
import ImportModel

/// A chunk file that is whole, with what is needed to decode it.
struct SealedChunk: Sendable {
    let entry: ChunkEntry
    /// The chunk file's path.
    let path: String
    let layout: SourceShape.Layout
    /// Per record path of the source, whether its records carry a key.
    let isKeyed: [Bool]
    let maxRecordBytes: Int

    /// Reads the file.
    ///
    /// - Parameter bytes: what it is read into; grown as needed, never shrunk.
    /// - Returns: how many bytes it has.
    /// - Throws: `ImportError` when it cannot be read, or is not what was sealed.
    func read(into bytes: inout [UInt8]) throws -> Int {
        guard entry.bytes > 0 else { return 0 }
        let size = Int(entry.bytes)
        if bytes.count < size { bytes.append(contentsOf: repeatElement(0, count: size - bytes.count)) }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw damaged(String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var filled = 0
        while filled < size {
            let got = bytes.withUnsafeMutableBytes { buffer in
                Foundation.read(descriptor, buffer.baseAddress?.advanced(by: filled), size - filled)
            }
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw damaged(got < 0 ? String(cString: strerror(errno)) : "it is too short") }
            filled += got
        }
        let digest = bytes.withUnsafeBytes { XXH3Hasher.hexDigest(of: UnsafeRawBufferPointer(rebasing: $0[..<size])) }
        guard digest == entry.checksum else { throw damaged("its checksum is wrong") }
        return size
    }

    private func damaged(_ why: String) -> ImportError {
        ImportError(
            .io, "\(path): \(why)",
            advice: "Run the import again: the chunk is cut again from the source, if that can still be read.")
    }
}

/// The part of a chunk that earlier commits cover.
struct CommittedPrefix: Sendable, Hashable {
    var records = 0
    /// XXH3-64 of the bytes of the chunk file that hold these records.
    var hash = ""

    static let none = CommittedPrefix()
}
