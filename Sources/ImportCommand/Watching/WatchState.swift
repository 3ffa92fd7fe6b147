import Importer

/// What the screen shows: figures, the records that were asked for, and which of them are new.
///
/// Pure: keys, figures and times in, requests out.
struct WatchState: Sendable {
    /// What became of a row.
    enum Mark: Sendable, Hashable {
        case new
        case changed
    }

    /// What a key asks the loop to do.
    enum Action: Sendable, Hashable {
        case nothing
        case redraw
        case quit
    }

    /// How long a row is marked, in seconds.
    static let markDuration = 3.0

    /// What the store is called.
    let store: String
    var statistics = WatchStatistics()
    var frame = ProgressFrame()
    var history = WatchHistory()
    /// Something to be said, instead of the state.
    var message: String?
    /// What is in the way of reading the store, as long as it does.
    var trouble: String?
    /// The place of the shown entity among the figures' entities.
    private(set) var place = 0
    private(set) var records: WatchedRecords?
    private(set) var offset = 0
    private(set) var firstColumn = 0
    /// By table: how its records are sorted; without any, the newest come first.
    private var sorts: [String: [RecordSort]] = [:]
    private var marks: [Int64: (mark: Mark, time: Double)] = [:]
    /// The widest that each attribute's column has been, so that columns do not jump.
    private(set) var columnWidths: [Int] = []
    /// Records that the last layout had room for.
    var pageRows = 10
    private let wantedEntity: String?
    private let wantedSort: [RecordSort]

    /// - Parameter entity: the entity to begin with; nil for the job's first.
    init(store: String, entity: String? = nil, sort: [RecordSort] = []) {
        self.store = store
        wantedEntity = entity
        wantedSort = sort
    }

    /// The shown entity.
    var entity: StoreSnapshot.Entity? {
        statistics.look.entities.indices.contains(place) ? statistics.look.entities[place] : nil
    }

    /// How the shown entity is sorted.
    var sort: [RecordSort] { entity.flatMap { sorts[$0.table] } ?? [] }

    /// The records to read; nil while there is no entity.
    var request: WatchedRecords.Request? {
        entity.map {
            WatchedRecords.Request(entity: $0.name, sort: sort, offset: offset, limit: max(pageRows, 1))
        }
    }

    /// The mark of a row, as long as it lasts.
    func mark(of row: Int64, at time: Double) -> Mark? {
        marks[row].flatMap { time - $0.time < Self.markDuration ? $0.mark : nil }
    }

    /// True if a mark ends between two times.
    func marksEnd(after start: Double, until end: Double) -> Bool {
        marks.values.contains { (start..<end).contains($0.time + Self.markDuration) }
    }

    // MARK: What is read

    /// Takes in how far the import is.
    ///
    /// - Throws: `ImportError` when the entity that was asked for is not there.
    mutating func take(_ look: StoreSnapshot) throws {
        let shown = entity
        let isFirst = statistics.look.entities.isEmpty && !look.entities.isEmpty
        statistics.look = look
        if isFirst {
            if let wantedEntity {
                guard let found = look.entities.firstIndex(where: { $0.name.utf8.elementsEqual(wantedEntity.utf8) })
                else {
                    throw ImportError(
                        .entityNotFound,
                        at: store,
                        "has no entity \(wantedEntity)",
                        advice: "It has: \(look.entities.map(\.name).joined(separator: ", "))."
                    )
                }
                place = found
            }
            if let entity, !wantedSort.isEmpty { sorts[entity.table] = wantedSort }
        } else if let shown {
            place =
                look.entities.firstIndex { $0.isSame(as: shown) }
                ?? look.entities.firstIndex { $0.table == shown.table } ?? 0
            if entity?.isSame(as: shown) != true { forgetRows() }
        }
    }

    /// Takes in the records that were asked for.
    mutating func take(_ new: WatchedRecords, at time: Double) {
        // An answer to what is not asked any more is none, unless there is nothing else to show.
        guard let request, new.request == request || records == nil && new.request.isBeside(request) else { return }
        marks = marks.filter { time - $0.value.time < Self.markDuration }
        for row in new.changed { marks[row] = (.changed, time) }
        for row in new.new { marks[row] = (.new, time) }
        if records?.attributes.map(\.name) != new.attributes.map(\.name) {
            columnWidths = new.attributes.map { WatchText.columns(of: $0.name) }
        }
        for record in new.records {
            for (place, value) in record.values.enumerated() where columnWidths[place] < WatchText.widestColumn {
                let columns = WatchText.columns(of: WatchText.text(value, of: new.attributes[place]))
                columnWidths[place] = max(columnWidths[place], columns)
            }
        }
        records = new
    }

    private mutating func forgetRows() {
        (records, offset, firstColumn) = (nil, 0, 0)
        (marks, columnWidths) = ([:], [])
    }

    // MARK: Keys

    /// Does what a key asks for.
    mutating func press(_ key: Key) -> Action {
        let entities = statistics.look.entities.count
        switch key {
        case .character("q"), .character("Q"): return .quit
        case .redraw: return .redraw
        case .tab, .character("e"): show(entities == 0 ? 0 : (place + 1) % entities)
        case .backTab, .character("E"): show(entities == 0 ? 0 : (place + entities - 1) % entities)
        case .character("s"): cycleSort(by: 1)
        case .character("S"): cycleSort(by: -1)
        case .character("r"): reverse()
        case .down, .character("j"): scroll(to: offset + 1)
        case .up, .character("k"): scroll(to: offset - 1)
        case .pageDown, .character(" "): scroll(to: offset + pageRows)
        case .pageUp, .character("b"): scroll(to: offset - pageRows)
        case .home, .character("g"): scroll(to: 0)
        case .end, .character("G"): scroll(to: .max)
        case .right, .character("l"): scrollColumns(to: firstColumn + 1)
        case .left, .character("h"): scrollColumns(to: firstColumn - 1)
        default: break
        }
        return .nothing
    }

    private mutating func show(_ new: Int) {
        guard new != place else { return }
        place = new
        forgetRows()
    }

    private mutating func scroll(to wanted: Int) {
        offset = max(min(wanted, (records?.total ?? 0) - pageRows), 0)
    }

    private mutating func scrollColumns(to wanted: Int) {
        firstColumn = max(min(wanted, (records?.attributes.count ?? 1) - 1), 0)
    }

    /// Sorts by the next attribute; after the last one the newest records come first again.
    private mutating func cycleSort(by step: Int) {
        guard let entity, let names = records?.attributes.map(\.name), !names.isEmpty else { return }
        let now = sort.first.flatMap { sort in names.firstIndex { $0.utf8.elementsEqual(sort.attribute.utf8) } } ?? -1
        let next = (now + 1 + step + names.count + 1) % (names.count + 1) - 1
        sorts[entity.table] = next < 0 ? [] : [RecordSort(names[next])]
        offset = 0
    }

    private mutating func reverse() {
        guard let entity, !sort.isEmpty else { return }
        sorts[entity.table] = sort.map {
            RecordSort($0.attribute, ascending: !$0.ascending, collation: $0.collation)
        }
        offset = 0
    }
}
