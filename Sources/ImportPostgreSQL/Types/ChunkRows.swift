import ImportModel
import Importer

/// What one chunk has of one entity, in COPY's binary format
/// (<https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.55.9.4>).
///
/// It is kept from chunk to chunk for its memory, and belongs to one worker. Copies of it share the rows.
struct ChunkRows {
    /// What COPY begins with, no flags and no extension included, and what it ends with.
    static let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)
    static let trailer: [UInt8] = [0xFF, 0xFF]
    /// A server holds no row of more bytes in its memory (`MaxAllocSize`).
    private static let mostRowBytes = 0x3FFF_FFFF
    /// The most bytes of an identifier: an entry of its index, which is built when all rows are there, holds 2,704
    /// (`BTMaxItemSize`), and has a few of its own.
    static let mostKeyBytes = 2_600
    /// What a field takes at most beside the bytes of its text.
    private static let fieldBytes = 4 + 24

    let plan: EntityPlan
    /// The table's name on the server.
    let table: String
    /// The entity's, in the order of its attributes.
    let columns: [PGColumn]
    /// The names of the columns that are copied, with those of staging.
    let names: [String]
    /// `COPY "table" ("a", "b") FROM STDIN (FORMAT binary)`.
    let statement: String
    /// How many masks staged rows have; 0 where rows have none.
    private let masks: Int
    /// How many numbers rows have before all else, where they have no masks.
    private let numbers: Int
    /// By attribute, its column's number among those that masks have bits for; nil where it is the attribute's own.
    private let places: [Int]?
    private let layout: ColumnLayout
    private let rows = CopyBuffer()
    /// The records of the rows, and where each row begins.
    private(set) var ordinals: [Int64] = []
    private var starts: [Int] = []
    /// Per attribute how many values have become NULL since `begin`, as the server cannot have them and the job says
    /// so.
    private(set) var nulled: [Int: Int] = [:]
    /// Per attribute how many values have got U+FFFD in place of U+0000 since `begin`.
    private(set) var replaced: [Int: Int] = [:]

    /// Rows for the entity's own table.
    init(_ plan: EntityPlan, _ options: JobOptions) throws {
        let columns = PGColumn.all(of: plan.entity)
        self.init(
            plan,
            options,
            table: PGNames.fitting(plan.entity.table),
            columns,
            names: columns.map(\.name)
        )
    }

    /// Where the attributes of an entity are in a staging table that has the columns of several: attribute i is in `cN` with the
    /// N of its place.
    struct ColumnPositions {
        let places: [Int]
        /// How many columns the table has of all entities.
        let width: Int

        init(_ places: [Int], of width: Int) {
            self.places = places
            self.width = width
        }

        /// All of one entity, in its order.
        init(_ count: Int) { self.init(Array(0..<count), of: count) }

        var names: [String] { places.map { "c\($0)" } }
        /// nil where they are in their own order.
        fileprivate var moved: [Int]? { places.elementsEqual(0..<places.count) ? nil : places }
    }

    /// Rows for a staging table: first `_ordinal`, `_child`, the masks, of 63 attributes each, and `_unmet`;
    /// then `c0`, `c1` … for the attributes.
    ///
    /// - Parameters:
    ///   - table: the staging table's name, not quoted.
    ///   - places: where the attributes are there; nil where it is this entity's alone.
    init(staging plan: EntityPlan, table: String, at places: ColumnPositions? = nil, _ options: JobOptions) throws {
        let columns = PGColumn.all(of: plan.entity)
        let places = places ?? ColumnPositions(columns.count)
        let masks = max(1, (places.width + 62) / 63)
        let own = ["_ordinal", "_child"] + (0..<masks).map { "_mask_\($0)" } + ["_unmet"]
        self.init(
            plan,
            options,
            table: PGNames.fitting(table),
            columns,
            names: own + places.names,
            masks: masks,
            places: places.moved
        )
    }

    /// Rows for a staging table that begin with numbers; then come `c0`, `c1` … for the attributes.
    ///
    /// - Parameters:
    ///   - numbers: the names of the columns of the numbers, `_ordinal` first.
    ///   - table: the staging table's name, not quoted.
    ///   - places: where the attributes are there; nil where it is this entity's alone.
    init(
        numbered plan: EntityPlan,
        numbers: [String],
        table: String,
        at places: ColumnPositions? = nil,
        _ options: JobOptions
    ) {
        let columns = PGColumn.all(of: plan.entity)
        self.init(
            plan,
            options,
            table: PGNames.fitting(table),
            columns,
            names: numbers + (places ?? ColumnPositions(columns.count)).names,
            numbers: numbers.count
        )
    }

    private init(
        _ plan: EntityPlan,
        _ options: JobOptions,
        table: String,
        _ columns: [PGColumn],
        names: [String],
        masks: Int = 0,
        numbers: Int = 0,
        places: [Int]? = nil
    ) {
        self.plan = plan
        self.places = places
        self.numbers = numbers
        self.table = table
        self.columns = columns
        self.names = names
        self.masks = masks
        layout = ColumnLayout(columns, plan, options)
        // Without any columns there is no list of them.
        let list = names.isEmpty ? "" : " (\(names.map(PGNames.quoted).joined(separator: ", ")))"
        statement = "COPY \(PGNames.quoted(table))\(list) FROM STDIN (FORMAT binary)"
    }

    /// Rows.
    var count: Int { ordinals.count }
    /// The bytes of the rows.
    var byteCount: Int { rows.count }

    /// Empties it.
    mutating func begin() {
        rows.count = 0
        ordinals.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        if !nulled.isEmpty { nulled.removeAll() }
        if !replaced.isEmpty { replaced.removeAll() }
    }

    /// Where the rows end, so that those that come next can be taken back.
    struct Mark {
        fileprivate let count: Int
        fileprivate let bytes: Int
        fileprivate let changes: (nulled: [Int: Int], replaced: [Int: Int])
    }

    var mark: Mark { Mark(count: ordinals.count, bytes: rows.count, changes: (nulled, replaced)) }

    /// Takes back what came after a mark.
    mutating func goBack(to mark: Mark) {
        ordinals.removeLast(ordinals.count - mark.count)
        starts.removeLast(starts.count - mark.count)
        rows.count = mark.bytes
        (nulled, replaced) = mark.changes
    }

    /// The numbers that a row begins with: at most five, the record's first.
    static func numbers(_ ordinal: Int64, _ rest: Int64...) -> SIMD8<Int64> {
        var numbers = SIMD8<Int64>.zero
        numbers[0] = ordinal
        for (index, number) in rest.enumerated() { numbers[index + 1] = number }
        return numbers
    }

    /// Adds a row that has numbers and cells only.
    ///
    /// - Parameters:
    ///   - cells: of the batch; one for each column.
    ///   - isKey: whether all of them are an identifier together.
    mutating func append(
        _ numbers: SIMD8<Int64>,
        _ cells: [Cell],
        _ source: CellSource,
        isKey: Bool = true
    ) -> RowError? {
        var size = 12 &* self.numbers &+ Self.fieldBytes &* cells.count &+ 2 &+ BinaryFieldEncoder.slack
        for cell in cells { size &+= Int(cell.length) }
        guard size <= Self.mostRowBytes else { return RowError(reason: .rowTooLarge, attribute: -1) }
        let start = rows.count
        var out = rows.room(size)
        BinaryFieldEncoder.put(Int16(truncatingIfNeeded: names.count), at: out)
        out = put(numbers, at: out + 2)
        var keyBytes = 0
        for (index, cell) in cells.enumerated() {
            var length = layout.types[index].put(cell, source, at: out + 4)
            if length == FieldWriteResult.hasNUL, layout.replacesNUL {
                let text = source.text(of: cell)
                rows.count = out - rows.base
                out = rows.room(size &+ BinaryFieldEncoder.lengthReplacingNUL(text))
                length = BinaryFieldEncoder.copyReplacingNUL(text, to: out + 4)
            }
            // It is of no attribute of the entity.
            if length < FieldWriteResult.null { return fault(length, -1, at: start) }
            BinaryFieldEncoder.put(Int32(truncatingIfNeeded: length), at: out)
            out += 4 &+ max(0, length)
            if isKey { keyBytes &+= max(0, length) }
        }
        guard keyBytes <= Self.mostKeyBytes else { return fault(FieldWriteResult.keyTooLong, -1, at: start) }
        rows.count = out - rows.base
        ordinals.append(numbers[0])
        starts.append(start)
        return nil
    }

    private func put(_ numbers: SIMD8<Int64>, at place: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        var out = place
        for index in 0..<self.numbers {
            BinaryFieldEncoder.put(Int32(8), at: out)
            BinaryFieldEncoder.put(numbers[index], at: out + 4)
            out += 12
        }
        return out
    }

    /// Adds a row.
    ///
    /// Attributes that are not present get their defaults.
    ///
    /// - Parameters:
    ///   - child: which of its record's statements it is, from 0.
    ///   - isWhole: whether it replaces its object, of entities that relate to one another.
    ///   - numbers: those that it begins with, as far as rows do.
    /// - Returns: nil when it is added; on a fault nothing is.
    mutating func append(
        _ row: RowBatch.Row,
        cells: UnsafeBufferPointer<Cell>,
        chunk: UnsafeBufferPointer<UInt8>,
        own: UnsafeBufferPointer<UInt8>,
        presence: [UInt64],
        child: Int32 = 0,
        isWhole: Bool = false,
        numbers: SIMD8<Int64> = .zero
    ) -> RowError? {
        let width = columns.count
        let words = (width &+ 63) >> 6
        var present = 0
        for word in 0..<words { present &+= presence[row.firstPresenceWord &+ word].nonzeroBitCount }
        var size = layout.defaultLength &+ 64 &+ 12 &* (masks &+ self.numbers)
        size &+= Self.fieldBytes &* width &+ BinaryFieldEncoder.slack
        for cell in cells[row.firstCell..<row.firstCell &+ present] { size &+= Int(cell.length) }
        guard size <= Self.mostRowBytes else { return RowError(reason: .rowTooLarge, attribute: -1) }
        let start = rows.count
        var out = rows.room(size)
        BinaryFieldEncoder.put(Int16(truncatingIfNeeded: names.count), at: out)
        out += 2
        out =
            masks > 0
            ? putStaging(row, child, isWhole: isWhole, cells, presence, at: out) : put(numbers, at: out)
        let source = CellSource(
            chunk: chunk.baseAddress.map { UnsafeRawPointer($0) },
            own: own.baseAddress.map { UnsafeRawPointer($0) }
        )
        let defaults = CellSource(chunk: nil, own: UnsafeRawPointer(layout.defaultBytes))
        var next = row.firstCell
        var mask: UInt64 = 0
        var keyBytes = 0
        for index in 0..<width {
            if index & 63 == 0 { mask = presence[row.firstPresenceWord &+ index >> 6] }
            // Encoded in one place: it is long, and to call it for each value costs more than what it does.
            let isPresent = mask & 1 != 0
            mask >>= 1
            let cell = isPresent ? cells[next] : layout.defaults[index]
            if isPresent { next &+= 1 }
            var length = layout.types[index].put(cell, isPresent ? source : defaults, at: out + 4)
            if length == FieldWriteResult.hasNUL, layout.replacesNUL {
                let text = (isPresent ? source : defaults).text(of: cell)
                rows.count = out - rows.base
                // The rest of the row comes after it.
                out = rows.room(size &+ BinaryFieldEncoder.lengthReplacingNUL(text))
                length = BinaryFieldEncoder.copyReplacingNUL(text, to: out + 4)
                replacements.append(index)
            }
            if length < FieldWriteResult.null {
                guard layout.becomesNull[index], length == FieldWriteResult.hasNUL else {
                    return fault(length, index, at: start)
                }
                nulls.append(index)
                BinaryFieldEncoder.put(Int32(-1), at: out)
                out += 4
                continue
            }
            BinaryFieldEncoder.put(Int32(truncatingIfNeeded: length), at: out)
            out += 4 &+ max(0, length)
            if masks > 0, layout.isIdentifier[index] { keyBytes &+= length }
        }
        guard replacements.isEmpty || out - rows.base - start <= Self.mostRowBytes else {
            return fault(FieldWriteResult.rowTooLong, -1, at: start)
        }
        guard keyBytes <= Self.mostKeyBytes else {
            return fault(FieldWriteResult.keyTooLong, plan.identifier.first ?? -1, at: start)
        }
        rows.count = out - rows.base
        ordinals.append(row.ordinal)
        starts.append(start)
        if !nulls.isEmpty || !replacements.isEmpty { countChanges() }
        return nil
    }

    /// The attributes of the current row that have become NULL.
    private var nulls: [Int] = []
    /// Those of which U+0000 was replaced.
    private var replacements: [Int] = []

    private mutating func countChanges() {
        for index in nulls { nulled[index, default: 0] += 1 }
        for index in replacements { replaced[index, default: 0] += 1 }
        nulls.removeAll()
        replacements.removeAll()
    }

    private mutating func fault(_ length: Int, _ attribute: Int, at start: Int) -> RowError {
        nulls.removeAll()
        replacements.removeAll()
        rows.count = start
        let reason: RowError.Reason =
            switch length {
            case FieldWriteResult.hasNUL: .nulCharacter
            case FieldWriteResult.outOfRange: .outOfRange
            case FieldWriteResult.keyTooLong: .identifierTooLong
            case FieldWriteResult.rowTooLong: .rowTooLarge
            default: .wrongForm
            }
        return RowError(reason: reason, attribute: attribute)
    }

    /// Writes what staged rows have before the attributes.
    ///
    /// A value that was made for an object that has none is not mentioned: it takes no other one's place. What replaces an object
    /// mentions all attributes.
    private func putStaging(
        _ row: RowBatch.Row,
        _ child: Int32,
        isWhole: Bool,
        _ cells: UnsafeBufferPointer<Cell>,
        _ presence: [UInt64],
        at place: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        var out = place
        BinaryFieldEncoder.put(Int32(8), at: out)
        BinaryFieldEncoder.put(row.ordinal, at: out + 4)
        BinaryFieldEncoder.put(Int32(4), at: out + 12)
        BinaryFieldEncoder.put(child, at: out + 16)
        out += 20
        var next = row.firstCell
        let replaced = isWhole ? plan.replacedCount : 0
        for mask in 0..<masks {
            var bits: Int64 = 0
            let first = mask &* 63
            if let places {
                bits = bitsOfMoved(places, first..<first &+ 63, row, cells, presence)
            } else {
                for index in first..<max(first, min(first &+ 63, columns.count)) {
                    guard presence[row.firstPresenceWord &+ index >> 6] & 1 << UInt64(index & 63) != 0 else {
                        if index < replaced { bits |= 1 << Int64(index &- first) }
                        continue
                    }
                    if !cells[next].isGenerated { bits |= 1 << Int64(index &- first) }
                    next &+= 1
                }
            }
            BinaryFieldEncoder.put(Int32(8), at: out)
            BinaryFieldEncoder.put(bits, at: out + 4)
            out += 12
        }
        BinaryFieldEncoder.put(Int32(1), at: out)
        BinaryFieldEncoder.put(UInt8(row.insertReject < 0 ? 0 : 1), at: out + 4)
        return out + 5
    }

    /// The bits of a mask for the columns of its range.
    private func bitsOfMoved(
        _ places: [Int],
        _ range: Range<Int>,
        _ row: RowBatch.Row,
        _ cells: UnsafeBufferPointer<Cell>,
        _ presence: [UInt64]
    ) -> Int64 {
        var (bits, next) = (Int64(0), row.firstCell)
        for index in columns.indices
        where presence[row.firstPresenceWord &+ index >> 6] & 1 << UInt64(index & 63) != 0 {
            if range.contains(places[index]), !cells[next].isGenerated {
                bits |= 1 << Int64(places[index] &- range.lowerBound)
            }
            next &+= 1
        }
        return bits
    }

    // MARK: COPY

    /// Writes all rows, as the data of `statement`.
    ///
    /// - Throws: what the stream throws.
    func write(to stream: inout CopyStream) throws {
        try write(0..<count, to: &stream)
    }

    /// Writes some of the rows, by their indexes.
    ///
    /// - Throws: what the stream throws.
    func write(_ range: Range<Int>, to stream: inout CopyStream) throws {
        try Self.header.withUnsafeBytes { try stream.write($0) }
        if !range.isEmpty {
            let end = range.upperBound < count ? starts[range.upperBound] : rows.count
            try stream.write(rows.bytes(starts[range.lowerBound]..<end))
        }
        try Self.trailer.withUnsafeBytes { try stream.write($0) }
    }
}
