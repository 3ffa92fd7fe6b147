import ImportModel
import ImportSources

/// One value of a row: a tag, and a number or a slice of bytes.
///
/// It knows nothing of SQLite; the store binds it.
@usableFromInline package struct Cell {
    @usableFromInline package enum Tag: UInt8 {
        case null
        case integer
        case real
        /// Text in the bytes of the chunk that the batch was decoded from.
        case chunkText
        /// Text in the batch's own bytes.
        case batchText
        /// Bytes that are no text, in the batch's own bytes.
        case batchBlob
        /// Text in the batch's own bytes that was made for an object that has none.
        ///
        /// It counts on insert, and where it is the identifier is what the object is looked up by; it never takes the
        /// place of what an object has.
        case generatedText
        /// The same as bytes that are no text.
        case generatedBlob
    }

    @usableFromInline package let tag: Tag
    /// The length of a text or blob in bytes; 0 otherwise.
    @usableFromInline package let length: UInt32
    /// An integer's or double's bits, or a text's or blob's offset.
    @usableFromInline package let payload: UInt64

    @inlinable package init(tag: Tag, length: UInt32, payload: UInt64) {
        self.tag = tag
        self.length = length
        self.payload = payload
    }

    @inlinable package static var null: Cell { Cell(tag: .null, length: 0, payload: 0) }

    @inlinable package static func integer(_ value: Int64) -> Cell {
        Cell(tag: .integer, length: 0, payload: UInt64(bitPattern: value))
    }

    @inlinable package static func real(_ value: Double) -> Cell {
        Cell(tag: .real, length: 0, payload: value.bitPattern)
    }

    @inlinable package static func text(_ tag: Tag, offset: Int, length: Int) -> Cell {
        Cell(tag: tag, length: UInt32(truncatingIfNeeded: length), payload: UInt64(truncatingIfNeeded: offset))
    }

    /// True if its value was made for an object that has none.
    @inline(__always)
    @inlinable package var isGenerated: Bool { tag == .generatedText || tag == .generatedBlob }

    @inline(__always)
    @inlinable package var integerValue: Int64 { Int64(bitPattern: payload) }

    @inline(__always)
    @inlinable package var realValue: Double { Double(bitPattern: payload) }

    @inline(__always)
    @inlinable package var textOffset: Int { Int(payload) }

    @inline(__always)
    @inlinable package var textLength: Int { Int(length) }
}

