import TestSupport
import Testing

@testable import Importer

/// Views against a model that is slow and obvious.
struct RecordViewModelTests {
    private static let sorts: [[RecordSort]] = [
        [],
        [RecordSort("id", ascending: false)],
        [RecordSort("id")],
        [RecordSort("s")],
        [RecordSort("n", ascending: false)],
        [RecordSort("s", ascending: false, collation: .nocase), RecordSort("n")],
        [RecordSort("s", collation: .nocase), RecordSort("r", ascending: false)],
        [RecordSort("s", collation: .rtrim), RecordSort("n", ascending: false), RecordSort("s")],
        [RecordSort("r"), RecordSort("s", ascending: false), RecordSort("id")],
        [RecordSort("n"), RecordSort("id", ascending: false), RecordSort("s")],
    ]

    private static let texts = [
        "a", "A", "b", "b ", "B  ", "", "\u{e9}", "e\u{301}", "a\0b", "A\0c", "a\0", "\u{1f600}",
    ]

    private func values(_ random: inout SeededGenerator) -> [Record.Value] {
        func orNull(_ value: Record.Value) -> Record.Value {
            Int.random(in: 0..<4, using: &random) == 0 ? .null : value
        }
        return [
            .integer(Int64.random(in: -5...5, using: &random)),
            orNull(.text(Self.texts.randomElement(using: &random) ?? "")),
            orNull(.integer(Int64.random(in: -2...2, using: &random))),
            orNull(.real([-1.5, 0, 1, 2.5].randomElement(using: &random) ?? 0)),
        ]
    }

    /// Some inserts, updates and deletes in one commit; mostly inserts at the end, as an import does.
    private func commit(_ store: ViewedStore, isKeyed: Bool, _ random: inout SeededGenerator) throws {
        let kinds = [
            ["insert"], ["insert", "update"], ["insert", "insert", "update", "delete"], ["update"], ["delete"],
        ]
        let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
        try store.write { database in
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let some = store.rows.keys.sorted().randomElement(using: &random)
                switch (kind.randomElement(using: &random), some) {
                case ("update", let row?): try store.update(row, values(&random), database)
                case ("delete", let row?): try store.delete(row, database)
                default:
                    var row: Int64?
                    if isKeyed, Bool.random(using: &random) {
                        row = Int64.random(in: -20...60, using: &random)
                        if row.map({ store.rows[$0] != nil }) ?? false { row = nil }
                    }
                    try store.insert(row, values(&random), database)
                }
            }
        }
    }

    /// The changes of each merge, applied to what the view showed before, are what a fresh and slow query gives.
    @Test(arguments: [false, true], 0..<4) func followsAnyCommits(isKeyed: Bool, seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed * 2) + (isKeyed ? 1 : 0))
        let store = try ViewedStore(isKeyed: isKeyed)
        if Bool.random(using: &random) { try store.execute("CREATE INDEX i ON item (s)") }
        if Bool.random(using: &random) { try store.execute("CREATE INDEX j ON item (s COLLATE NOCASE, n)") }
        for _ in 0..<Int.random(in: 0...10, using: &random) { try commit(store, isKeyed: isKeyed, &random) }
        _ = store.notification()
        let views = try (0..<12).map { _ in try FollowedView(store, Self.sorts, &random) }
        for _ in 0..<30 {
            for _ in 0..<Int.random(in: 1...2, using: &random) { try commit(store, isKeyed: isKeyed, &random) }
            let first = store.notification()
            // Sometimes the store is ahead of the notification.
            let isAhead = Int.random(in: 0..<3, using: &random) == 0
            if isAhead { try commit(store, isKeyed: isKeyed, &random) }
            let second = store.notification()
            for view in views {
                // Then nothing is said of what it shows, but the notifications mend it.
                let isHasty = Int.random(in: 0..<6, using: &random) == 0
                if isHasty { try view.move(&random) }
                try view.merge(first)
                if isHasty, Bool.random(using: &random) { try view.move(&random) }
                if isAhead { try view.merge(second) }
                try view.check("seed \(seed)")
                if Int.random(in: 0..<10, using: &random) == 0 {
                    try view.move(&random)
                    try view.check("moved")
                }
            }
        }
    }
}

/// A view whose updates are applied one after the other.
private final class FollowedView {
    private let store: ViewedStore
    private let clock = ToldClock()
    private let view: RecordView
    private var request: FetchRequest
    private let sectionKey: String?
    private let isTaken: ([Record.Value]) -> Bool
    private var shown: RecordViewSnapshot

    init(_ store: ViewedStore, _ sorts: [[RecordSort]], _ random: inout SeededGenerator) throws {
        self.store = store
        request = FetchRequest(
            entity: "item",
            sortedBy: sorts.randomElement(using: &random) ?? [],
            offset: [0, 0, 1, 4, 15].randomElement(using: &random) ?? 0,
            limit: [nil, 0, 1, 3, 6, 6].randomElement(using: &random) ?? nil
        )
        if Int.random(in: 0..<3, using: &random) == 0 {
            request.predicate = try RecordPredicate("n > -1")
            isTaken = { if case .integer(let number) = $0[2] { number > -1 } else { false } }
        } else {
            isTaken = { _ in true }
        }
        sectionKey = Bool.random(using: &random) ? request.sort.first?.attribute : nil
        view = try RecordView(request, sectionKey: sectionKey, in: store.reader, clock: clock.view)
        shown = view.snapshot
        try check("at first")
    }

    func merge(_ notification: MergeNotification) throws {
        take(try view.merge(notification))
    }

    func move(_ random: inout SeededGenerator) throws {
        request.offset = Int.random(in: 0...12, using: &random)
        if Bool.random(using: &random) { request.limit = Int.random(in: 0...6, using: &random) }
        take(try view.move(toOffset: request.offset, limit: request.limit))
    }

    private func take(_ update: RecordViewUpdate?) {
        guard let update else { return }
        #expect(shown.applying(update.changes) == update.snapshot)
        #expect(shown != update.snapshot)
        shown = update.snapshot
    }

    func check(_ comment: Comment) throws {
        if view.totalIsDue != nil {
            clock.advance(by: .seconds(2))
            take(try view.recount())
        }
        #expect(view.snapshot == shown)
        let expected = store.snapshot(request, sectionKey: sectionKey, where: isTaken)
        try #require(shown == expected, "\(comment) \(request) \(String(describing: sectionKey))")
    }
}
