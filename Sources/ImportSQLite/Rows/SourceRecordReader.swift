import GRDB
import ImportEngine
import ImportSources

/// Reads records of a job once more, in source order, and makes sure that their chunks' bytes are what was imported.
package final class SourceRecordReader {
    private let job: StoredJob
    private let opener: SourceOpener
    private let interruption: Interruption
    private var source = -1
    private var stream: SourceStream?
    /// The chunk being read, and the hash of what was read of it.
    private var range: HashedRange?
    private let hasher = XXH3Hasher()
    /// What was read last: bytes before `filled`, of which those from `taken` on are at `offset`.
    private var block = [UInt8](repeating: 0, count: 256 << 10)
    private var filled = 0
    private var taken = 0
    private var offset: Int64 = 0

    package init(of job: StoredJob, opener: SourceOpener, interruption: Interruption) {
        self.job = job
        self.opener = opener
        self.interruption = interruption
    }

    /// The bytes of a record, which is not before the last one.
    ///
    /// - Parameters:
    ///   - source: its source's index in the job.
    ///   - firstByte: where they begin in the source.
    /// - Throws: `ImportError` when the source cannot be read, or is not what was imported.
    package func bytes(of source: Int, at firstByte: Int64, count: Int64, _ database: Database) throws -> [UInt8] {
        if source != self.source || range.map({ firstByte >= $0.endByte }) ?? true {
            try finish()
            try enter(source, firstByte, database)
        }
        guard let range, firstByte >= offset, count >= 0, count <= range.endByte - firstByte else { throw changed }
        var bytes: [UInt8] = []
        try read(upTo: firstByte) { _ in }
        try read(upTo: firstByte + count) { bytes += $0 }
        return bytes
    }

    /// Makes sure of the rest of the chunk that was read last.
    ///
    /// - Throws: `ImportError` as `bytes` does.
    package func finish() throws {
        guard let range else { return }
        try read(upTo: range.endByte) { _ in }
        guard hasher.digest == range.hash else { throw changed }
        self.range = nil
    }

    private func enter(_ source: Int, _ firstByte: Int64, _ database: Database) throws {
        if source != self.source { stream = nil }
        self.source = source
        let statement = try database.cachedStatement(
            sql: """
                SELECT first_byte, end_byte, source_hash FROM _import_chunk
                WHERE job = ? AND source = ? AND first_byte <= ? AND is_complete ORDER BY first_byte DESC LIMIT 1
                """
        )
        guard job.sources.indices.contains(source),
            let row = try Row.fetchOne(statement, arguments: [job.id, source, firstByte])
        else { throw changed }
        let range = try HashedRange(BookkeepingRow(row, of: "_import_chunk", database))
        let description = job.sources[source].description
        if stream == nil || !description.isCompressed && offset != range.firstByte {
            stream = try open(description, at: range.firstByte)
            (filled, taken, offset) = (0, 0, stream?.offset ?? 0)
        }
        // What is between is read and passed over.
        self.range = HashedRange(firstByte: offset, endByte: range.firstByte, hash: "")
        try read(upTo: range.firstByte) { _ in }
        hasher.reset()
        self.range = range
    }

    private func open(_ description: SourceDescription, at offset: Int64) throws -> SourceStream {
        do {
            return try opener.open(description, at: offset, interruption: interruption)
        } catch let error as ImportError where [.noInput, .badInput, .io].contains(error.code) {
            throw error.advising(advice)
        }
    }

    /// Goes on to `end`, which is in `range`.
    private func read(upTo end: Int64, _ take: (ArraySlice<UInt8>) -> Void) throws {
        while offset < end {
            if taken == filled { try fill() }
            let count = min(filled - taken, Int(end - offset))
            take(block[taken..<taken + count])
            taken += count
            offset += Int64(count)
        }
    }

    /// Reads the next bytes of `range`.
    private func fill() throws {
        guard let stream, let range, offset < range.endByte else { throw changed }
        let wanted = Int(min(range.endByte - offset, 256 << 10))
        if block.count != wanted { block = [UInt8](repeating: 0, count: wanted) }
        (filled, taken) = (try stream.read(into: &block), 0)
        guard filled > 0 else { throw changed }
        block.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0[..<filled])) }
    }

    private var advice: MessageText {
        "Records with an existing identifier are read again at the end. "
            + "Give the source as it was, then resume; or restart the import with \(.restart)."
    }

    private var changed: ImportError {
        let name = job.sources.indices.contains(source) ? job.sources[source].description.name : "a source"
        return ImportError(.sourceChanged, at: name, "is not what was imported any more", advice: advice)
    }
}
