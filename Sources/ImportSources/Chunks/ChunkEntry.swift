/// One sealed chunk, as its line of the manifest has it.
///
/// Its lines are a chunk file, or a part of one: chunks of small sources that follow one another share a file.
///
/// Line *i* of the chunk (from 0) is the record with the ordinal `firstOrdinal + i`. A record that the splitter
/// passed over has an empty line and an entry in `rejects`; one that is not wanted (`skip`, `limit`) has neither, and
/// its bytes are part of a gap.
///
/// Every byte of a line stands for one byte of the source. The first line's record begins at `firstByte` plus its gap,
/// every other one at the end of the record before it plus its gap. Byte *j* of a line (from 0) is the source's byte at the
/// record's beginning plus *j*; CR and LF between tokens have become spaces. The line of a record whose path has `.*`
/// has the keys there around it (`{"outer":{"key": record}}`). Where the path ends in `.*` the record begins at its key's
/// opening quote; the other keys are as the source has them, but not at the record: `{"outer":{` and the closing braces
/// stand for no byte of the source, so that byte *j* is the source's at the beginning plus *j* less the ones before it.
/// `ChunkSourceMap` does this arithmetic.
package struct ChunkEntry: Sendable, Hashable, Codable {
    /// Counts chunks of a directory, from 1.
    package let number: Int
    /// The source's index in the job, from 0.
    package let source: Int
    /// Where in the source this chunk begins: the end of the chunk before it, or the source's first byte.
    ///
    /// Counts decompressed bytes, from 0. The first chunk of a source that begins with a byte order mark begins at 3.
    package let firstByte: Int64
    /// Just past this chunk's last byte in the source, which is the next chunk's `firstByte`.
    ///
    /// The end of the chunk's last record (in a source of lines: of its line, before the line break), or of the source.
    package let endByte: Int64
    /// XXH3-64 of the source's bytes from `firstByte` to `endByte`, in hexadecimal.
    package let sourceHash: String
    /// The first record's number in the job, from 1.
    package let firstOrdinal: Int64
    /// How many records it holds, passed-over ones included.
    ///
    /// 0 only in a source's last chunk; then it has no lines.
    package let records: Int
    /// Runs of record paths: how many records, and the index of their record path in the header.
    package let paths: [Run]
    /// Runs of gaps: how many records, and how many source bytes precede each of them that are not in its line.
    ///
    /// They count from the end of the record before, or from `firstByte`.
    package let gaps: [Run]
    /// The size of its lines in bytes.
    package let bytes: Int64
    /// XXH3-64 of its lines, in hexadecimal.
    package let checksum: String
    /// Where its lines are; nil where they are all of the file with its number.
    package var part: FilePart?
    /// Records that were passed over while streaming.
    package let rejects: [SkippedRecord]
    /// Values that are outside the record paths, counted by where they are.
    ///
    /// These are the ones that begin before the chunk's last record ends; in a source's last chunk all the rest too. A
    /// value is counted once, at its top. Its path is written like a record path, with wildcards for elements and for
    /// members whose key is in no record path, except the value's own key. A source has at most 1,000 such names, the
    /// first in its order; the rest is counted under `…`. Values that have bytes that are not UTF-8 are counted again,
    /// under `invalidUTF8 ` and their path; so is a key with such bytes that leads to records.
    package let outside: [String: Int64]
    /// Those of them that are kept with the source, in its order; nil for none.
    ///
    /// Not what has bytes that are not UTF-8; at most `OutsideValue.mostBytes` of a source.
    package var outsideValues: [OutsideValue]?
    /// What a fresh parser needs to continue from `endByte`.
    package let end: SplitPosition
    /// True if the source ended, whole, at `endByte`, or no record after it is wanted.
    package let isLast: Bool
    /// What is wrong with the source, in its last chunk; nil for nothing.
    package var fault: String?

    /// What outside values are counted under that have none of the names.
    package static let otherNames = "…"

    /// The number in its file's name.
    package var fileNumber: Int { part?.file ?? number }
    /// Its file's size in bytes.
    package var fileSize: Int64 { part?.size ?? bytes }
    /// Where its lines begin in its file, in bytes.
    package var offset: Int64 { part?.offset ?? 0 }

    /// The same chunk in another job.
    package func moved(to number: Int, source: Int, firstOrdinal: Int64) -> ChunkEntry {
        ChunkEntry(
            number: number,
            source: source,
            firstByte: firstByte,
            endByte: endByte,
            sourceHash: sourceHash,
            firstOrdinal: firstOrdinal,
            records: records,
            paths: paths,
            gaps: gaps,
            bytes: bytes,
            checksum: checksum,
            rejects: rejects,
            outside: outside,
            outsideValues: outsideValues,
            end: end,
            isLast: isLast,
            fault: fault
        )
    }

    /// A part of a chunk file: `[file, offset, size]` in JSON.
    package struct FilePart: Sendable, Hashable, Codable {
        /// The number of the file's first chunk, which is in its name.
        package var file: Int
        /// Where the part begins, in bytes.
        package var offset: Int64
        /// The file's size in bytes.
        package var size: Int64

        package init(file: Int, offset: Int64, size: Int64) {
            self.file = file
            self.offset = offset
            self.size = size
        }

        /// Reads `[file, offset, size]`.
        package init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            file = try container.decode(Int.self)
            offset = try container.decode(Int64.self)
            size = try container.decode(Int64.self)
        }

        /// Writes `[file, offset, size]`.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(file)
            try container.encode(offset)
            try container.encode(size)
        }
    }

    /// A run of equal values: `[count, value]` in JSON.
    package struct Run: Sendable, Hashable, Codable {
        /// How many.
        package var count: Int
        /// The value that they share.
        package var value: Int64

        /// A run of `count` times `value`.
        package init(count: Int, value: Int64) {
            self.count = count
            self.value = value
        }

        /// Reads `[count, value]`.
        package init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            count = try container.decode(Int.self)
            value = try container.decode(Int64.self)
        }

        /// Writes `[count, value]`.
        package func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(count)
            try container.encode(value)
        }
    }

    /// A record that the splitter rejected (`recordTooLarge`, `recordTooDeep`).
    package struct SkippedRecord: Sendable, Hashable, Codable {
        /// The record's line in the chunk, from 0.
        package let line: Int
        /// Its first byte in the source.
        package let firstByte: Int64
        /// Its length in the source.
        package let length: Int64
        /// `recordTooLarge` or `recordTooDeep`.
        package let code: String
        /// Its first bytes, at most 4,096, in Base64.
        package let head: String
        /// What its line would have before these; nil for nothing, or a brace.
        package let keys: String?
    }
}

extension ChunkEntry {
    /// What of its source it was cut from.
    package var sourceRange: HashedRange { HashedRange(firstByte: firstByte, endByte: endByte, hash: sourceHash) }
}
