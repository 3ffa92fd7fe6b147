import ImportModel

/// What becomes of a value that is rewritten.
struct ValueChange {
    private let kind: SourceForm.Kind
    /// The keys of the rows' columns, as JSON with a colon.
    private let keys: [[UInt8]]
    /// The columns whose rows are not all written.
    private var columns: ColumnTurner?

    init(_ form: SourceForm) {
        kind = form.kind
        keys = (form.names ?? []).map(Self.key)
    }

    /// True if nothing but whole values can be rewritten.
    var isOfWholes: Bool { kind == .columns }

    /// True if there is more of the value taken last.
    var hasMore: Bool { columns != nil }

    /// Takes a value, and appends what it becomes, or the beginning of it.
    ///
    /// - Returns: false for columns that are not alike.
    mutating func begin(_ value: [UInt8], to output: inout [UInt8]) -> Bool {
        if kind == .columns {
            columns = ColumnTurner(value)
            output.append(UInt8(ascii: "["))
            return columns != nil
        }
        value.withUnsafeBufferPointer { buffer in
            let value = ByteView(buffer)
            switch kind {
            case .rows: appendRow(value, to: &output)
            case .dynamoDB: Self.appendItem(value, to: &output)
            default: Self.appendUnboxed(value, to: &output)
            }
        }
        return true
    }

    /// Appends more of it.
    mutating func more(to output: inout [UInt8]) {
        guard columns?.append(to: &output) == false else { return }
        columns = nil
        output.append(UInt8(ascii: "]"))
    }

    private static func key(_ name: String) -> [UInt8] {
        Array(JSONValue.string(name).serialized().utf8) + [UInt8(ascii: ":")]
    }

    // MARK: Rows

