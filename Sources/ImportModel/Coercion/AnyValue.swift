/// Values of all kinds, for a column that has no type or whose type is none of an attribute's.
enum AnyValue {
    /// Turns a value into what SQLite stores: booleans are 0 and 1, objects and arrays JSON text.
    ///
    /// `digitsLost` is noted where a column of NUMERIC affinity makes another number of it
    /// (<https://www.sqlite.org/datatype3.html#type_affinity>), and with the format `numeric` for a text that changes at all.
    static func coerce(
        _ token: JSONToken,
        _ format: BinaryFormat,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        switch token.kind {
        case .null: return .null
        case .boolean: return .integer(token.isTrue ? 1 : 0)
        case .object, .array: return try AttributeType.json.coerce(token, scratch: &scratch, notes: &notes)
        case .number: return try number(token.bytes, notes: &notes)
        case .string: break
        }
        let value = try AttributeType.string.coerce(token, scratch: &scratch, notes: &notes)
        guard format != .any else { return value }
        let isChanged =
            switch value {
            case .verbatim(let text): changes(text, format)
            case .scratch(let range): scratch[range].withUnsafeBufferPointer { changes(ByteView($0), format) }
            default: false
            }
        if isChanged { notes.insert(.digitsLost) }
        return value
    }

    private static func number(_ text: ByteView, notes: inout CoercionNotes) throws(CoercionError) -> CoercedValue {
        if let value = text.shortInteger { return .integer(value) }
        guard let form = JSONNumber(text) else {
            throw CoercionError(code: .wrongForm, expected: "number", found: JSONKind.number.name)
        }
        // Written as an integer.
        let isInteger = !text.buffer.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
        if isInteger, let value = form.int64 { return .integer(value) }
        let value = form.double
        guard value.isFinite else {
            throw CoercionError(code: .outOfRange, expected: "number", found: JSONKind.number.name)
        }
        if !form.survives(as: value) { notes.insert(.digitsLost) }
        return .real(value)
    }

    /// True if a column of NUMERIC affinity makes something else of a text.
    private static func changes(_ text: ByteView, _ format: BinaryFormat) -> Bool {
        let trimmed = String(decoding: text.buffer, as: UTF8.self).trimmingSpaces
        guard let first = trimmed.utf8.first(where: { $0 != 0x2B && $0 != 0x2D }),
            first &- UInt8(ascii: "0") < 10 || first == UInt8(ascii: "."),
            !trimmed.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }),
            let value = Double(trimmed)
        else { return false }
        let integer = Int64(trimmed) ?? Int64(exactly: value)
        if format == .numeric {
            return !(integer.map(String.init) ?? "\(value)").utf8.elementsEqual(text.buffer)
        }
        if Int64(trimmed) != nil { return false }
        guard value.isFinite else { return true }
        var digits = trimmed
        return digits.withUTF8 { JSONNumber(ByteView($0))?.survives(as: value) == false }
    }
}

extension String {
    /// Without the white space that SQLite passes over around a number.
    fileprivate var trimmingSpaces: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        let start = utf8.firstIndex { !isSpace($0) } ?? endIndex
        let end = utf8.lastIndex { !isSpace($0) }.map { utf8.index(after: $0) } ?? start
        return String(self[start..<end])
    }
}
