import Importer

/// The bytes that cells are slices of.
struct CellSource {
    let chunk: UnsafeRawPointer?
    let own: UnsafeRawPointer?
}

extension CellSource {
    /// The bytes of a cell's text.
    func text(of cell: Cell) -> UnsafeRawBufferPointer {
        guard let base = cell.tag == .chunkText ? chunk : own else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: base + cell.textOffset, count: cell.textLength)
    }
}

/// What putting a field comes to where it is not the field's length.
enum FieldWriteResult {
    /// NULL.
    static let null = -1
    /// Text with U+0000.
    static let hasNUL = -2
    /// A number that the type does not hold.
    static let outOfRange = -3
    /// Not what the type is made of.
    static let wrongForm = -4
    /// Of the identifier, not of a field: it is too long.
    static let keyTooLong = -5
    /// Of the row: it is more than the server takes.
    static let rowTooLong = -6
}

extension PGType {
    /// Writes the value of a cell.
    ///
    /// - Parameters:
    ///   - cell: as decoding has it: text for texts, UUIDs, decimals, JSON and dates, unless those are numbers.
    ///   - place: has room for 24 bytes and the cell's text.
    /// - Returns: its length in bytes, from 0; or one of `FieldWriteResult`.
    @inline(__always)
    func put(_ cell: Cell, _ source: CellSource, at place: UnsafeMutableRawPointer) -> Int {
        switch cell.tag {
        case .null: FieldWriteResult.null
        case .integer: putInteger(Int64(bitPattern: cell.payload), at: place)
        case .real: putReal(Double(bitPattern: cell.payload), at: place)
        case .chunkText: putText(source.chunk, cell, at: place)
        case .batchText, .generatedText: putText(source.own, cell, at: place)
        case .batchBlob, .generatedBlob: putBlob(source.own, cell, at: place)
        }
    }

    @inline(__always)
    private func putInteger(_ value: Int64, at place: UnsafeMutableRawPointer) -> Int {
        switch self {
        case .bigint:
            BinaryFieldEncoder.put(value, at: place)
            return 8
        case .integer:
            guard let value = Int32(exactly: value) else { return FieldWriteResult.outOfRange }
            BinaryFieldEncoder.put(value, at: place)
            return 4
        case .smallint:
            guard let value = Int16(exactly: value) else { return FieldWriteResult.outOfRange }
            BinaryFieldEncoder.put(value, at: place)
            return 2
        case .boolean:
            BinaryFieldEncoder.put(UInt8(value == 0 ? 0 : 1), at: place)
            return 1
        case .text, .real, .double, .numeric, .uuid, .bytea, .timestamptz, .timestamp, .timestamptz6, .timestamp6,
            .json:
            return FieldWriteResult.wrongForm
        }
    }

    @inline(__always)
    private func putReal(_ value: Double, at place: UnsafeMutableRawPointer) -> Int {
        switch self {
        case .double:
            BinaryFieldEncoder.put(value.bitPattern, at: place)
            return 8
        case .real:
            BinaryFieldEncoder.put(Float(value).bitPattern, at: place)
            return 4
        case .text, .smallint, .integer, .bigint, .numeric, .boolean, .uuid, .bytea, .timestamptz, .timestamp,
            .timestamptz6, .timestamp6, .json:
            return FieldWriteResult.wrongForm
        }
    }

    @inline(__always)
    private func putText(_ base: UnsafeRawPointer?, _ cell: Cell, at place: UnsafeMutableRawPointer) -> Int {
        let count = Int(cell.length)
        guard let base else { return count == 0 && (self == .text || self == .json) ? 0 : FieldWriteResult.wrongForm }
        let text = base + Int(truncatingIfNeeded: cell.payload)
        switch self {
        case .text, .json:
            return BinaryFieldEncoder.copyText(text, count, to: place) ? count : FieldWriteResult.hasNUL
        case .uuid:
            return count == 36 && BinaryFieldEncoder.putUUID(text, at: place) ? 16 : FieldWriteResult.wrongForm
        case .timestamptz, .timestamp, .timestamptz6, .timestamp6:
            guard let instant = BinaryFieldEncoder.microseconds(text, count) else {
                return FieldWriteResult.wrongForm
            }
            BinaryFieldEncoder.put(instant, at: place)
            return 8
        case .numeric:
            let length = NumericEncoder.put(text, count, at: place)
            return length < 0 ? FieldWriteResult.outOfRange : length
        case .smallint, .integer, .bigint, .real, .double, .boolean, .bytea:
            return FieldWriteResult.wrongForm
        }
    }

    private func putBlob(_ base: UnsafeRawPointer?, _ cell: Cell, at place: UnsafeMutableRawPointer) -> Int {
        guard self == .bytea else { return FieldWriteResult.wrongForm }
        let count = Int(cell.length)
        guard count > 0, let base else { return 0 }
        place.copyMemory(from: base + Int(truncatingIfNeeded: cell.payload), byteCount: count)
        return count
    }
}
