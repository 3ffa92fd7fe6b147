/// A small table for people: columns side by side, numbers at the right of theirs.
struct ColumnText {
    private var headers: [String]
    private var areNumbers: [Bool]
    private var rows: [[String]] = []

    /// - Parameter numbers: for each, whether it holds numbers.
    init(headers: [String], numbers: [Bool]) {
        self.headers = headers
        areNumbers = numbers
    }

    /// Adds a column at the end; before any rows.
    mutating func addColumn(_ name: String, isNumber: Bool) {
        headers.append(name)
        areNumbers.append(isNumber)
    }

    /// Adds a row, with a text for each column that a terminal may be sent.
    mutating func addRow(_ cells: [String]) {
        rows.append(cells)
    }

    /// The header and the rows.
    var lines: [String] {
        let all = [headers] + rows
        let widths = headers.indices.map { column in all.map { TextWidth.columns(of: $0[column]) }.max() ?? 0 }
        return all.map { cells in
            var line = ""
            let end = (cells.lastIndex { !$0.isEmpty } ?? 0) + 1
            for (column, cell) in cells.prefix(end).enumerated() {
                let padding = String(repeating: " ", count: widths[column] - TextWidth.columns(of: cell))
                if column > 0 { line += "  " }
                if areNumbers[column] {
                    line += padding + cell
                } else {
                    line += cell + (column < end - 1 ? padding : "")
                }
            }
            return line
        }
    }
}
