import Foundation
import GRDB
import Synchronization

/// A sorted window on an entity's rows that follows the merge notifications (after `NSFetchedResultsController`).
///
/// It reads through a connection of its own, so it never waits for the import and sees whole commits only.
public final class RecordView: Sendable {
    /// What to show.
    public struct Request: Sendable, Hashable {
        /// The entity's table.
        public var table: String
        /// Columns to sort by, the first one first; rows that are equal in all of them stand by row id.
        public var sort: [Sort]
        /// How many rows of the sorted whole to pass over, from 0.
        public var offset: Int
        /// How many rows to show, from 1.
        public var limit: Int

        /// Puts one together from its parts.
        public init(table: String, sort: [Sort] = [], offset: Int = 0, limit: Int = 100) {
            self.table = table
            self.sort = sort
            self.offset = offset
            self.limit = limit
        }
    }

    /// A column to sort by (after `NSSortDescriptor`).
    public struct Sort: Sendable, Hashable {
        /// The column's name.
        public var column: String
        /// Whether small values come first.
        public var ascending: Bool

        /// Puts one together from its parts.
        public init(_ column: String, ascending: Bool = true) {
            self.column = column
            self.ascending = ascending
        }
    }

    /// What the window shows, all of it from one moment.
    public struct Snapshot: Sendable, Hashable {
        /// The table's columns, in order.
        public let columns: [String]
        /// The rows of the window, sorted.
        public let records: [Record]
        /// How many rows the entity has in all.
        public let total: Int
    }

    private let store: DatabaseQueue
    private let request: Request
    private let state: Mutex<Snapshot>

    /// Opens a view.
    ///
    /// - Throws: `ImportError` when the store is not there, has no such table, or the table no such column.
    public init(store path: String, _ request: Request) throws {
        store = try StoreConnection.reader(path)
        self.request = request
        let snapshot = try store.read { try Self.fetch(request, $0) }
        state = Mutex(snapshot)
    }

    /// What the window shows now.
    public var snapshot: Snapshot { state.withLock { $0 } }

    /// Follows an import until it is over: calls `onChange` with each new state of the window.
    ///
    /// - Parameter notifications: from the import's `MergeCenter`. Those that cannot touch the entity do no query.
    /// - Throws: `ImportError` when the store can no longer be read.
    public func follow(_ notifications: MergeNotifications, onChange: (Snapshot) async -> Void) async throws {
        // What was committed before the notifications began.
        if let changed = try refresh() { await onChange(changed) }
        for await notification in notifications {
            guard
                notification.changes.contains(where: {
                    $0.table == request.table && ($0.inserted > 0 || $0.updated > 0 || $0.deleted > 0)
                })
            else { continue }
            if let changed = try refresh() { await onChange(changed) }
        }
    }

    /// Looks again.
    ///
    /// - Returns: what the window shows now, or nil if it is the same as before.
    /// - Throws: `ImportError` when the store can no longer be read.
    @discardableResult
    public func refresh() throws -> Snapshot? {
        let new = try store.read { try Self.fetch(request, $0) }
        return state.withLock { old in
            guard new != old else { return nil }
            old = new
            return new
        }
    }

    private static func fetch(_ request: Request, _ database: Database) throws -> Snapshot {
        guard try database.tableExists(request.table) else {
            throw ImportError(.noInput, "the store has no table \(request.table)", advice: "Check the entity's name.")
        }
        let columns = try database.columns(in: request.table).map(\.name)
        for sort in request.sort where !columns.contains(sort.column) {
            throw ImportError(
                .usage,
                "\(request.table) has no column \(sort.column)",
                advice: "It has: \(columns.joined(separator: ", "))."
            )
        }
        let table = request.table.quotedIdentifier
        let order = request.sort.map { "\($0.column.quotedIdentifier) \($0.ascending ? "ASC" : "DESC")" } + ["rowid"]
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT rowid, \(columns.map(\.quotedIdentifier).joined(separator: ", ")) FROM \(table)
                ORDER BY \(order.joined(separator: ", ")) LIMIT ? OFFSET ?
                """,
            arguments: [request.limit, request.offset]
        )
        let total = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
        var records: [Record] = []
        while let row = try rows.next() {
            records.append(try Record(row))
        }
        return Snapshot(columns: columns, records: records, total: total)
    }
}