/// What lies between decoding and the store: rows in source order, and what became of the records that are no rows.
///
/// A batch is decoded and committed by the same worker, beside the chunk bytes that its texts are slices of.
@usableFromInline package struct RowBatch {
    /// One object to be.
    @usableFromInline package struct Row {
        /// The entity's index in the job.
        @usableFromInline package let entity: Int32
        /// The row's index in the batch of the object that this one is nested in; -1 for a record's own.
        @usableFromInline package let parent: Int32
        /// The record's number in the job, from 1.
        package let ordinal: Int64
        /// Where the row's cells begin: one per attribute that the record mentions, in the entity's order; -1 where the
        /// row is laid out.
        ///
        /// So a batch's size follows that of its records, however wide the entity is, as a layout's does (`reserve`).
        @usableFromInline package let firstCell: Int
        /// Where the row's presence mask begins: a bit per attribute, 64 to a word, set where the record mentions it
        /// or a value was made for it; of a row that is laid out only where the record mentions it.
        ///
        /// Missing is not null.
        @usableFromInline package let firstPresenceWord: Int
        /// The index in `insertRejects` of what the record lacks if it turns out to be an insert; -1 for nothing.
        package let insertReject: Int32

        package init(
            entity: Int32,
            parent: Int32,
            ordinal: Int64,
            firstCell: Int,
            firstPresenceWord: Int,
            insertReject: Int32
        ) {
            self.entity = entity
            self.parent = parent
            self.ordinal = ordinal
            self.firstCell = firstCell
            self.firstPresenceWord = firstPresenceWord
            self.insertReject = insertReject
        }

        @inline(__always)
        @inlinable package var isLaidOut: Bool { firstCell < 0 }
    }

    /// Where a record is, kept beside its row where the row may turn out to be a reject.
    package struct RecordLocation {
        /// The record's first byte in the chunk's bytes.
        package let chunkOffset: Int
        /// The first byte of its line there if keys precede it; -1 where it has none.
        package let keyedLineOffset: Int
        /// How many bytes of that line precede those that the source has in one piece.
        package let prefix: Int
        /// Its first byte in the source, and its length.
        package let byteOffset: Int64
        package let length: Int
        /// The first byte of its identifier in the source.
        package let identifierOffset: Int64
    }

    /// A record that was not accepted.
    package struct Reject {
        package let entity: Int32
        package let ordinal: Int64
        /// The record's first byte in the source, and its length there.
        package let byteOffset: Int64
        package let length: Int64
        /// All of its errors.
        package let errors: [RecordError]
        /// The attributes that are null if the record is merged after all: those of the first errors.
        package var nulled: [String] = []
        /// Its original bytes, or the first of them.
        package let bytes: [UInt8]
        /// Its keys, where it is one of a keyed collection, as `RecordKeys` has them.
        package var key: String?

        package init(
            entity: Int32,
            ordinal: Int64,
            byteOffset: Int64,
            length: Int64,
            errors: [RecordError],
            nulled: [String] = [],
            bytes: [UInt8],
            key: String? = nil
        ) {
            self.entity = entity
            self.ordinal = ordinal
            self.byteOffset = byteOffset
            self.length = length
            self.errors = errors
            self.nulled = nulled
            self.bytes = bytes
            self.key = key
        }

        fileprivate var footprint: Int {
            MemoryLayout<Reject>.stride + bytes.count + 64 + errors.count * (MemoryLayout<RecordError>.stride + 64)
        }
    }

    package var rows: [Row] = []
    /// The positions of the rows' records, one for each row; empty where the store refuses none.
    package var places: [RecordLocation] = []
    package var cells: [Cell] = []
    @usableFromInline package var presence: [UInt64] = []
    /// What the records say beyond their rows, where entities relate to one another; the positions are then those of records.
    package var graph = GraphBatch()
    /// The texts that had to be rewritten.
    package var bytes: [UInt8] = []
    package var rejects: [Reject] = []
    /// What rows would be rejected for, were they inserted; merged into a stored object they are sound.
    package var insertRejects: [Reject] = []
    /// The errors of all records but those in `insertRejects`.
    package private(set) var errors = ErrorCounts()
    /// What was changed or lost on the way.
    package var ledger = LedgerCounts()
    /// Records read, per entity of the job.
    package var recordsRead: [Int64] = []
    /// Records of a retry whose rejects are repaired already, per entity of the job.
    package var ignored: [Int64] = []
    /// Where the batch ends.
    package var end = BatchEnd()

    /// How much memory it takes, roughly.
    package var footprint: Int {
        rows.count * MemoryLayout<Row>.stride + cells.count * MemoryLayout<Cell>.stride + presence.count * 8
            + bytes.count + rejectBytes + insertRejectBytes + graph.footprint
    }

    /// How much memory `insertRejects` takes, roughly.
    private var insertRejectBytes = 0

    /// How much memory the rejects take, roughly.
    package private(set) var rejectBytes = 0

    package init() {}

    /// Adds a record that was not accepted.
    package mutating func reject(_ reject: Reject) {
        rejectBytes += reject.footprint
        for error in reject.errors { errors.add(error, ordinal: reject.ordinal) }
        rejects.append(reject)
    }

    /// Adds what the row that comes next would be rejected for.
    package mutating func keep(_ reject: Reject) {
        insertRejectBytes += reject.footprint
        insertRejects.append(reject)
    }

    /// Counts the errors of a record that was taken with nulls.
    ///
    /// - Parameter nulled: the attribute of each error.
    package mutating func count(_ errors: [RecordError], nulled: [String], entity: Int32, ordinal: Int64) {
        for error in errors { self.errors.add(error, ordinal: ordinal) }
        for attribute in nulled { ledger.add(.nulled, entity: entity, attribute: attribute) }
    }

    /// True if bit `attribute` of the row's presence mask is set.
    @inline(__always)
    @inlinable package func isPresent(_ attribute: Int, in row: Row) -> Bool {
        presence[row.firstPresenceWord + attribute >> 6] & (1 << UInt64(attribute & 63)) != 0
    }

    /// The index of the cell of an attribute that the row has.
    @inlinable package func cell(of attribute: Int, in row: Row) -> Int {
        row.firstCell + (0..<attribute).count { isPresent($0, in: row) }
    }

    /// The rows of a record: its own, then those of nested objects.
    package func rows(of record: Int) -> Range<Int> {
        let next = record + 1
        return graph.records[record].row..<(next < graph.records.count ? graph.records[next].row : rows.count)
    }

    /// Makes room for this many rows at once, within bounds: arrays that grow leave holes in memory that are as large.
    package mutating func reserve(rows count: Int, attributes: Int) {
        rows.reserveCapacity(min(count, 1 << 16))
        presence.reserveCapacity(min(count * ((attributes + 63) / 64), 1 << 16))
    }

    /// Makes room for what this many rows are beyond their cells, so that it grows as the rows do.
    package mutating func reserve(nested count: Int) {
        graph.nested.reserveCapacity(min(count, 1 << 16))
    }

    /// Makes room for this many cells at once, within bounds.
    package mutating func reserve(cells count: Int) {
        cells.reserveCapacity(min(count, 1 << 18))
    }

    /// Empties it, keeping its memory for the next one.
    package mutating func reset(entities: Int) {
        rows.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        graph.removeAll()
        cells.removeAll(keepingCapacity: true)
        presence.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        rejects.removeAll()
        rejectBytes = 0
        insertRejects.removeAll(keepingCapacity: true)
        insertRejectBytes = 0
        errors.removeAll()
        ledger.removeAll()
        recordsRead = Array(repeating: 0, count: entities)
        ignored = Array(repeating: 0, count: entities)
        end = BatchEnd()
    }
}

