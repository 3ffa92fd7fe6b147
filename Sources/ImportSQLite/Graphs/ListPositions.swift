import GRDBSQLite

/// The positions of a list that adds to what is there: what is linked keeps its position, the others follow it.
struct ListPositions {
    private var last: Int64 = -1
    /// Those that stay as they are, by the bytes of the keys that they are linked by.
    private var kept: [[UInt8]: Int64] = [:]

    /// Notes a link that is there.
    ///
    /// - Parameters:
    ///   - position: nil where no list has given it one.
    ///   - key: of what it leads to; nil where that has none.
    ///   - isPlaced: whether it stays as it is without one.
    mutating func note(_ position: Int64?, of key: [UInt8]? = nil, isPlaced: Bool = false) {
        if let position { last = max(last, position) }
        if let key, position != nil || isPlaced { kept[key] = position ?? -1 }
    }

    func hasKept(_ key: [UInt8]?) -> Bool { key.flatMap { kept[$0] } != nil }

    /// The position of an element, and whether it is linked there already.
    mutating func next(_ key: [UInt8]?) -> (position: Int64, isKept: Bool) {
        if let key, let position = kept[key] { return (position, true) }
        last += 1
        return (last, false)
    }

    /// The positions of elements that are all new.
    mutating func next(_ count: Int) -> [Int64] { (0..<count).map { _ in next(nil).position } }
}

extension LinkWriter.Target {
    /// The bytes by which a link to it is kept, while its row is there and while it waits for one.
    var waitingKey: [UInt8]? { values.map { [LinkWriter.mark] + $0.bytes } ?? key?.bytes }
}

extension OpaquePointer {
    /// The index in a list that is in a column of the row that the statement is on; nil for null.
    package func position(of column: Int32) -> Int64? {
        sqlite3_column_type(self, column) == SQLITE_NULL ? nil : sqlite3_column_int64(self, column)
    }
}
