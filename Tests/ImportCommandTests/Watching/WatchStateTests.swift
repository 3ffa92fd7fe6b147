import Importer
import Testing

@testable import ImportCommand

struct WatchStateTests {
    private func state(sort: [StoreWindow.Sort] = []) throws -> WatchState {
        var state = WatchState(store: "s.sqlite", sort: sort)
        try state.take(WatchSamples.look())
        state.pageRows = 3
        return state
    }

    private func window(_ rows: [(Int64, String)]) -> StoreWindow {
        StoreWindow(
            columns: ["id", "name"],
            rows: rows.map { StoreWindow.Row(rowID: $0.0, values: [.integer($0.0), .text(Array($0.1.utf8))]) }
        )
    }

    @Test func marksWhatIsNewAndWhatHasChanged() throws {
        var state = try state()
        let request = try #require(state.request)
        state.take(window([(3, "c"), (2, "b"), (1, "a")]), for: request, at: 10)
        // What is there when one begins to look is not new.
        #expect([1, 2, 3].allSatisfy { state.mark(of: $0, at: 10) == nil })
        state.take(window([(4, "d"), (3, "C"), (2, "b")]), for: request, at: 11)
        #expect(state.mark(of: 4, at: 11) == .new)
        #expect(state.mark(of: 3, at: 11) == .changed)
        #expect(state.mark(of: 2, at: 11) == nil)
        #expect(state.mark(of: 4, at: 11 + WatchState.markDuration) == nil)
        #expect(state.marksEnd(after: 11, until: 15))
        #expect(!state.marksEnd(after: 15, until: 20))
    }

    @Test func whatIsPagedToIsNotNew() throws {
        var state = try state()
        state.take(window([(9, "i"), (8, "h"), (7, "g")]), for: try #require(state.request), at: 1)
        _ = state.press(.pageDown)
        let request = try #require(state.request)
        #expect(request.offset == 3)
        state.take(window([(6, "f"), (5, "e"), (4, "d")]), for: request, at: 2)
        #expect((4...6).allSatisfy { state.mark(of: $0, at: 2) == nil })
        // An answer to what is not asked any more is no answer.
        _ = state.press(.home)
        state.take(window([(1, "a")]), for: request, at: 3)
        #expect(state.window?.rows.count == 3)
    }

    @Test func pagesStayInTheTable() throws {
        var state = try state()
        for _ in 0..<5_000 { _ = state.press(.pageDown) }
        #expect(state.offset == Int(WatchSamples.peopleRows) - 3)
        _ = state.press(.end)
        #expect(state.offset == Int(WatchSamples.peopleRows) - 3)
        for _ in 0..<100 { _ = state.press(.up) }
        #expect(state.offset == Int(WatchSamples.peopleRows) - 103)
        _ = state.press(.home)
        _ = state.press(.pageUp)
        #expect(state.offset == 0)
    }

    @Test func sortsByEachColumnInTurnAndTheOtherWayRound() throws {
        var state = try state()
        state.take(window([(1, "a")]), for: try #require(state.request), at: 1)
        var seen: [[StoreWindow.Sort]] = []
        for _ in 0..<3 {
            _ = state.press(.character("s"))
            seen.append(state.sort)
        }
        #expect(seen == [[.init("id")], [.init("name")], []])
        _ = state.press(.character("S"))
        _ = state.press(.character("r"))
        #expect(state.sort == [.init("name", ascending: false)])
    }

    @Test func goesFromEntityToEntity() throws {
        var state = try state()
        #expect(state.entity?.name == "people")
        _ = state.press(.tab)
        #expect(state.entity?.name == "orders")
        #expect(state.request?.table == "orders")
        _ = state.press(.tab)
        #expect(state.entity?.name == "people")
        _ = state.press(.backTab)
        #expect(state.entity?.name == "orders")
    }

    @Test func beginsWithWhatWasAskedFor() throws {
        var state = WatchState(store: "s", entity: "orders", sort: [.init("id", ascending: false)])
        try state.take(WatchSamples.look())
        #expect(state.request?.table == "orders")
        #expect(state.request?.sort == [.init("id", ascending: false)])
        var other = WatchState(store: "s", entity: "nobody")
        // While there is none there is nothing to say.
        try other.take(StoreLook())
        #expect(throws: ImportError.self) { try other.take(WatchSamples.look()) }
    }

    @Test func aStoreWithoutEntitiesTakesEveryKey() {
        var state = WatchState(store: "s")
        for key: Key in [.tab, .backTab, .up, .down, .pageDown, .end, .right, .left, .character("s"), .character("r")] {
            #expect(state.press(key) == .nothing)
        }
        #expect(state.request == nil)
        #expect(state.press(.character("q")) == .quit)
    }

    @Test func ratesAreOfSecondsThatHavePassed() {
        var history = WatchHistory()
        for tenth in 0...35 { history.add(records: Int64(tenth * 100), at: Double(tenth) / 10) }
        #expect(history.rates.count == 3)
        #expect(history.rates.allSatisfy { abs($0 - 1000) < 1 })
        // Held up for four seconds.
        history.add(records: 3_000 + 4_000, at: 7)
        #expect(history.rates.count == 7)
        // A new job begins from nothing.
        history.add(records: 0, at: 9)
        #expect(history.rates.count == 7)
    }

    @Test func plotsAsBlocksOrInASCII() {
        #expect(WatchText.plot([0, 1, 50, 100], columns: 10, isUnicode: true) == "▁▂▅█")
        #expect(WatchText.plot([0, 1, 50, 100], columns: 2, isUnicode: false) == "+@")
        #expect(WatchText.plot([0, 0], columns: 9, isUnicode: true) == "▁▁")
        #expect(WatchText.plot([], columns: 9, isUnicode: true).isEmpty)
    }

    @Test func valuesThatWereCutAreWhole() {
        #expect(WatchText.text(.text(Array("ab東".utf8.dropLast()))) == "ab")
        #expect(WatchText.text(.text(Array("ab東".utf8))) == "ab東")
        #expect(WatchText.text(.text([0x61, 0xFF, 0])) == "a\u{FFFD}\\u{0}")
        #expect(WatchText.text(.blob([0, 255])) == "x'00ff'")
        #expect(WatchText.text(.null) == "NULL")
    }
}
