import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

import struct ImportSources.Record

/// Where a row's own record is in its source.
package struct SourceRecordLocation: Sendable, Hashable {
    /// The record's bytes, decompressed.
    package let bytes: Range<Int64>
    /// What is read to count the lines before it.
    fileprivate let source: SourceDescription

    /// The source's name, fit to print.
    package var sourceName: String { source.displayName }

    /// The line of its first byte, from 1.
    ///
    /// All of the source that precedes the record is read.
    ///
    /// - Throws: `ImportError` when the source cannot be read.
    package func line(_ interruption: Interruption) throws -> Int64 {
        try source.line(of: bytes.lowerBound, interruption)
    }
}

extension StoreInspection {
    /// Chunks that are larger are not looked through.
    private static let mostBytes: Int64 = 64 << 20
    /// More chunks than these are not looked through.
    private static let mostChunks = 4

    /// Finds the record that a row was inserted from, in the part of its source that it is in.
    ///
    /// The source is looked into once more. The record is the first with the row's identifier; of an entity without one it is as
    /// many records after the chunk's first as the row is after the chunk's first row.
    ///
    /// - Parameter table: the table's name, or that of its entity's ancestor whose table it is.
    /// - Returns: nil where it cannot be found so, or the source is not what was imported any more.
    /// - Throws: `ImportError` as `status` does, and when the source cannot be read.
    package func place(of rowID: Int64, in table: String, _ interruption: Interruption) throws -> SourceRecordLocation?
    {
        guard let search = try read({ try SourceRecordSearch(rowID, in: table, $0) }) else { return nil }
        for chunk in search.chunks.prefix(Self.mostChunks) where Int64(chunk.range.count) <= Self.mostBytes {
            let source = search.job.sources[chunk.source]
            guard source.description.isFile, var extractor = SourceRecordExtractor(source.shape, isStart: chunk.isFirst)
            else {
                return nil
            }
            let hasher = XXH3Hasher()
            // Where the records are, and which have the row's identifier.
            var records: [Range<Int>] = []
            var same: [Int] = []
            var left = chunk.range.count
            try source.description.read(chunk.range, interruption) { block in
                block.withUnsafeBytes { hasher.update($0) }
                left -= block.count
                extractor.take(block, isLast: left == 0) { record, place in
                    if search.isSame(record) { same.append(records.count) }
                    records.append(place..<place + record.count)
                }
            }
            guard hasher.digest == chunk.hash else { return nil }
            let rejected = try read { try search.rejected(of: chunk, count: records.count, $0) }
            guard let index = search.index(among: records.count, same, besides: rejected, chunk) else { continue }
            let first = chunk.range.lowerBound + Int64(records[index].lowerBound)
            return SourceRecordLocation(bytes: first..<first + Int64(records[index].count), source: source.description)
        }
        return nil
    }
}

/// What a record is found by.
private struct SourceRecordSearch {
    struct Chunk {
        let source: Int
        let range: Range<Int64>
        let hash: String
        let firstOrdinal: Int64
        let isFirst: Bool
        let inserted: Int64
        let rowIDs: ClosedRange<Int64>
    }

    let job: StoredJob
    let chunks: [Chunk]
    private let rowID: Int64
    /// The attributes of the identifier with the row's values; none where there is no identifier.
    private let identifier: [(attribute: AttributeDescription, value: Record.Value)]

    init?(_ rowID: Int64, in table: String, _ database: Database) throws {
        guard try database.hasTable("_import_addition"),
            let number = try InsertedRowRanges.job(of: rowID, in: table, database),
            let job = try StoredJob.find(number, database),
            job.change == nil, job.retry == nil, job.isReadableAgain, job.options.skip == 0,
            !job.options.headerRow, let model = job.model,
            let entity = model.entities.first(where: { $0.table.asciiLowercased == table.asciiLowercased })
        else { return nil }
        let attributes = entity.identifier.compactMap { name in entity.attributes.first { $0.name == name } }
        guard attributes.count == entity.identifier.count,
            attributes.allSatisfy({ $0.from.allSatisfy(\.isWithinRecord) })
        else { return nil }
        // Rows of an entity without identifier come from elsewhere, too, where entities relate to one another.
        if attributes.isEmpty, !model.isFlat { return nil }
        self.rowID = rowID
        self.job = job
        identifier = try zip(attributes, Self.values(of: attributes, rowID, entity.table, database)).map { ($0, $1) }
        chunks = try BookkeepingRow.fetchAll(
            database,
            from: "_import_chunk",
            sql: """
                SELECT source, first_byte, end_byte, source_hash, first_ordinal, inserted, first_rowid, last_rowid,
                    first_byte = (SELECT min(first_byte) FROM _import_chunk AS other
                        WHERE other.job = chunk.job AND other.source = chunk.source) AS is_first
                FROM _import_chunk AS chunk
                WHERE job = ? AND is_complete AND inserted > 0 AND entity = (
                        SELECT position FROM _import_entity AS other WHERE other.job = chunk.job AND other.entity = ?)
                    AND ? BETWEEN first_rowid AND last_rowid
                ORDER BY source, first_byte
                """,
            arguments: [number, entity.name, rowID]
        ).compactMap { row in
            let (first, end) = (try row.number("first_byte"), try row.number("end_byte"))
            let (firstRow, lastRow) = (try row.rowID("first_rowid"), try row.rowID("last_rowid"))
            guard first < end, firstRow <= lastRow, job.sources.indices.contains(try row.index("source")) else {
                return nil
            }
            return Chunk(
                source: try row.index("source"),
                range: first..<end,
                hash: try row.text("source_hash"),
                firstOrdinal: try row.number("first_ordinal"),
                isFirst: try row.flag("is_first"),
                inserted: try row.number("inserted"),
                rowIDs: firstRow...lastRow
            )
        }
    }

