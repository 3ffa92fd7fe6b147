/// The names of the columns of rows: records that are arrays.
package enum RowColumns {
    /// The name of a column without a header row, by its index from 0: `column_1` is the first one.
    package static func name(_ index: Int) -> String { prefix + "\(index + 1)" }

    /// The index of a column by such a name, from 0; nil for other names.
    package static func index(of name: String) -> Int? {
        guard name.hasPrefix(prefix), let number = Int(name.dropFirst(prefix.count)), number > 0,
            number <= mostColumns, Self.name(number - 1).hasSameBytes(as: name)
        else { return nil }
        return number - 1
    }

    /// The names that a header row gives columns: its texts, those of several words as they are, each once.
    ///
    /// - Parameter cells: its values; what is neither a text nor a number is named by its index.
    package static func names(_ cells: [JSONValue]) -> [String] {
        var used: Set<[UInt8]> = []
        return cells.enumerated().map { index, cell in
            var wanted = name(index)
            switch cell {
            case .string(let text) where !text.isEmpty: wanted = text
            case .number(let digits): wanted = digits
            default: break
            }
            var (name, number) = (wanted, 1)
            while !used.insert(Array(name.utf8)).inserted {
                number += 1
                name = "\(wanted)_\(number)"
            }
            return name
        }
    }

    /// Of more columns than this, none is found by its index.
    package static let mostColumns = 10_000
    private static let prefix = "column_"
}
