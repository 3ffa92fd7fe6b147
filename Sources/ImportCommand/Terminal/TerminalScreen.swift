/// What is on a terminal, a cell per column and row, and how to get from one screen to the next.
struct TerminalScreen: Sendable, Equatable {
    /// How a cell looks.
    struct Style: Sendable, Hashable {
        var isBold = false
        var isReverse = false
        /// The number of a foreground colour (ECMA-48: 31 is red, 90 gray); nil for the terminal's own.
        var color: UInt8?

        static let plain = Style()
        static let bold = Style(isBold: true)
        static let title = Style(isReverse: true)
        static let faint = Style(color: 90)
        static let good = Style(color: 32)
        static let warning = Style(color: 33)
        static let bad = Style(color: 31)
    }

    private struct Cell: Sendable, Equatable {
        var text: Character = " "
        /// 1 or 2; 0 for the second half of the cell before.
        var columns: UInt8 = 1
        var style = Style.plain
    }

    /// Longer clusters are cut: marks can be piled up without end.
    private static let mostScalars = 12

    let size: TerminalSize
    /// True if the terminal takes UTF-8; others get `?` for what is not ASCII.
    let isUnicode: Bool
    private var cells: [Cell]

    /// An empty screen.
    init(size: TerminalSize, isUnicode: Bool = true) {
        self.size = size
        self.isUnicode = isUnicode
        cells = Array(repeating: Cell(), count: size.columns * size.rows)
    }

    /// Puts text on a row; control characters in it are shown escaped.
    ///
    /// - Parameters:
    ///   - row: from 0; nothing happens where there is no such row.
    ///   - column: from 0.
    ///   - limit: how many columns it may take; what has no room is cut, with `…` at the end.
    /// - Returns: the column after it.
    @discardableResult
    mutating func put(_ text: String, row: Int, column: Int, limit: Int = .max, style: Style = .plain) -> Int {
        guard row >= 0, row < size.rows, column >= 0, column < size.columns else { return column }
        let end = min(size.columns, limit > size.columns ? size.columns : column + max(limit, 0))
        var place = column
        for cluster in TerminalText.escaped(text) {
            for (shown, columns) in Self.shown(cluster, isUnicode: isUnicode) {
                guard place + columns <= end else {
                    mark(cutBehind: place, from: column, end: end, row: row, style: style)
                    return end
                }
                set(Cell(text: shown, columns: UInt8(columns), style: style), row: row, column: place)
                place += columns
            }
        }
        return place
    }

    /// Gives a whole row a style, what is there included.
    mutating func fill(row: Int, style: Style) {
        guard row >= 0, row < size.rows else { return }
        for column in 0..<size.columns { cells[row * size.columns + column].style = style }
    }

    /// The rows as plain text, without the spaces at their ends.
    var lines: [String] {
        (0..<size.rows).map { row in
            var line = ""
            for cell in cells[row * size.columns..<(row + 1) * size.columns] where cell.columns > 0 {
                line.append(cell.text)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Characters that stand for a cluster, each with its columns.
    private static func shown(_ cluster: Character, isUnicode: Bool) -> [(Character, Int)] {
        guard let first = cluster.unicodeScalars.first else { return [] }
        if cluster.isASCII, cluster.unicodeScalars.count == 1 { return [(cluster, 1)] }
        guard isUnicode else { return [(cluster == "…" ? "~" : "?", 1)] }
        var cluster = cluster
        if cluster.unicodeScalars.count > mostScalars {
            cluster = Character(String(String.UnicodeScalarView(cluster.unicodeScalars.prefix(mostScalars))))
        }
        let columns = TextWidth.columns(of: cluster)
        if columns > 0 { return [(cluster, columns)] }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark:
            // A mark without a letter would go to the cell before.
            return [(Character("\u{25CC}" + String(cluster)), 1)]
        default:
            // It has no look of its own.
            return "\\u{\(String(first.value, radix: 16, uppercase: true))}".map { ($0, 1) }
        }
    }

    private mutating func set(_ cell: Cell, row: Int, column: Int) {
        let place = row * size.columns + column
        // The other half of what was there goes with it.
        if cells[place].columns == 0, column > 0 { cells[place - 1] = Cell() }
        let last = place + Int(cell.columns) - 1
        if cells[last].columns == 2, column + Int(cell.columns) < size.columns { cells[last + 1] = Cell() }
        cells[place] = cell
        if cell.columns == 2 { cells[place + 1] = Cell(text: " ", columns: 0, style: cell.style) }
    }

    /// Sets `…` where a text was cut, instead of its last character if there is no other room.
    private mutating func mark(cutBehind place: Int, from start: Int, end: Int, row: Int, style: Style) {
        guard end > start else { return }
        let column = min(place, end - 1)
        set(Cell(text: isUnicode ? "…" : "~", style: style), row: row, column: column)
    }

    // MARK: Changes

    /// What a terminal that shows `old` must be sent to show this; everything where there is no old screen.
    func changes(from old: TerminalScreen?, hasColors: Bool) -> String {
        let old = old?.size == size ? old : nil
        var text = old == nil ? "\u{1B}[0m\u{1B}[2J" : ""
        let blank = Cell()
        var style = Style.plain
        for row in 0..<size.rows {
            var cursor: Int?
            var column = 0
            while column < size.columns {
                let place = row * size.columns + column
                let cell = cells[place]
                let columns = max(Int(cell.columns), 1)
                defer { column += columns }
                let before = old.map { $0.cells[place..<place + columns] }
                let isSame = before.map { $0.elementsEqual(cells[place..<place + columns]) } ?? (cell == blank)
                if isSame || cell.columns == 0 { continue }
                if cursor != column { text += "\u{1B}[\(row + 1);\(column + 1)H" }
                if cell.style != style {
                    text += Self.code(cell.style, hasColors: hasColors)
                    style = cell.style
                }
                let isSure = TextWidth.isSure(cell.text)
                // A terminal may think otherwise of its width: what is there goes first, and the next cell is addressed.
                if !isSure { text += String(repeating: " ", count: columns) + "\u{1B}[\(row + 1);\(column + 1)H" }
                text.append(cell.text)
                cursor = isSure ? column + columns : nil
            }
        }
        return style == .plain ? text : text + "\u{1B}[0m"
    }

    private static func code(_ style: Style, hasColors: Bool) -> String {
        var codes = ["0"]
        if style.isBold { codes.append("1") }
        if style.isReverse { codes.append("7") }
        if let color = style.color, hasColors { codes.append("\(color)") }
        return "\u{1B}[\(codes.joined(separator: ";"))m"
    }
}
