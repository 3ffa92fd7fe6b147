import ImportModel

/// Writes an object of columns as its rows, a piece at a time.
struct ColumnTurner {
    /// Where the next value of a column is.
    private struct Column {
        let key: Range<Int>
        var next: Int
        /// True if a value of it is an object.
        var hasObjects = false
        /// True if a value of it is an array.
        var hasArrays = false

        var kinds: (hasObjects: Bool, hasArrays: Bool) { (hasObjects, hasArrays) }
    }

    private let text: [UInt8]
    private var columns: [Column] = []
    /// What the keys of objects are called.
    private var keyName = Array("\"key\":".utf8)
    /// True if the columns are objects, whose keys become `key`.
    private var areObjects = false
    private var hasKeys = false
    private var isFirst = true
    /// How many bytes of rows are written at a time.
    private static let piece = 256 << 10

    /// Looks through all of the columns; nil where they are not all arrays of one length, or objects with the same keys.
    ///
    /// - Parameter areNamed: whether the document names the columns, so that one will do, whatever is in it.
    init?(_ text: [UInt8], areNamed: Bool) {
        self.text = text
        let isSound = text.withUnsafeBufferPointer { find(in: ByteView($0)) && areAlike(ByteView($0)) }
        guard isSound, areNamed || areObjects && columns.count > 1 || Self.areColumns(columns.map(\.kinds)) else {
            return nil
        }
    }

    /// True if arrays of one length may be the columns of a table: none has objects, and one nothing but scalars.
    static func areColumns(_ kinds: [(hasObjects: Bool, hasArrays: Bool)]) -> Bool {
        kinds.count > 1 && !kinds.contains(where: \.hasObjects) && kinds.contains { !$0.hasArrays }
    }

    private mutating func find(in json: ByteView) -> Bool {
        guard json[0] == UInt8(ascii: "{") else { return false }
        var (cursor, opening) = (JSONCursor(json), UInt8?.none)
        while let (key, value) = cursor.next() {
            guard let key, opening ?? value[0] == value[0] else { return false }
            opening = value[0]
            let start = key.base - json.base
            columns.append(Column(key: start..<start + key.count, next: value.base - json.base + 1))
        }
        areObjects = opening == UInt8(ascii: "{")
        return areObjects || opening == UInt8(ascii: "[")
    }

    /// True if all columns have the same keys or as many values; the keys of objects are left out where they count rows.
    private mutating func areAlike(_ json: ByteView) -> Bool {
        var (rows, index) = (columns, 0)
        while true {
            var first: (key: ByteView?, value: ByteView)?
            for column in rows.indices {
                let part = Self.next(json, &rows[column].next, areObjects)
                if column == 0 { first = part }
                guard (part == nil) == (first == nil) else { return false }
                guard let part, let first else { continue }
                if part.value[0] == UInt8(ascii: "{") { columns[column].hasObjects = true }
                if part.value[0] == UInt8(ascii: "[") { columns[column].hasArrays = true }
                if let key = part.key, let other = first.key, !key.buffer.elementsEqual(other.buffer) { return false }
            }
            guard let first else { return true }
            if let key = first.key, !hasKeys {
                hasKeys = !key.buffer.dropFirst().dropLast().elementsEqual("\(index)".utf8)
            }
            index += 1
        }
    }

    private static func next(_ json: ByteView, _ place: inout Int, _ areObjects: Bool) -> (
        key: ByteView?, value: ByteView
    )? {
        var cursor = JSONCursor(json, from: place, isObject: areObjects)
        defer { place = cursor.offset }
        return cursor.next()
    }

    /// Appends some rows; false where there are no more.
    mutating func append(to output: inout [UInt8]) -> Bool {
        let end = output.count + Self.piece
        return text.withUnsafeBufferPointer { buffer in
            let json = ByteView(buffer)
            while output.count < end {
                guard appendRow(json, to: &output) else { return false }
            }
            return true
        }
    }

    private mutating func appendRow(_ json: ByteView, to output: inout [UInt8]) -> Bool {
        for index in columns.indices {
            guard let part = Self.next(json, &columns[index].next, areObjects) else { return false }
            if index == 0 {
                output += isFirst ? "{".utf8 : ",\n{".utf8
                if isFirst, columns.contains(where: { text[$0.key].elementsEqual("\"key\"".utf8) }) {
                    keyName = Array("\"key_2\":".utf8)
                }
                isFirst = false
                if hasKeys, let key = part.key {
                    output += keyName
                    output += key.buffer
                    output.append(UInt8(ascii: ","))
                }
            } else {
                output.append(UInt8(ascii: ","))
            }
            output += text[columns[index].key]
            output.append(UInt8(ascii: ":"))
            output += part.value.buffer
        }
        output.append(UInt8(ascii: "}"))
        return true
    }
}
