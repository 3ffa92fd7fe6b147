import ImportModel
import Importer

/// Records as a table for people, set as they come.
///
/// The first records decide how wide the columns are. On a terminal what is wider is cut, elsewhere it moves what follows.
struct TableText {
    private let attributes: [AttributeDescription]
    private let dates: DateStyle
    /// The terminal's width; nil where there is none.
    private let columns: Int?
    private var waiting: [[String]] = []
    private var waitingBytes = 0
    private var widths: [Int]?

    /// How many records decide on the widths, and how many bytes of them at most.
    private static let mostWaiting = (records: 500, bytes: 1 << 18)
    /// No column is cut to less than this.
    private static let narrowest = 8
    private static let space = "  "

    init(_ attributes: [AttributeDescription], dates: DateStyle, columns: Int?) {
        self.attributes = attributes
        self.dates = dates
        self.columns = columns
    }

    /// Takes a record, and gives back what can be printed.
    mutating func append(_ record: Record) -> String {
        let cells = zip(attributes, record.values).map { cell($0.text(of: $1, dates: dates)) }
        if let widths { return line(cells, widths) }
        waiting.append(cells)
        waitingBytes += cells.reduce(0) { $0 + $1.utf8.count }
        let isEnough = waiting.count >= Self.mostWaiting.records || waitingBytes >= Self.mostWaiting.bytes
        return isEnough ? begin() : ""
    }

    /// What is left when there are no more records.
    mutating func end() -> String { widths == nil ? begin() : "" }

    private mutating func begin() -> String {
        let header = attributes.map { cell($0.name) }
        var widths = header.map { TextWidth.columns(of: $0) }
        for cells in waiting {
            for (index, cell) in cells.enumerated() { widths[index] = max(widths[index], TextWidth.columns(of: cell)) }
        }
        if let columns { Self.narrow(&widths, to: columns - Self.space.count * (widths.count - 1)) }
        self.widths = widths
        let rule = line(widths.map { String(repeating: "-", count: $0) }, widths)
        defer { waiting = [] }
        return line(header, widths) + rule + waiting.map { line($0, widths) }.joined()
    }

    /// Takes from the widest columns until all of them fit, or are as narrow as they get.
    private static func narrow(_ widths: inout [Int], to room: Int) {
        var limit = widths.max() ?? 0
        while limit > narrowest, widths.reduce(0, { $0 + min($1, limit) }) > room { limit -= 1 }
        widths = widths.map { min($0, limit) }
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let cell = columns == nil ? cell : TextWidth.cut(cell, to: widths[index])
            let padding = String(repeating: " ", count: max(widths[index] - TextWidth.columns(of: cell), 0))
            line += index > 0 ? Self.space : ""
            if isNumber(index) {
                line += padding + cell
            } else {
                line += cell + (index < cells.count - 1 ? padding : "")
            }
        }
        return line + "\n"
    }

    private func isNumber(_ index: Int) -> Bool {
        switch attributes[index].type {
        case .integer16, .integer32, .integer64, .float, .double, .decimal: true
        default: false
        }
    }

    private func cell(_ text: String) -> String { TerminalText.escaped(text) }
}
