import ImportModel

/// A value as a record has it (<https://www.sqlite.org/fileformat2.html#record_format>): its serial type, and what is
/// for it in the record's body.
package struct SQLiteRecordValue {
    package let type: UInt64
    /// In bytes.
    package let size: Int
    /// An integer's or double's bits, where there is no address.
    package private(set) var bits: UInt64 = 0
    /// Where a text or blob is.
    package private(set) var address: UnsafeRawPointer?

    package static var null: SQLiteRecordValue { SQLiteRecordValue(type: 0, size: 0) }
}

/// What a column does to values of another storage class (<https://www.sqlite.org/datatype3.html#affinity>).
package enum ColumnAffinity {
    case integer
    case real
    case text
    case blob

    /// - Parameter declaredType: one of those that `AttributeDescription.declaredType` gives.
    package init(declaredType: String) {
        switch declaredType {
        case "INTEGER": self = .integer
        case "REAL": self = .real
        case "TEXT": self = .text
        default: self = .blob
        }
    }
}

extension SQLiteRecordValue {
    /// What SQLite makes of a value in such a column (`OP_MakeRecord` in its vdbe.c).
    ///
    /// - Returns: nil where that takes a conversion from a text or into one, or from an integer.
    @inline(__always)
    package init?(_ cell: Cell, _ values: RowValues, _ affinity: ColumnAffinity) {
        switch cell.tag {
        case .null:
            self = .null
        case .integer:
            guard affinity == .integer || affinity == .blob else { return nil }
            self.init(integer: cell.integerValue)
        case .real:
            guard affinity != .text else { return nil }
            self.init(real: cell.realValue, affinity)
        case .chunkText, .batchText, .generatedText:
            guard affinity == .text || affinity == .blob else { return nil }
            self.init(values.text(cell), type: 13)
        case .batchBlob, .generatedBlob:
            self.init(values.text(cell), type: 12)
        }
    }

    @inline(__always)
    private init(_ bytes: UnsafeRawBufferPointer, type: UInt64) {
        self.init(type: type + 2 * UInt64(bytes.count), size: bytes.count, address: bytes.baseAddress)
    }

    @inline(__always)
    private init(integer value: Int64) {
        let magnitude = UInt64(bitPattern: value < 0 ? ~value : value)
        let (type, size): (UInt64, Int) =
            switch magnitude {
            case 0...1 where value >= 0: (8 + magnitude, 0)
            case ...0x7F: (1, 1)
            case ...0x7FFF: (2, 2)
            case ...0x7F_FFFF: (3, 3)
            case ...0x7FFF_FFFF: (4, 4)
            case ...0x7FFF_FFFF_FFFF: (5, 6)
            default: (6, 8)
            }
        self.init(type: type, size: size, bits: UInt64(bitPattern: value))
    }

    /// A number without a fraction is kept as an integer, in a REAL column only where that is shorter; NaN is NULL.
    @inline(__always)
    private init(real value: Double, _ affinity: ColumnAffinity) {
        if affinity != .blob, let integer = Int64(exactly: value), integer != .min, integer != .max {
            self.init(integer: integer)
            if size < 8 || affinity == .integer { return }
        }
        self.init(type: value.isNaN ? 0 : 7, size: value.isNaN ? 0 : 8, bits: value.bitPattern)
    }
}

/// SQLite's integers of variable length: seven bits to a byte, the highest first.
enum Varint {
    @inline(__always)
    static func size(_ value: UInt64) -> Int {
        value < 0x80 ? 1 : value < 0x4000 ? 2 : (70 - value.leadingZeroBitCount) / 7
    }

    /// Writes a value below 2⁵⁶, as all lengths and row ids of an image are; a larger one would have eight bits in its
    /// ninth byte.
    @inline(__always)
    static func put(_ value: UInt64, at place: inout UnsafeMutableRawPointer) {
        if value < 0x80 {
            place.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
            place += 1
        } else {
            let size = size(value)
            for index in 0..<size {
                place.storeBytes(of: byte(index, of: value, size), toByteOffset: index, as: UInt8.self)
            }
            place += size
        }
    }

    static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        let size = size(value)
        for index in 0..<size { bytes.append(byte(index, of: value, size)) }
    }

    @inline(__always)
    private static func byte(_ index: Int, of value: UInt64, _ size: Int) -> UInt8 {
        let bits = UInt8(truncatingIfNeeded: value >> UInt64(7 * (size - 1 - index)))
        return index == size - 1 ? bits & 0x7F : bits | 0x80
    }
}

extension AttributeDescription {
    /// The column's declared type, whose affinity leaves the stored values as they are
    /// (<https://www.sqlite.org/datatype3.html>).
    package var declaredType: String {
        switch type {
        case .integer16, .integer32, .integer64, .boolean, .bitfield: "INTEGER"
        case .float, .double: "REAL"
        case .date, .decimal, .uuid:
            switch storage {
            case .unix, .unixMilliseconds: "INTEGER"
            case .referenceDate, .real, .unixReal, .julianDay: "REAL"
            case .blob: "BLOB"
            default: "TEXT"
            }
        case .string, .uri, .json: "TEXT"
        case .binary: "BLOB"
        }
    }
}
