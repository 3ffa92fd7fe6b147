import Foundation
import ImportModel
import Synchronization
import TestSupport

import class GRDB.Database
import class GRDB.DatabaseQueue
import struct GRDB.DatabaseValue
import struct GRDB.StatementArguments

@testable import Importer

/// A store that is written by hand, as an import would, with its rows in memory beside it.
final class ViewedStore {
    let job: LibraryImport
    let reader: StoreReader
    /// The values of `id`, `s`, `n` and `r` by row id.
    private(set) var rows: [Int64: [Record.Value]] = [:]
    private let writer: DatabaseQueue
    private let isKeyed: Bool
    private var seen = EntityChanges(entity: "item", table: "item")
    private var pending: MergeNotification?

    /// - Parameter isKeyed: whether `id` is the row id.
    init(isKeyed: Bool) throws {
        self.isKeyed = isKeyed
        job = try LibraryImport("[{\"id\": 1}]")
        let model = """
            {"entities": {"item": {\(isKeyed ? "\"identifier\": [\"id\"], " : "")"attributes": {
                "id": {"type": "integer64"}, "s": {"type": "string", "optional": true},
                "n": {"type": "integer64", "optional": true}, "r": {"type": "double", "optional": true}
            }}}}
            """
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
        _ = try job.pipeline(options).run()
        rows[1] = [.integer(1), .null, .null, .null]
        writer = try StoreConnection.writer(job.store, durability: .off)
        reader = try StoreReader(store: job.store)
    }

    // MARK: Writing

    /// One commit.
    func write(_ body: (Database) throws -> Void) throws {
        seen = EntityChanges(entity: "item", table: "item")
        let merge = try writer.write { database in
            try body(database)
            let difference = seen.inserted - seen.deleted
            try database.execute(sql: "UPDATE _import_entity SET inserted = inserted + ?", arguments: [difference])
            return try MergeLog.append([seen], of: 1, database)
        }
        if pending == nil { pending = merge } else { pending?.merge(merge) }
    }

    /// What another program does.
    func execute(_ sql: String) throws {
        try writer.write { try $0.execute(sql: sql) }
    }

    func insert(_ rowID: Int64?, _ values: [Record.Value], _ database: Database) throws {
        let id = rowID ?? (rows.keys.max() ?? 0) + 1
        var values = values
        if isKeyed { values[0] = .integer(id) }
        try database.execute(
            sql: "INSERT INTO item (id, s, n, r) VALUES (?, CAST(? AS TEXT), ?, ?)",
            arguments: arguments(values)
        )
        rows[id] = values
        seen.insert(id)
        precondition(database.lastInsertedRowID == id)
    }

    func update(_ rowID: Int64, _ values: [Record.Value], _ database: Database) throws {
        var values = values
        if isKeyed { values[0] = .integer(rowID) }
        try database.execute(
            sql: "UPDATE item SET id = ?, s = CAST(? AS TEXT), n = ?, r = ? WHERE rowid = ?",
            arguments: arguments(values + [.integer(rowID)])
        )
        rows[rowID] = values
        seen.update(rowID)
    }

    func delete(_ rowID: Int64, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM item WHERE rowid = ?", arguments: [rowID])
        rows[rowID] = nil
        seen.delete(rowID)
    }

    private func arguments(_ values: [Record.Value]) -> StatementArguments {
        StatementArguments(
            values.map { value in
                switch value {
                case .null: DatabaseValue.null
                case .integer(let number): number.databaseValue
                case .real(let number): number.databaseValue
                case .text(let text): Data(text.utf8).databaseValue
                case .blob(let bytes): Data(bytes).databaseValue
                }
            }
        )
    }

    /// What was committed since the last one.
    func notification() -> MergeNotification {
        defer { pending = nil }
        return pending ?? notification(of: [])
    }

    func notification(of changes: [EntityChanges], needsRefresh: Bool = false) -> MergeNotification {
        MergeNotification(
            job: 1,
            commit: 1,
            changes: changes,
            totals: [],
            marker: Marker(),
            isFinished: false,
            needsRefresh: needsRefresh
        )
    }

    // MARK: The slow model

