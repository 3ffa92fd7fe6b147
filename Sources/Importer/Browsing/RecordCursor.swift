import Foundation
import ImportSQLite

/// Where a page of records begins, as a text for somebody who asks for it later.
///
/// It is a position also when the record was deleted or has moved. Values that are long are left out: then they are read by
/// the row id, and the position is lost with the record.
struct RecordCursor: Sendable, Hashable {
    /// More bytes of values than these do not go into a text.
    static let mostBytes = 1_500

    /// What it is a position in front of.
    enum Position: Sendable, Hashable {
        /// What follows the record with this key.
        case after(RecordKey)
        /// What follows the record with this row id.
        case afterRow(Int64)
        /// The first record with this value of what is sorted by first.
        case value(RawArgument)
    }

    let place: Position

    /// A position after a record.
    init(after key: RecordKey, hidesValues: Bool = false) {
        let size = key.values.reduce(0) { $0 + $1.byteCount }
        place = hidesValues || size > Self.mostBytes ? .afterRow(key.rowID) : .after(key)
    }

    /// A position at a section; nil where its value is too long for it.
    init?(at value: RawArgument) {
        guard value.byteCount <= Self.mostBytes else { return nil }
        place = .value(value)
    }

    /// Reads a text, which may come from anywhere; nil where it is not a cursor.
    init?(_ text: String) {
        guard let data = Data(base64URL: text), let reader = Optional(CursorReader(bytes: [UInt8](data))) else {
            return nil
        }
        var rest = reader
        switch rest.byte() {
        case 0:
            guard let rowID = rest.integer(), let count = rest.byte() else { return nil }
            var values: [RawArgument] = []
            for _ in 0..<count {
                guard let value = rest.value() else { return nil }
                values.append(value)
            }
            place = .after(RecordKey(values: values, rowID: rowID))
        case 1:
            guard let rowID = rest.integer() else { return nil }
            place = .afterRow(rowID)
        case 2:
            guard let value = rest.value() else { return nil }
            place = .value(value)
        default: return nil
        }
        guard rest.isAtEnd else { return nil }
    }

    /// The text: letters, digits, `-` and `_`.
    var text: String {
        var bytes: [UInt8] = []
        switch place {
        case .after(let key):
            bytes.append(0)
            bytes.append(contentsOf: key.rowID.bytes)
            bytes.append(UInt8(truncatingIfNeeded: key.values.count))
            for value in key.values { value.append(to: &bytes) }
        case .afterRow(let rowID):
            bytes.append(1)
            bytes.append(contentsOf: rowID.bytes)
        case .value(let value):
            bytes.append(2)
            value.append(to: &bytes)
        }
        return Data(bytes).base64URL
    }
}

/// Reads the bytes of a cursor one part after the other.
private struct CursorReader {
    private var rest: ArraySlice<UInt8>

    init(bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func integer() -> Int64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return Int64(bitPattern: rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    mutating func value() -> RawArgument? {
        switch byte() {
        case 0: return .null
        case 1: return integer().map { .integer($0) }
        case 2: return integer().map { .real(Double(bitPattern: UInt64(bitPattern: $0))) }
        case 3: return bytes().map { .text($0) }
        case 4: return bytes().map { .blob($0) }
        default: return nil
        }
    }

    private mutating func bytes() -> [UInt8]? {
        guard let count = integer().flatMap({ Int(exactly: $0) }), (0...rest.count).contains(count) else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}

extension RawArgument {
    fileprivate var byteCount: Int {
        switch self {
        case .null, .integer, .real: 8
        case .text(let bytes), .blob(let bytes): 8 + bytes.count
        }
    }

    fileprivate func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(0)
        case .integer(let number): bytes.append(contentsOf: [1] + number.bytes)
        case .real(let number): bytes.append(contentsOf: [2] + Int64(bitPattern: number.bitPattern).bytes)
        case .text(let text): bytes.append(contentsOf: [3] + Int64(text.count).bytes + text)
        case .blob(let blob): bytes.append(contentsOf: [4] + Int64(blob.count).bytes + blob)
        }
    }
}

extension Int64 {
    fileprivate var bytes: [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: UInt64(bitPattern: self) >> (UInt64($0) * 8)) }
    }
}

extension Data {
    /// Reads base64 with `-` and `_`, without padding; nil where it is not that.
    package init?(base64URL text: String) {
        guard text.utf8.count % 4 != 1, !text.contains(where: { "+/=".contains($0) }) else { return nil }
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }

    /// The bytes in base64 with `-` and `_`, without padding.
    package var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