/// Where a batch ends, in the source's coordinates and in its chunk's.
package struct BatchEnd {
    /// Just past the batch's last record in the source.
    package var byteOffset: Int64 = 0
    /// The last record's number in the job.
    package var ordinal: Int64 = 0
    /// The last record's record path, as an index of its source's paths.
    package var path = 0
    /// Records of the chunk up to here.
    package var chunkRecords = 0
    /// XXH3-64 of these bytes of the chunk file, in hexadecimal.
    package var chunkHash = ""
    /// True if it ends its chunk.
    package var isChunkEnd = false
}

/// Counts by entity, attribute and kind, in the order in which they first came.
package struct LedgerCounts {
    /// What is counted.
    package struct Key: Hashable {
        package let entity: Int32
        package let attribute: BytewiseString
        package let kind: LedgerKind
    }

    package private(set) var keys: [Key] = []
    package private(set) var counts: [Int64] = []
    private var places: [Key: Int] = [:]

    package init() {}

    /// Adds to a count.
    package mutating func add(_ kind: LedgerKind, entity: Int32, attribute: String, count: Int64 = 1) {
        let key = Key(entity: entity, attribute: BytewiseString(attribute), kind: kind)
        if let place = places[key] {
            counts[place] += count
        } else {
            places[key] = keys.count
            keys.append(key)
            counts.append(count)
        }
    }

    package mutating func removeAll() {
        guard !keys.isEmpty else { return }
        keys.removeAll(keepingCapacity: true)
        counts.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }
}