    private static func values(
        of attributes: [AttributeDescription],
        _ rowID: Int64,
        _ table: String,
        _ database: Database
    ) throws -> [Record.Value] {
        guard !attributes.isEmpty else { return [] }
        let columns = attributes.map(\.column.quotedIdentifier).joined(separator: ", ")
        let text = SQLFragment("SELECT \(columns) FROM \(table.quotedIdentifier) WHERE rowid = ?", [.integer(rowID)])
        let rows = try RawRowCursor(database, text)
        defer { rows.reset() }
        guard let row = try rows.next() else { return [] }
        return attributes.indices.map { row.stored(at: $0) }
    }

    /// The indexes of the records that are rejects, among the chunk's.
    func rejected(of chunk: Chunk, count: Int, _ database: Database) throws -> Set<Int> {
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: "_import_reject",
            sql: "SELECT ordinal FROM _import_reject WHERE job = ? AND ordinal >= ? AND ordinal < ?",
            arguments: [job.id, chunk.firstOrdinal, chunk.firstOrdinal + Int64(count)]
        )
        return Set(try rows.map { Int(try $0.number("ordinal") - chunk.firstOrdinal) })
    }

    /// True if a record has the row's identifier.
    func isSame(_ record: ArraySlice<UInt8>) -> Bool {
        guard !identifier.isEmpty, let record = try? JSONValue(parsing: Array(record)) else { return false }
        return identifier.allSatisfy { attribute, stored in
            guard let value = attribute.from.lazy.compactMap({ record.value(at: $0.keys) }).first else { return false }
            return (try? attribute.coerce(value))?.value.isSame(as: stored) ?? false
        }
    }

    /// Which of a chunk's records the row's is.
    ///
    /// - Parameter same: those that have its identifier.
    func index(among count: Int, _ same: [Int], besides rejected: Set<Int>, _ chunk: Chunk) -> Int? {
        let (first, last) = (chunk.rowIDs.lowerBound, chunk.rowIDs.upperBound)
        let isEachInserted = Int64(count - rejected.count) == chunk.inserted
        let isConsecutive = last - first == chunk.inserted - 1
        guard !identifier.isEmpty else {
            guard isEachInserted, isConsecutive else { return nil }
            return (0..<count).filter { !rejected.contains($0) }[Int(rowID - first)]
        }
        // Else the record may only have changed what an earlier one has inserted, whose row id it has named.
        let isRowID = identifier.count == 1 && identifier[0].value == .integer(rowID)
        guard isEachInserted || isConsecutive && !isRowID else { return nil }
        return same.first { !rejected.contains($0) }
    }
}

extension JSONValue {
    fileprivate func value(at keys: [String]) -> JSONValue? {
        keys.reduce(JSONValue?(self)) { value, key in value?[key] }
    }
}

extension SourceDescription {
    /// True if its path leads to a file, and not to what would be waited for.
    fileprivate var isFile: Bool {
        var status = stat()
        return path.map { stat($0, &status) == 0 && status.st_mode & S_IFMT == S_IFREG } ?? false
    }

    /// The line of a byte, from 1; all that precedes it is read.
    func line(of byte: Int64, _ interruption: Interruption) throws -> Int64 {
        var line: Int64 = 1
        try read(0..<byte, interruption) { block in
            line += block.withUnsafeBufferPointer { bytes in
                Int64(bytes.baseAddress.map { ByteScan.countLineBreaks($0, bytes.count) } ?? 0)
            }
        }
        return line
    }

    /// Reads a part of it, a block at a time, up to its end.
    fileprivate func read(
        _ range: Range<Int64>,
        _ interruption: Interruption,
        _ take: (ArraySlice<UInt8>) throws -> Void
    ) throws {
        let stream = try SourceOpener().open(self, at: range.lowerBound, interruption: interruption)
        var block = [UInt8](repeating: 0, count: 256 << 10)
        while stream.offset < range.upperBound {
            let rest = range.upperBound - stream.offset
            let count = try stream.read(into: &block)
            guard count > 0 else { return }
            try take(block[..<min(count, Int(clamping: rest))])
        }
    }
}
