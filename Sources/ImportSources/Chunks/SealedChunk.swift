import ImportModel

/// A chunk whose file is whole, with what is needed to decode it.
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

    /// Where its lines begin in what `read` has read of chunks of its file, and where they end.
    ///
    /// - Parameter first: the first of them.
    package func range(after first: SealedChunk) -> Range<Int> {
        let start = Int(entry.offset - first.entry.offset)
        return start..<start + Int(entry.bytes)
    }
}

extension [SealedChunk] {
    /// Reads the lines of chunks that follow one another in a file.
    ///
    /// - Parameter bytes: what they are read into; exactly as long as they are afterwards.
    /// - Throws: `ImportError` when they cannot be read, or are not what was sealed.
    package func read(into bytes: inout [UInt8]) throws {
        guard let first else {
            bytes = []
            return
        }
        let isWhole = try first.directory.read(map(\.entry), into: &bytes)
        let isIntact = bytes.withUnsafeBytes { bytes in
            isWhole
                && allSatisfy { chunk in
                    chunk.entry.bytes == 0
                        || XXH3Hasher.digest(of: UnsafeRawBufferPointer(rebasing: bytes[chunk.range(after: first)]))
                            == chunk.entry.checksum
                }
        }
        guard isIntact else {
            throw ImportError(
                .chunkDamaged,
                at: "\(first.directory.path)/\(ChunkDirectory.fileName(first.entry.fileNumber))",
                "is not as it was written",
                advice: "The import or split that made it cuts it again from the source: \(.sameAgain)."
            )
        }
    }

    /// The same, those that share a file together.
    package func byFile() -> [[SealedChunk]] {
        reduce(into: []) { files, chunk in
            if chunk.entry.part != nil, files.last?.first?.entry.fileNumber == chunk.entry.fileNumber {
                files[files.count - 1].append(chunk)
            } else {
                files.append([chunk])
            }
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
