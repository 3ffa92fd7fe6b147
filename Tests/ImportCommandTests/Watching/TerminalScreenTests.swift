import Testing

@testable import ImportCommand

struct TerminalScreenTests {
    private static let pieces = [
        "a", "bc", "東", "e\u{301}", "👨‍👩‍👧", "🎉x", " ", "\u{1B}[2J", "\n", "\u{301}", "long text that is cut", "ｗ",
    ]

    private func random(_ size: TerminalSize, _ generator: inout some RandomNumberGenerator) -> TerminalScreen {
        var screen = TerminalScreen(size: size)
        for _ in 0..<Int.random(in: 0..<12, using: &generator) {
            screen.put(
                Self.pieces.randomElement(using: &generator) ?? "",
                row: .random(in: -1...size.rows, using: &generator),
                column: .random(in: 0..<size.columns, using: &generator),
                limit: .random(in: 0...9, using: &generator),
                style: [.plain, .bold, .title, .bad].randomElement(using: &generator) ?? .plain
            )
        }
        return screen
    }

    @Test func changesLeadFromOneScreenToTheNext() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let size = TerminalSize(
                columns: .random(in: 1...30, using: &generator),
                rows: .random(in: 1...6, using: &generator)
            )
            var terminal = FakeTerminal(size: size)
            var old: TerminalScreen?
            for _ in 0..<4 {
                let new = random(size, &generator)
                terminal.write(new.changes(from: old, hasColors: true))
                #expect(terminal.lines == new.lines)
                old = new
            }
        }
    }

    @Test func nothingIsSentWhereNothingChanged() {
        var screen = TerminalScreen(size: TerminalSize(columns: 40, rows: 5))
        screen.put("東京 and Oslo", row: 2, column: 3, style: .bad)
        #expect(screen.changes(from: screen, hasColors: true).isEmpty)
        var next = screen
        next.put("x", row: 4, column: 0)
        #expect(next.changes(from: screen, hasColors: true) == "\u{1B}[5;1Hx")
    }

    @Test func controlCharactersAreShown() {
        var screen = TerminalScreen(size: TerminalSize(columns: 60, rows: 1))
        screen.put("a\u{1B}[31m\r\n\u{9B}\u{7F}\u{202E}\u{200B}\u{301}", row: 0, column: 0)
        #expect(screen.lines == ["a\\u{1B}[31m\\r\\n\\u{9B}\\u{7F}\\u{202E}\\u{200B}\u{25CC}\u{301}"])
        let sent = screen.changes(from: nil, hasColors: false)
        #expect(!sent.contains("\u{1B}[31m") && !sent.contains("\u{9B}") && !sent.contains("\r"))
        var mark = TerminalScreen(size: TerminalSize(columns: 3, rows: 1))
        mark.put("\u{301}x", row: 0, column: 0)
        #expect(mark.lines == ["\u{25CC}\u{301}x"])
    }

    @Test func aWideCharacterIsNeverCutInTwo() {
        for limit in 0...6 {
            var screen = TerminalScreen(size: TerminalSize(columns: 8, rows: 1))
            let end = screen.put("東京都", row: 0, column: 1, limit: limit)
            #expect(end <= 1 + limit)
            let line = screen.lines[0]
            #expect(TextWidth.columns(of: line) <= 1 + limit)
            #expect(limit >= 6 ? line == " 東京都" : limit == 0 ? line.isEmpty : line.hasSuffix("…"))
        }
        var screen = TerminalScreen(size: TerminalSize(columns: 4, rows: 1))
        screen.put("東京", row: 0, column: 0)
        screen.put("x", row: 0, column: 1)
        #expect(screen.lines == [" x京"])
    }

    @Test func onlyASCIIGoesToOtherTerminals() {
        var screen = TerminalScreen(size: TerminalSize(columns: 12, rows: 1), isUnicode: false)
        screen.put("Zürich, 東京, more", row: 0, column: 0)
        #expect(screen.lines == ["Z?rich, ??,~"])
    }

    @Test func aPileOfMarksIsCut() {
        var screen = TerminalScreen(size: TerminalSize(columns: 4, rows: 1))
        screen.put("a" + String(repeating: "\u{301}", count: 10_000), row: 0, column: 0)
        #expect(screen.changes(from: nil, hasColors: true).unicodeScalars.count < 60)
    }

    @Test func noColorIsSentWhereNoneIsWanted() {
        var screen = TerminalScreen(size: TerminalSize(columns: 9, rows: 1))
        screen.put("x", row: 0, column: 0, style: .warning)
        #expect(screen.changes(from: nil, hasColors: true).contains(";33m"))
        #expect(!screen.changes(from: nil, hasColors: false).contains("33"))
    }
}

/// As much of a terminal as the screens need: it addresses cells, and has its own idea of widths.
struct FakeTerminal {
    private let size: TerminalSize
    private var cells: [[String]]
    private var row = 0
    private var column = 0

    init(size: TerminalSize) {
        self.size = size
        cells = Array(repeating: Array(repeating: "?", count: size.columns), count: size.rows)
    }

    var lines: [String] {
        cells.map { row in
            var line = row.joined()
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    mutating func write(_ text: String) {
        var rest = Substring(text)
        while let first = rest.first {
            if first == "\u{1B}" {
                let end = rest.dropFirst(2).firstIndex { $0.isLetter } ?? rest.index(before: rest.endIndex)
                command(rest[end], rest[rest.index(rest.startIndex, offsetBy: 2)..<end])
                rest = rest[rest.index(after: end)...]
            } else {
                put(rest.removeFirst())
            }
        }
    }

    private mutating func command(_ final: Character, _ parameters: Substring) {
        let numbers = parameters.split(separator: ";").compactMap { Int($0) }
        switch final {
        case "H": (row, column) = (numbers[0] - 1, numbers[1] - 1)
        case "J": cells = Array(repeating: Array(repeating: " ", count: size.columns), count: size.rows)
        default: break
        }
    }

    private mutating func put(_ character: Character) {
        let columns = TextWidth.columns(of: character)
        // What was half covered is gone.
        if cells[row][column].isEmpty, column > 0 { cells[row][column - 1] = " " }
        let behind = column + columns
        if behind < size.columns, cells[row][behind].isEmpty { cells[row][behind] = " " }
        cells[row][column] = String(character)
        if columns == 2 { cells[row][column + 1] = "" }
        column = min(behind, size.columns - 1)
    }
}
