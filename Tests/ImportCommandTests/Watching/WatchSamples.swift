import ImportModel
import Importer

@testable import ImportCommand

/// What the tests of the view share.
enum WatchSamples {
    static let peopleRows = 12_345

    static func look(_ change: (inout StoreSnapshot) -> Void = { _ in }) -> StoreSnapshot {
        var people = ImportReport.Counts()
        people.recordsRead = 12_400
        people.inserted = Int64(peopleRows)
        people.updated = 40
        people.rejected = 15
        var orders = ImportReport.Counts()
        orders.recordsRead = 7
        orders.inserted = 7
        var look = StoreSnapshot()
        look.job = 1
        look.hasModel = true
        look.sources = ["people.json"]
        look.totalBytes = 10_000_000
        look.splitBytes = 8_000_000
        look.splitRecords = 20_000
        look.bytes = 4_500_000
        look.records = 12_407
        look.rejected = 15
        look.seconds = 3
        look.entities = [
            .init(name: "people", table: "people", counts: people),
            .init(name: "orders", table: "orders", counts: orders),
        ]
        look.errors = [
            group("address.city", "wrongKind", "string", "object", 3),
            group("age", "notANumber", "integer16", "string", 12),
        ]
        change(&look)
        return look
    }

    static func group(_ path: String, _ code: String, _ expected: String, _ found: String, _ count: Int64) -> ErrorGroup
    {
        ErrorGroup(
            entity: "people",
            keyPath: path,
            code: code,
            expected: expected,
            found: found,
            count: count,
            first: .init(source: "people.json", byteOffset: 4_100, record: 12)
        )
    }

    /// In the middle of an import, with two of its rows marked.
    static func state(for layout: WatchLayout) throws -> WatchState {
        var state = WatchState(store: "people.sqlite")
        try state.take(look())
        state.frame = Samples.frame {
            $0.snapshot = state.statistics.snapshot
            $0.recordsPerSecond = 4_135
            $0.bytesPerSecond = 1_500_000
        }
        var done: Int64 = 0
        for second in 0..<90 {
            done += Int64((second * 37 % 11) * 400)
            state.history.add(records: done, at: Double(second))
        }
        state.pageRows = max(layout.pageRows(for: state), 1)
        guard let request = state.request else { return state }
        state.take(records(from: 1, for: request), at: 100)
        return state
    }

    private static let cities = ["Oslo", "Zürich", "東京", "e\u{301}vian", "\u{1B}[31mRed\u{7}", "서울 🇰🇷", "👨‍👩‍👧 town"]

    static func records(from first: Int, for request: WatchedRecords.Request) -> WatchedRecords {
        WatchedRecords(
            request: request,
            attributes: [
                AttributeDescription(name: "id", type: .integer64), AttributeDescription(name: "name", type: .string),
                AttributeDescription(name: "city", type: .string), AttributeDescription(name: "balance", type: .double),
                AttributeDescription(name: "note", type: .string),
            ],
            records: (0..<request.limit).map { index in
                let id = Int64(first + index)
                return Record(
                    rowID: id,
                    values: [
                        .integer(id * 1_009), .text("Person \(id)"), .text(cities[Int(id) % cities.count]),
                        .real(Double(id) * 12.5), id % 3 == 0 ? .null : .text(id == 4 ? "changed" : "a note"),
                    ]
                )
            },
            total: peopleRows,
            new: [1, 2],
            changed: [4]
        )
    }
}
