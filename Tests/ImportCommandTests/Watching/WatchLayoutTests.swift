import Foundation
import Importer
import Testing

@testable import ImportCommand

struct WatchLayoutTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Goldens").standardized

    /// The screen as text, kept in a file; `IMPORTER_WRITE_GOLDENS` writes it again, to be looked at.
    @Test(arguments: [(20, 5), (40, 12), (80, 24), (200, 60)])
    func looksAsItShould(columns: Int, rows: Int) throws {
        let layout = WatchLayout(size: TerminalSize(columns: columns, rows: rows), isUnicode: true)
        let screen = layout.screen(try WatchSamples.state(for: layout), at: 101)
        let text = screen.lines.map { $0 + "\n" }.joined()
        let file = Self.folder.appending(path: "watch-\(columns)x\(rows).txt")
        if ProcessInfo.processInfo.environment["IMPORTER_WRITE_GOLDENS"] != nil {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try text == String(contentsOf: file, encoding: .utf8))
    }

    @Test(arguments: [true, false])
    func fitsAnySize(isUnicode: Bool) throws {
        for columns in [1, 2, 3, 7, 19, 20, 21, 39, 41, 79, 120, 400] {
            for rows in [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 19, 21, 40, 100] {
                let layout = WatchLayout(size: TerminalSize(columns: columns, rows: rows), isUnicode: isUnicode)
                for state in [try WatchSamples.state(for: layout), WatchState(store: "s")] {
                    let lines = layout.screen(state, at: 101).lines
                    #expect(lines.count == rows)
                    #expect(lines.allSatisfy { TextWidth.columns(of: $0) <= columns })
                    #expect(isUnicode || lines.allSatisfy { $0.utf8.allSatisfy { (0x20..<0x7F).contains($0) } })
                    if rows >= 5, columns >= 20, state.records != nil {
                        // However small, there is a row of data and how far it is.
                        #expect(lines.joined().contains("45%"))
                        #expect(lines.contains { $0.hasPrefix("+") })
                    }
                }
            }
        }
    }

    @Test func columnsLineUp() throws {
        let layout = WatchLayout(size: TerminalSize(columns: 100, rows: 30), isUnicode: true)
        let lines = layout.screen(try WatchSamples.state(for: layout), at: 101).lines
        let rows = lines.filter { $0.contains("Person") }
        #expect(rows.count > 7)
        for row in rows {
            let note = row.range(of: "a note") ?? row.range(of: "changed") ?? row.range(of: "NULL")
            let start = try #require(note).lowerBound
            #expect(TextWidth.columns(of: String(row[..<start])) == 49, "\(row)")
        }
    }

    @Test func nothingOfTheDataIsObeyed() throws {
        let layout = WatchLayout(size: TerminalSize(columns: 100, rows: 30), isUnicode: true)
        let lines = layout.screen(try WatchSamples.state(for: layout), at: 101).lines
        #expect(lines.contains { $0.contains("\\u{1B}[31mRed\\u{7}") })
        #expect(Samples.isHarmless(lines.joined(separator: "\n")))
    }

    /// What is shown is told, not what was asked for.
    @Test func sortedColumnsHaveAnArrow() throws {
        let layout = WatchLayout(size: TerminalSize(columns: 80, rows: 24), isUnicode: true)
        var state = try WatchSamples.state(for: layout)
        _ = state.press(.character("s"))
        #expect(!layout.screen(state, at: 101).lines.contains { $0.contains("▲id") })
        state.take(WatchSamples.records(from: 1, for: try #require(state.request)), at: 101)
        #expect(layout.screen(state, at: 101).lines.contains { $0.contains("▲id") })
        _ = state.press(.character("r"))
        state.take(WatchSamples.records(from: 1, for: try #require(state.request)), at: 101)
        #expect(layout.screen(state, at: 101).lines.contains { $0.contains("▼id") })
        // What it is sorted by is also named where its column is beyond the last one.
        #expect(layout.screen(state, at: 101).lines.first?.contains("  by ▼id") == true)
    }
}
