import Foundation
import ImportModel

/// Reads a manifest line by line, up to the first line that is not as it was written.
struct ManifestReader {
    /// The largest manifest that is read, in bytes: that of some millions of chunks.
    private static let mostBytes: Int64 = 4 << 30

    private struct Version: Codable {
        let format: Int
    }

    /// What is wrong with the first line that is not sound; nil where all are.
    private(set) var damage: ChunkManifest.Damage?
    private var header: ChunkManifest.Header?
    private var entries: [ChunkEntry] = []
    private var numbers = ReservedChunkNumbers()
    private var ends: [(offset: Int64, numbers: ReservedChunkNumbers)] = []
    private let path: String
    private let decoder = JSONDecoder()
    private var total: Int64 = 0

    /// Reads the manifest in `directory`; nil if there is none.
    ///
    /// - Throws: `ImportError` with `.badInput` if it is no plain file, too large, or of another version of this program.
    init?(in directory: ChunkDirectory) throws {
        guard let file = try directory.openIfThere(ChunkManifest.fileName) else { return nil }
        path = "\(directory.path)/\(ChunkManifest.fileName)"
        let size = try file.size()
        guard size <= Self.mostBytes else {
            throw ImportError(
                .manifestDamaged,
                at: path,
                "has \(size.grouped) bytes, and a manifest has at most \(Self.mostBytes.grouped)",
                advice: "Restore the file, or remove the directory and cut the source again."
            )
        }
        var lines = ManifestLines(file)
        while let line = try lines.next() {
            guard case .whole(let bytes) = line, try take(bytes) else {
                var isTorn = false
                if case .torn = line { isTorn = true }
                damage = ChunkManifest.Damage(line: ends.count + 1, isTorn: isTorn)
                break
            }
            ends.append((lines.offset, numbers))
        }
        if header == nil, damage == nil { damage = ChunkManifest.Damage(line: 1, isTorn: true) }
    }

    /// What was read; nil if the header is not as it was written.
    var content: ChunkManifest.Content? {
        header.map {
            ChunkManifest.Content(header: $0, entries: entries, numbers: numbers, damage: damage, ends: ends)
        }
    }

    /// Takes the next line in; false if it is not sound.
    private mutating func take(_ line: ArraySlice<UInt8>) throws -> Bool {
        guard ManifestLine.isSound(line) else { return false }
        let data = Data(line)
        guard let header else { return try takeHeader(data) }
        guard let record = try? decoder.decode(ManifestRecord<ChunkEntry>.self, from: data),
            record.value.isSound(after: entries.last, in: header), numbers.contains(record.value.number)
        else { return false }
        let entry = record.value
        let (sum, isTooLarge) = total.addingReportingOverflow(entry.endByte - entry.firstByte)
        guard !isTooLarge else { return false }
        total = sum
        entries.append(entry)
        return record.reserved.allSatisfy { numbers.append($0) }
    }

    private mutating func takeHeader(_ line: Data) throws -> Bool {
        if let version = try? decoder.decode(Version.self, from: line),
            version.format != ChunkManifest.formatVersion
        {
            throw ImportError(
                .manifestOfOtherVersion,
                at: path,
                "has the format \(version.format)",
                advice: "Use the version of the importer that wrote it, or another directory with \(.chunkDirectory)."
            )
        }
        guard let record = try? decoder.decode(ManifestRecord<ChunkManifest.Header>.self, from: line),
            record.value.hash == XXH3Hasher.name
        else { return false }
        header = record.value
        return record.reserved.allSatisfy { numbers.append($0) }
    }
}
