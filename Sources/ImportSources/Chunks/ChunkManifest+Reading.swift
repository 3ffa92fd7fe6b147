import Foundation

/// What a manifest says, as far as it is as it was written.
extension ChunkManifest {
    /// What a manifest says, and where its last whole line ends.
    package struct Content: Sendable {
        package let header: Header
        /// In the order of their numbers.
        package let entries: [ChunkEntry]
        /// The names that are reserved for its chunks.
        package let numbers: ReservedChunkNumbers
        /// What follows the entries and is not as it was written; nil where nothing is.
        package let damage: Damage?
        /// Where the header's line and each entry's line end in the file, and the names that are reserved up to there.
        package let ends: [(offset: Int64, numbers: ReservedChunkNumbers)]

        /// The beginning of it, with `count` entries.
        package func prefix(_ count: Int) -> Content {
            let ends = Array(ends.prefix(count + 1))
            return Content(
                header: header,
                entries: Array(entries.prefix(count)),
                numbers: ends.last?.numbers ?? ReservedChunkNumbers(),
                damage: nil,
                ends: ends
            )
        }
    }

    /// A line that is not as it was written.
    package struct Damage: Sendable, Hashable {
        /// Counts from 1.
        package let line: Int
        /// True if it breaks off at the end of the file, as when a process is killed while it writes.
        package let isTorn: Bool

        /// What it means for those who need all of the manifest at `path`.
        package func error(in path: String) -> ImportError {
            ImportError(
                .manifestDamaged,
                at: path,
                position: ImportError.Position(line: Int64(line)),
                "line \(line) \(isTorn ? "breaks off" : "is not as it was written")",
                advice: "Restore the file, or remove the directory and cut the source again."
            )
        }
    }

    /// Reads a directory's manifest.
    ///
    /// - Returns: nil if there is none.
    /// - Throws: `ImportError` with `.badInput` if a newer version of this program wrote it, or if a line is not as it was
    ///   written.
    package static func read(in directory: ChunkDirectory) throws -> Content? {
        guard let reader = try ManifestReader(in: directory) else { return nil }
        let path = "\(directory.path)/\(fileName)"
        if let damage = reader.damage { throw damage.error(in: path) }
        return reader.content
    }

    /// Reads only whose chunks a directory has, and the names that are reserved for them, without what describes the chunks.
    ///
    /// - Returns: the token of their job, nil for a split's; nil if there is no manifest of this format.
    package static func readNumbers(in directory: ChunkDirectory) throws -> (
        job: String?, numbers: ReservedChunkNumbers
    )? {
        struct Owner: Decodable {
            let format: Int
            let job: String?
        }
        struct Numbers: Decodable {}
        guard let file = try directory.openIfThere(fileName) else { return nil }
        let decoder = JSONDecoder()
        var lines = ManifestLines(file)
        guard case .whole(let first)? = try lines.next(), ManifestLine.isSound(first),
            let header = try? decoder.decode(ManifestRecord<Owner>.self, from: Data(first)),
            header.value.format == formatVersion
        else { return nil }
        var numbers = ReservedChunkNumbers()
        var reserved = header.reserved
        while reserved.allSatisfy({ numbers.append($0) }), case .whole(let line)? = try lines.next(),
            ManifestLine.isSound(line)
        {
            reserved =
                ManifestLine.mayReserve(line)
                ? try decoder.decode(ManifestRecord<Numbers>.self, from: Data(line)).reserved : []
        }
        return (header.value.job, numbers)
    }

    /// Reads the manifest of a job that can cut its chunks again, up to the first line that is not as it was written.
    ///
    /// - Returns: nil if there is none, or its header is not as it was written.
    /// - Throws: `ImportError` with `.cannotCreate` if it is no plain file, too large, or of a newer version of this program:
    ///   then nothing is written beside it.
    package static func readWhatIsSound(in directory: ChunkDirectory) throws -> Content? {
        do {
            guard let reader = try ManifestReader(in: directory) else { return nil }
            return reader.content
        } catch let error as ImportError where error.code == .badInput {
            throw error.becoming(.chunkDirectoryTaken)
        }
    }
}

extension ChunkDirectory {
    /// True if its chunks are those that were cut for a job.
    ///
    /// - Parameters:
    ///   - token: the job's; nil for chunks that `split` has cut.
    ///   - shapes: of the job's sources.
    package func holdsChunks(ofJob token: String?, _ shapes: [SourceShape]) throws -> Bool {
        guard let header = try ChunkManifest.readWhatIsSound(in: self)?.header else { return false }
        return header.job == token && header.shapes == shapes
    }
}