    /// What a view shows, found out the slow way.
    func snapshot(
        _ request: FetchRequest,
        sectionKey: String?,
        where isTaken: ([Record.Value]) -> Bool
    ) -> RecordViewSnapshot {
        let names = ["id", "s", "n", "r"]
        let sorted = rows.filter { isTaken($0.value) }.sorted { one, other in
            for sort in request.sort {
                let place = names.firstIndex(of: sort.attribute) ?? 0
                let order = Self.compare(one.value[place], other.value[place], sort.collation)
                if order != 0 { return (order < 0) == sort.ascending }
            }
            return (one.key < other.key) == (request.sort.last?.ascending ?? true)
        }.map { Record(rowID: $0.key, values: $0.value) }
        let window = sorted.dropFirst(request.offset).prefix(request.limit ?? .max)
        var sections: [RecordViewSnapshot.Section] = []
        for record in window {
            let name = sectionKey.map { record.values[names.firstIndex(of: $0) ?? 0] }
            if let last = sections.last {
                let isSame =
                    switch (last.name, name) {
                    case (let one?, let other?): Self.compare(one, other, request.sort[0].collation) == 0
                    default: true
                    }
                if isSame {
                    sections[sections.count - 1] = .init(name: last.name, records: last.records + [record])
                    continue
                }
            }
            sections.append(.init(name: name, records: [record]))
        }
        return RecordViewSnapshot(sections: sections, offset: request.offset, total: sorted.count)
    }

    /// As <https://www.sqlite.org/datatype3.html#comparisons> says.
    private static func compare(_ one: Record.Value, _ other: Record.Value, _ collation: RecordSort.Collation) -> Int {
        func number(_ value: Record.Value) -> Double? {
            switch value {
            case .integer(let number): Double(number)
            case .real(let number): number
            default: nil
            }
        }
        switch (one, other) {
        case (.null, .null): return 0
        case (.null, _): return -1
        case (_, .null): return 1
        case (.text(let one), .text(let other)):
            var (one, other) = (Array(one.utf8), Array(other.utf8))
            switch collation {
            case .binary: break
            case .rtrim:
                while one.last == 32 { one.removeLast() }
                while other.last == 32 { other.removeLast() }
            case .nocase:
                let counts = (one.count, other.count)
                one = one.prefix { $0 != 0 }.map { (65...90).contains($0) ? $0 + 32 : $0 }
                other = other.prefix { $0 != 0 }.map { (65...90).contains($0) ? $0 + 32 : $0 }
                if one == other { return counts.0 - counts.1 }
            }
            return one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
        default:
            guard let one = number(one), let other = number(other) else { return 0 }
            return one == other ? 0 : one < other ? -1 : 1
        }
    }
}

/// A clock that continues only when it is told to, or when somebody waits.
final class ToldClock: Sendable {
    private let time = Mutex(Duration.zero)

    var now: Duration { time.withLock { $0 } }

    func advance(by duration: Duration) {
        time.withLock { $0 += duration }
    }

    var view: ViewClock {
        ViewClock(
            now: { self.now },
            sleep: { duration in
                self.advance(by: max(duration, .zero))
                await Task.yield()
            }
        )
    }
}

/// A clock that stands until it is set.
///
/// Who sleeps wakes when it is set; who is cancelled wakes once another one sleeps, which is as late as can be.
final class StoppedClock: Sendable {
    private struct State {
        var time = Duration.zero
        var sleeps = (begun: 0, ended: 0)
    }

    private let state = Mutex(State())

    var sleeps: (begun: Int, ended: Int) { state.withLock { $0.sleeps } }

    func set(_ time: Duration) {
        state.withLock { $0.time = time }
    }

    var view: ViewClock {
        ViewClock(
            now: { self.state.withLock { $0.time } },
            sleep: { duration in
                let (end, number) = self.state.withLock { state in
                    state.sleeps.begun += 1
                    return (state.time + duration, state.sleeps.begun)
                }
                while self.state.withLock({ $0.time < end && !(Task.isCancelled && $0.sleeps.begun > number) }) {
                    await Task.yield()
                }
                self.state.withLock { $0.sleeps.ended += 1 }
            }
        )
    }
}