    /// A row as an object: an array of values, or `{"c":[{"v":…}]}` as Google charts and BigQuery have it.
    private func appendRow(_ row: ByteView, to output: inout [UInt8]) {
        var (cells, areObjects) = (row, false)
        if row[0] == UInt8(ascii: "{") {
            guard let list = Self.cells(of: row) else {
                output += row.buffer
                return
            }
            (cells, areObjects) = (list, true)
        }
        var (cursor, index) = (JSONCursor(cells), 0)
        output.append(UInt8(ascii: "{"))
        while let (_, value) = cursor.next() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            output += index < keys.count ? keys[index] : Self.key(RowColumns.name(index))
            if areObjects { Self.appendCell(value, to: &output) } else { output += value.buffer }
            index += 1
        }
        output.append(UInt8(ascii: "}"))
    }

    /// The array of a row's cells, under its `c` or `f`.
    private static func cells(of row: ByteView) -> ByteView? {
        var cursor = JSONCursor(row)
        while let (key, value) = cursor.next() {
            if let key, isKey(key, "c") || isKey(key, "f"), value[0] == UInt8(ascii: "[") { return value }
        }
        return nil
    }

    private static func appendCell(_ cell: ByteView, to output: inout [UInt8]) {
        guard cell[0] == UInt8(ascii: "{") else {
            output += cell.buffer
            return
        }
        var cursor = JSONCursor(cell)
        while let (key, value) = cursor.next() {
            if let key, isKey(key, "v") {
                output += value.buffer
                return
            }
        }
        output += "null".utf8
    }

    private static func isKey(_ key: ByteView, _ name: String) -> Bool {
        key.count == name.utf8.count + 2 && key[1..<key.count - 1].buffer.elementsEqual(name.utf8)
    }

    // MARK: Wrapped values

    /// An item of DynamoDB, which may be under `Item`, with its values alone.
    private static func appendItem(_ item: ByteView, to output: inout [UInt8]) {
        var item = item
        var cursor = item[0] == UInt8(ascii: "{") ? JSONCursor(item) : nil
        if let (key, value) = cursor?.next(), let key, isKey(key, "Item"), value[0] == UInt8(ascii: "{"),
            cursor?.next() == nil
        {
            item = value
        }
        guard item[0] == UInt8(ascii: "{") else {
            output += item.buffer
            return
        }
        appendParts(of: item, to: &output) { appendTyped($0, to: &$1) }
    }

    /// The value in an object of DynamoDB, or what else is there.
    private static func appendTyped(_ value: ByteView, to output: inout [UInt8]) {
        guard let (type, content) = DynamoDBType.read(value) else {
            output += value.buffer
            return
        }
        switch type {
        case .number: appendNumber(content, to: &output)
        case .null: output += "null".utf8
        case .map, .list: appendParts(of: content, to: &output) { appendTyped($0, to: &$1) }
        case .numbers: appendParts(of: content, to: &output) { appendNumber($0, to: &$1) }
        case .text, .bytes, .boolean, .texts, .allBytes: output += content.buffer
        }
    }

    private static func appendNumber(_ text: ByteView, to output: inout [UInt8]) {
        let digits = text.count > 2 ? text[1..<text.count - 1] : text
        output += JSONNumber(digits) == nil ? text.buffer : digits.buffer
    }

    /// An object whose arrays of one scalar are that scalar, at any depth.
    private static func appendUnboxed(_ value: ByteView, to output: inout [UInt8]) {
        guard value[0] == UInt8(ascii: "{") || value[0] == UInt8(ascii: "[") else {
            output += value.buffer
            return
        }
        appendParts(of: value, to: &output) { part, output in
            if value[0] == UInt8(ascii: "{"), let scalar = boxed(part) {
                output += scalar.buffer
            } else {
                appendUnboxed(part, to: &output)
            }
        }
    }

    /// The only element of an array, if it is a scalar.
    private static func boxed(_ value: ByteView) -> ByteView? {
        guard value[0] == UInt8(ascii: "[") else { return nil }
        var cursor = JSONCursor(value)
        guard let (_, element) = cursor.next(), cursor.next() == nil, element[0] != UInt8(ascii: "{"),
            element[0] != UInt8(ascii: "[")
        else { return nil }
        return element
    }

    /// A container with other elements.
    private static func appendParts(
        of container: ByteView,
        to output: inout [UInt8],
        _ append: (ByteView, inout [UInt8]) -> Void
    ) {
        var (cursor, isFirst) = (JSONCursor(container), true)
        output.append(container[0])
        while let (key, value) = cursor.next() {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            if let key {
                output += key.buffer
                output.append(UInt8(ascii: ":"))
            }
            append(value, &output)
        }
        output.append(container[container.count - 1])
    }
}

/// The types of values in DynamoDB's JSON.
package enum DynamoDBType: String {
    case text = "S"
    case number = "N"
    case bytes = "B"
    case boolean = "BOOL"
    case null = "NULL"
    case map = "M"
    case list = "L"
    case texts = "SS"
    case numbers = "NS"
    case allBytes = "BS"

    /// The type and value of an object with just these; nil for any other value.
    package static func read(_ value: ByteView) -> (type: DynamoDBType, content: ByteView)? {
        guard value.count > 6, value[0] == UInt8(ascii: "{") else { return nil }
        var cursor = JSONCursor(value)
        guard let (key, content) = cursor.next(), let key, (3...6).contains(key.count),
            let type = DynamoDBType(rawValue: String(decoding: key[1..<key.count - 1].buffer, as: UTF8.self)),
            cursor.next() == nil
        else { return nil }
        let expected: UInt8 =
            switch type {
            case .text, .number, .bytes: UInt8(ascii: "\"")
            case .map: UInt8(ascii: "{")
            case .list, .texts, .numbers, .allBytes: UInt8(ascii: "[")
            case .boolean: content.count == 4 ? UInt8(ascii: "t") : UInt8(ascii: "f")
            case .null: UInt8(ascii: "t")
            }
        return content[0] == expected ? (type, content) : nil
    }
}
