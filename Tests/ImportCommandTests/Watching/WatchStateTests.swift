import ImportModel
import Importer
import Testing

@testable import ImportCommand

struct WatchStateTests {
    private func state(sort: [RecordSort] = []) throws -> WatchState {
        var state = WatchState(store: "s.sqlite", sort: sort)
        try state.take(WatchSamples.look())
        state.pageRows = 3
        return state
    }

    private func records(
        _ rows: [(Int64, String)],
        for request: WatchedRecords.Request?,
        new: Set<Int64> = [],
        changed: Set<Int64> = []
    ) throws -> WatchedRecords {
        WatchedRecords(
            request: try #require(request),
            attributes: [
                AttributeDescription(name: "id", type: .integer64), AttributeDescription(name: "name", type: .string),
            ],
            records: rows.map { Record(rowID: $0.0, values: [.integer($0.0), .text($0.1)]) },
            total: WatchSamples.peopleRows,
            new: new,
            changed: changed
        )
    }

    @Test func marksWhatIsNewAndWhatHasChangedForAWhile() throws {
        var state = try state()
        state.take(try records([(3, "c"), (2, "b"), (1, "a")], for: state.request), at: 10)
        #expect([1, 2, 3].allSatisfy { state.mark(of: $0, at: 10) == nil })
        let rows: [(Int64, String)] = [(4, "d"), (3, "C"), (2, "b")]
        state.take(try records(rows, for: state.request, new: [4], changed: [3]), at: 11)
        #expect(state.mark(of: 4, at: 11) == .new)
        #expect(state.mark(of: 3, at: 11) == .changed)
        #expect(state.mark(of: 2, at: 11) == nil)
        #expect(state.mark(of: 4, at: 11 + WatchState.markDuration) == nil)
        #expect(state.marksEnd(after: 11, until: 15))
        #expect(!state.marksEnd(after: 15, until: 20))
    }

    @Test func takesNoAnswerToWhatIsNotAskedAnyMore() throws {
        var state = try state()
        state.take(try records([(9, "i"), (8, "h"), (7, "g")], for: state.request), at: 1)
        _ = state.press(.pageDown)
        let old = try #require(state.request)
        #expect(old.offset == 3)
        state.take(try records([(6, "f"), (5, "e"), (4, "d")], for: old), at: 2)
        _ = state.press(.home)
        state.take(try records([(1, "a")], for: old), at: 3)
        #expect(state.records?.records.count == 3)
        // While there is nothing else to show, another page of the same is better than none.
        _ = state.press(.tab)
        let orders = try #require(state.request)
        state.pageRows = 9
        state.take(try records([(1, "a")], for: old), at: 4)
        #expect(state.records == nil)
        state.take(try records([(1, "a")], for: orders), at: 4)
        #expect(state.records?.records.count == 1)
    }

    @Test func pagesStayInTheTable() throws {
        var state = try state()
        // Nobody knows yet how many there are.
        _ = state.press(.end)
        #expect(state.offset == 0)
        state.take(try records([(1, "a")], for: state.request), at: 1)
        for _ in 0..<5_000 { _ = state.press(.pageDown) }
        #expect(state.offset == WatchSamples.peopleRows - 3)
        _ = state.press(.end)
        #expect(state.offset == WatchSamples.peopleRows - 3)
        for _ in 0..<100 { _ = state.press(.up) }
        #expect(state.offset == WatchSamples.peopleRows - 103)
        _ = state.press(.home)
        _ = state.press(.pageUp)
        #expect(state.offset == 0)
    }

    @Test func sortsByEachColumnInTurnAndTheOtherWayRound() throws {
        var state = try state()
        state.take(try records([(1, "a")], for: state.request), at: 1)
        var seen: [[RecordSort]] = []
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
        #expect(state.request?.entity == "orders")
        _ = state.press(.tab)
        #expect(state.entity?.name == "people")
        _ = state.press(.backTab)
        #expect(state.entity?.name == "orders")
    }

    @Test func beginsWithWhatWasAskedFor() throws {
        var state = WatchState(store: "s", entity: "orders", sort: [.init("id", ascending: false)])
        try state.take(WatchSamples.look())
        #expect(state.request?.entity == "orders")
        #expect(state.request?.sort == [.init("id", ascending: false)])
        var other = WatchState(store: "s", entity: "nobody")
        // While there is none there is nothing to say.
        try other.take(StoreSnapshot())
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

    @Test func valuesAreShownAsTheirAttributesTypes() {
        func text(_ value: Record.Value, _ type: AttributeType) -> String {
            WatchText.text(value, of: AttributeDescription(name: "a", type: type))
        }
        #expect(text(.text("a\u{0}東"), .string) == "a\\u{0}東")
        #expect(text(.blob([0, 255]), .binary) == "x'00ff'")
        #expect(text(.integer(1), .boolean) == "true")
        #expect(text(.real(1.5), .double) == "1.5")
        #expect(text(.null, .string) == "NULL")
    }
}
