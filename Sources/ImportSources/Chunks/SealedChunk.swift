import ImportModel

/// A chunk file that is whole, with what is needed to decode it.
package struct SealedChunk: Sendable {
    package let entry: ChunkEntry
    package let directory: ChunkDirectory
    /// The record paths of the source.
    package let paths: [String]
    /// Per record path of the source, the keys that its records carry.
    package let keys: [LineKeys]
    package let maxRecordBytes: Int
    /// What the source is decoded from; nil for UTF-8.
    package let encoding: String?
    /// How the source's text is rewritten; none for one that is read as it is.
    package let forms: [SourceForm.Kind]

    package init(_ entry: ChunkEntry, in directory: ChunkDirectory, shape: SourceShape, maxRecordBytes: Int) {
        self.entry = entry
        self.directory = directory
        self.maxRecordBytes = maxRecordBytes
        paths = shape.paths
        keys = shape.keys
        encoding = shape.encoding
        forms = (shape.form ?? "").split(separator: ",").compactMap { SourceForm.Kind(rawValue: String($0)) }
    }

    /// Reads the file.
    ///
    /// - Parameter bytes: what it is read into; exactly as long as the file afterwards.
    /// - Throws: `ImportError` when it cannot be read, or is not what was sealed.
    package func read(into bytes: inout [UInt8]) throws {
        let isWhole = try directory.read(entry, into: &bytes)
        let checksum = bytes.withUnsafeBytes { XXH3Hasher.digest(of: $0) }
        guard isWhole, entry.bytes == 0 || checksum == entry.checksum else {
            throw ImportError(
                .chunkDamaged,
                at: "\(directory.path)/\(ChunkDirectory.fileName(entry.number))",
                "is not as it was written",
                advice: "The import or split that made it cuts it again from the source: \(.sameAgain)."
            )
        }
    }
}

/// The part of a chunk that earlier commits cover.
package struct CommittedPrefix: Sendable, Hashable {
    package var records = 0
    /// XXH3-64 of the bytes of the chunk file that hold these records.
    package var hash = ""

    package init(records: Int = 0, hash: String = "") {
        self.records = records
        self.hash = hash
    }

    package static let none = CommittedPrefix()
}
