import ImportModel

/// What becomes of a value that is rewritten.
package struct ValueChange {
    private let kind: SourceForm.Kind
    /// The keys of the rows' columns, as JSON with a colon.
    private let keys: [[UInt8]]
    /// The key paths of texts that are JSON.
    private let paths: [[String]]
    /// The kinds of records that have a list of their own; nil while they are being found.
    private let kinds: Set<String>?
    /// What the values of the rows' index are called, as JSON with a colon, and these, with where the next one is.
    private let indexKey: [UInt8]?
    private var index: (text: [UInt8], next: Int) = ([], 1)
    /// The kinds that were found.
    private(set) var found = KindList()
    /// The kind of a record that names none, or one too many.
    package static let otherKind = "other"
    /// The members that each object gets, as JSON with a comma after each.
    private let members: [UInt8]
    /// True if the document names its columns.
    private let areNamed: Bool
    /// The columns whose rows are not all written.
    private var columns: ColumnTurner?

    init(_ form: SourceForm) {
        kind = form.kind
        let names = form.names ?? []
        keys = kind == .rows ? names.map(Self.key) : []
        paths = [.parse, .kinds].contains(kind) ? names.compactMap { try? AttributePath($0).keys } : []
        indexKey = form.index.map(Self.key)
        kinds = form.values.map(Set.init)
        areNamed = kind == .columns && form.names != nil
        members =
            kind == .folders
            ? stride(from: 0, to: names.count - 1, by: 2).flatMap {
                Self.key(names[$0]) + Array((names[$0 + 1] + ",").utf8)
            }
            : []
    }

    /// True if nothing but whole values can be rewritten.
    var isOfWholes: Bool { kind == .columns }

    /// True if rows have the values of an index.
    var takesIndex: Bool { indexKey != nil }

    /// Takes the index of the rows that follow.
    mutating func take(index text: [UInt8]) { index = (text, 1) }

    /// The next value of the rows' index.
    private mutating func nextOfIndex() -> [UInt8] {
        let (value, next) = index.text.withUnsafeBufferPointer { buffer in
            var cursor = JSONCursor(ByteView(buffer), from: index.next, isObject: false)
            let value = cursor.next().map { Array($0.value.buffer) }
            return (value ?? Array("null".utf8), cursor.offset)
        }
        index.next = next
        return value
    }

    /// True if each value becomes an object of a list.
    var makesLists: Bool { kind == .kinds }

    /// True if there is more of the value taken last.
    var hasMore: Bool { columns != nil }

    /// Takes a value, and appends what it becomes, or the beginning of it.
    ///
    /// - Returns: false for columns that are not alike.
    mutating func begin(_ value: [UInt8], to output: inout [UInt8]) -> Bool {
        if kind == .columns {
            columns = ColumnTurner(value, areNamed: areNamed)
            output.append(UInt8(ascii: "["))
            return columns != nil
        }
        let index = indexKey.map { $0 + nextOfIndex() }
        value.withUnsafeBufferPointer { buffer in
            let value = ByteView(buffer)
            switch kind {
            case .rows: appendRow(value, index, to: &output)
            case .dynamoDB: Self.appendItem(value, to: &output)
            case .parse: Self.appendParsed(value, paths[...], to: &output)
            case .kinds: appendOfKind(value, to: &output)
            case .folders: append(members, to: value, &output)
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
    private func appendRow(_ row: ByteView, _ indexed: [UInt8]?, to output: inout [UInt8]) {
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
        output += indexed ?? []
        while let (_, value) = cursor.next() {
            if index > 0 || indexed != nil { output.append(UInt8(ascii: ",")) }
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

    // MARK: More in records

    /// An object with members before its own.
    private func append(_ members: [UInt8], to value: ByteView, _ output: inout [UInt8]) {
        guard value[0] == UInt8(ascii: "{") else {
            output += value.buffer
            return
        }
        let rest = value[JSONParts.skipWhiteSpace(in: value, from: 1)..<value.count]
        output.append(UInt8(ascii: "{"))
        output += rest[0] == UInt8(ascii: "}") ? members.dropLast() : members[...]
        output += rest.buffer
    }

    /// A record in the list of its kind.
    private mutating func appendOfKind(_ record: ByteView, to output: inout [UInt8]) {
        let names = paths.compactMap { Self.scalar(at: $0[...], in: record) }
        let name = names.joined(separator: "_")
        let isKnown = !name.isEmpty && kinds?.contains(name) ?? true
        if kinds == nil { found.add(isKnown ? name : Self.otherKind) }
        output += "{\(JSONValue.string(isKnown ? name : Self.otherKind).serialized()):[".utf8
        output += record.buffer
        output += "]}".utf8
    }

    /// The text of the scalar that keys lead to; nil where they lead to nothing.
    private static func scalar(at keys: ArraySlice<String>, in value: ByteView) -> String? {
        guard let first = keys.first else {
            if value[0] == UInt8(ascii: "\"") { return JSONUnescaper.text(Array(value.buffer.dropFirst().dropLast())) }
            let isNone = [UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "n")].contains(value[0])
            return isNone ? nil : String(decoding: value.buffer, as: UTF8.self)
        }
        guard value[0] == UInt8(ascii: "{") else { return nil }
        var cursor = JSONCursor(value)
        while let (key, part) = cursor.next() {
            if let key, JSONUnescaper.text(Array(key.buffer.dropFirst().dropLast())) == first {
                return scalar(at: keys.dropFirst(), in: part)
            }
        }
        return nil
    }

    /// A value whose texts at some key paths are the JSON that is in them.
    private static func appendParsed(_ value: ByteView, _ paths: ArraySlice<[String]>, to output: inout [UInt8]) {
        let inner = paths.filter { !$0.isEmpty }
        if inner.count < paths.count, value[0] == UInt8(ascii: "\""), let json = json(in: value) {
            json.withUnsafeBufferPointer { appendParsed(ByteView($0), inner[...], to: &output) }
            return
        }
        guard !inner.isEmpty, value[0] == UInt8(ascii: "{") || value[0] == UInt8(ascii: "[") else {
            output += value.buffer
            return
        }
        var (cursor, isFirst) = (JSONCursor(value), true)
        output.append(value[0])
        while let (key, part) = cursor.next() {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            guard let key else {
                appendParsed(part, inner[...], to: &output)
                continue
            }
            output += key.buffer
            output.append(UInt8(ascii: ":"))
            let name = JSONUnescaper.text(Array(key.buffer.dropFirst().dropLast()))
            let below = inner.filter { $0[0] == name }.map { Array($0.dropFirst()) }
            if below.isEmpty { output += part.buffer } else { appendParsed(part, below[...], to: &output) }
        }
        output.append(value[value.count - 1])
    }

    /// The JSON that a text is; nil for any other text.
    private static func json(in text: ByteView) -> [UInt8]? {
        var (bytes, output) = ([UInt8](), [UInt8]())
        guard !JSONUnescaper.append(text[1..<text.count - 1], to: &bytes), (try? JSONValue(parsing: bytes)) != nil
        else {
            return nil
        }
        bytes.withUnsafeBufferPointer { JSONMinify.append(ByteView($0), to: &output) }
        return output
    }

    // MARK: Wrapped values

    /// An item of DynamoDB, which may be under `Item`, with its values alone.
    private static func appendItem(_ item: ByteView, to output: inout [UInt8]) {
        var item = item
        var cursor = item[0] == UInt8(ascii: "{") ? JSONCursor(item) : nil
        if let (key, value) = cursor?.next(), let key, isKey(key, "Item"), value[0] == UInt8(ascii: "{"),
            cursor?.next() == nil, DynamoDBType.read(value) == nil
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

    /// True if a value has a type, and all that is in it, too.
    package static func isValue(_ value: ByteView) -> Bool {
        guard let (type, content) = read(value) else { return false }
        switch type {
        case .text, .bytes, .boolean, .null: return true
        case .number: return isNumber(content)
        case .map, .list: return areAll(in: content, isValue)
        case .texts, .allBytes: return areAll(in: content) { $0[0] == UInt8(ascii: "\"") }
        case .numbers: return areAll(in: content, isNumber)
        }
    }

    private static func isNumber(_ text: ByteView) -> Bool {
        text[0] == UInt8(ascii: "\"") && text.count > 2 && JSONNumber(text[1..<text.count - 1]) != nil
    }

    private static func areAll(in container: ByteView, _ isOne: (ByteView) -> Bool) -> Bool {
        var cursor = JSONCursor(container)
        while let (_, value) = cursor.next() {
            guard isOne(value) else { return false }
        }
        return true
    }

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
