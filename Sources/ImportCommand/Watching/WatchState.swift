import Importer

/// What the screen shows: figures, the window that was asked for, and which of its rows are new.
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
    /// So many rows are remembered to tell new ones from those that were seen.
    private static let mostKnown = 5_000

    /// What the store is called.
    let store: String
    var figures = WatchFigures()
    var frame = ProgressFrame()
    var history = WatchHistory()
    /// Something to be said, in place of the state.
    var message: String?
    /// The place of the shown entity among the figures' entities.
    private(set) var place = 0
    private(set) var window: StoreWindow?
    private(set) var offset = 0
    private(set) var firstColumn = 0
    /// By table: how its rows are sorted; without any, the newest come first.
    private var sorts: [String: [StoreWindow.Sort]] = [:]
    private var marks: [Int64: (mark: Mark, time: Double)] = [:]
    private var known: [Int64: [StoreWindow.Value]] = [:]
    /// The request that `window` answers; marks are for what changes while it stays the same.
    private var answered: StoreWindow.Request?
    /// The widest that each column has been, so that columns do not jump.
    private(set) var columnWidths: [String: Int] = [:]
    /// Rows of the window that the last layout had room for.
    var pageRows = 10
    private let wantedEntity: String?
    private let wantedSort: [StoreWindow.Sort]

    /// - Parameters:
    ///   - store: its name.
    ///   - entity: the entity to begin with; nil for the job's first.
    ///   - sort: how that one is sorted.
    init(store: String, entity: String? = nil, sort: [StoreWindow.Sort] = []) {
        self.store = store
        wantedEntity = entity
        wantedSort = sort
    }

    /// The shown entity.
    var entity: StoreLook.Entity? {
        figures.look.entities.indices.contains(place) ? figures.look.entities[place] : nil
    }

    /// How the shown entity is sorted.
    var sort: [StoreWindow.Sort] { entity.flatMap { sorts[$0.table] } ?? [] }

    /// The window to read; nil while there is no entity.
    var request: StoreWindow.Request? {
        entity.map {
            StoreWindow.Request(
                table: $0.table,
                sort: sort,
                offset: offset,
                limit: max(pageRows, 1),
                firstColumn: firstColumn
            )
        }
    }

    /// The mark of a row, as long as it lasts.
    func mark(of row: Int64, at time: Double) -> Mark? {
        marks[row].flatMap { time - $0.time < Self.markDuration ? $0.mark : nil }
    }

    /// Whether a mark ends between two times.
    func marksEnd(after start: Double, until end: Double) -> Bool {
        marks.values.contains { (start..<end).contains($0.time + Self.markDuration) }
    }

    // MARK: What is read

    /// Takes in how far the import is.
    ///
    /// - Throws: `ImportError` when the entity that was asked for is not there.
    mutating func take(_ look: StoreLook) throws {
        let shown = entity
        let isFirst = figures.look.entities.isEmpty && !look.entities.isEmpty
        figures.look = look
        if isFirst {
            if let wantedEntity {
                guard let found = look.entities.firstIndex(where: { $0.name.utf8.elementsEqual(wantedEntity.utf8) })
                else {
                    throw ImportError(
                        .noInput,
                        "\(store): has no entity \(wantedEntity)",
                        advice: "It has: \(look.entities.map(\.name).joined(separator: ", "))."
                    )
                }
                place = found
            }
            if let entity, !wantedSort.isEmpty { sorts[entity.table] = wantedSort }
        } else if let shown {
            place = look.entities.firstIndex { $0.table == shown.table } ?? 0
            if entity?.table != shown.table { forgetRows() }
        }
    }

    /// Takes in the rows that `request` has read.
    mutating func take(_ window: StoreWindow?, for request: StoreWindow.Request, at time: Double) {
        guard request == self.request || (request.table == entity?.table && self.window == nil) else { return }
        guard let window else {
            self.window = nil
            return
        }
        marks = marks.filter { time - $0.value.time < Self.markDuration }
        let isSame = request == answered
        for row in window.rows {
            if isSame {
                if let before = known[row.rowID] {
                    if before != row.values { marks[row.rowID] = (.changed, time) }
                } else {
                    marks[row.rowID] = (.new, time)
                }
            }
        }
        if known.count > Self.mostKnown { known = [:] }
        for row in window.rows { known[row.rowID] = row.values }
        for (index, column) in window.columns.dropFirst(request.firstColumn).prefix(request.columnLimit).enumerated() {
            var width = max(columnWidths[column] ?? 0, WatchText.columns(of: column))
            for row in window.rows where row.values.indices.contains(index) {
                width = max(width, WatchText.columns(of: row.values[index]))
            }
            columnWidths[column] = width
        }
        self.window = window
        answered = request
    }

    private mutating func forgetRows() {
        (window, answered, offset, firstColumn) = (nil, nil, 0, 0)
        (marks, known, columnWidths) = ([:], [:], [:])
    }

    // MARK: Keys

    /// Does what a key asks for.
    mutating func press(_ key: Key) -> Action {
        let entities = figures.look.entities.count
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
        let count = Int(clamping: entity?.rowCount ?? 0)
        offset = max(min(wanted, count - pageRows), 0)
    }

    private mutating func scrollColumns(to wanted: Int) {
        firstColumn = max(min(wanted, (window?.columns.count ?? 1) - 1), 0)
    }

    /// Sorts by the next column; behind the last one the newest rows come first again.
    private mutating func cycleSort(by step: Int) {
        guard let entity, let columns = window?.columns, !columns.isEmpty else { return }
        let now = sort.first.flatMap { sort in columns.firstIndex { $0.utf8.elementsEqual(sort.column.utf8) } } ?? -1
        let next = (now + 1 + step + columns.count + 1) % (columns.count + 1) - 1
        sorts[entity.table] = next < 0 ? [] : [StoreWindow.Sort(columns[next])]
        offset = 0
    }

    private mutating func reverse() {
        guard let entity, !sort.isEmpty else { return }
        sorts[entity.table] = sort.map { StoreWindow.Sort($0.column, ascending: !$0.ascending) }
        offset = 0
    }
}
