import Foundation
import GRDB
import ImportEngine
import ImportSources

/// Row ids of one table, as pages in a table of the store or of the connection: one page is in memory at a time.
///
/// Belongs to one connection; used inside of its transactions only.
package final class RowIDBitmap {
    /// The table in which a job keeps the rows that it has seen.
    package static let retained = "main._import_seen"
    /// One of the connection's own.
    package static let scope = "temp.import_scope"

    private let database: Database
    private let table: String
    private let job: Int64
    private let name: String
    /// The page that was read last; nil for none.
    private var number: Int64?
    private var page = RowIDBitmapPage()

    /// - Parameters:
    ///   - table: where the pages are.
    ///   - name: the table whose rows they are.
    package init(_ database: Database, in table: String, job: Int64, of name: String) {
        self.database = database
        self.table = table
        self.job = job
        self.name = name
    }

    /// Makes the connection's own table, empty.
    static func prepareScope(_ database: Database) throws {
        try database.execute(
            sql: """
                DROP TABLE IF EXISTS \(scope);
                CREATE TEMPORARY TABLE import_scope (
                    job INTEGER NOT NULL, table_name TEXT NOT NULL, page INTEGER NOT NULL, content BLOB NOT NULL,
                    PRIMARY KEY (job, table_name, page)
                ) WITHOUT ROWID
                """
        )
    }

    // MARK: Reading

    /// True if a row id is there; those that are asked for should be in order.
    package func contains(_ rowID: Int64) throws -> Bool {
        try read(rowID >> RowIDBitmapPage.width)
        return page.contains(UInt16(truncatingIfNeeded: rowID))
    }

    /// Calls `body` with each page: how many of its row ids other pages have, too, and those that they do not have, in order.
    func forEachPage(without others: RowIDBitmap, _ body: (_ shared: Int, _ rest: [Int64]) throws -> Void) throws {
        let numbers = try Int64.fetchAll(
            database,
            sql: "SELECT page FROM \(table) WHERE job = ? AND table_name = ? ORDER BY page",
            arguments: [job, name]
        )
        for number in numbers {
            try read(number)
            try others.read(number)
            let rest = page.subtracting(others.page)
            try body(page.count - rest.count, rest.offsets.map { number << RowIDBitmapPage.width | Int64($0) })
        }
    }

    private func read(_ number: Int64) throws {
        guard number != self.number else { return }
        self.number = nil
        let content = try Data.fetchOne(
            database.cachedStatement(
                sql: "SELECT content FROM \(table) WHERE job = ? AND table_name = ? AND page = ?"
            ),
            arguments: [job, name, number]
        )
        if let content {
            guard let page = RowIDBitmapPage([UInt8](content)) else {
                throw ImportError(
                    damaged: UntrustedStoreGuard.path(of: database),
                    "\(table).content is not a page of row ids"
                )
            }
            self.page = page
        } else {
            page = RowIDBitmapPage()
        }
        self.number = number
    }

    // MARK: Writing

    /// Adds row ids.
    ///
    /// - Parameter rowIDs: in order; some may be there more than once.
    package func add(_ rowIDs: some Sequence<Int64>) throws {
        var isChanged = false
        for rowID in rowIDs {
            if rowID >> RowIDBitmapPage.width != number {
                if isChanged { try write() }
                isChanged = false
                try read(rowID >> RowIDBitmapPage.width)
            }
            let offset = UInt16(truncatingIfNeeded: rowID)
            guard !page.contains(offset) else { continue }
            page.insert(offset)
            isChanged = true
        }
        if isChanged { try write() }
    }

    /// Adds ranges of row ids, which are in order.
    package func add(_ ranges: [ClosedRange<Int64>]) throws {
        var isChanged = false
        for range in ranges {
            let (first, last) = (range.lowerBound >> RowIDBitmapPage.width, range.upperBound >> RowIDBitmapPage.width)
            for number in first...last {
                if number != self.number {
                    if isChanged { try write() }
                    try read(number)
                }
                let start = number == first ? UInt16(truncatingIfNeeded: range.lowerBound) : 0
                let end = number == last ? UInt16(truncatingIfNeeded: range.upperBound) : .max
                page.insert(start...end)
                isChanged = true
            }
        }
        if isChanged { try write() }
    }

    /// Takes out all that come after one.
    package func remove(after rowID: Int64) throws {
        let number = rowID >> RowIDBitmapPage.width
        self.number = nil
        try database.cachedStatement(sql: "DELETE FROM \(table) WHERE job = ? AND table_name = ? AND page > ?")
            .execute(arguments: [job, name, number])
        try read(number)
        page.remove(after: UInt16(truncatingIfNeeded: rowID))
        try write()
    }

    private func write() throws {
        guard let number else { return }
        try database.cachedStatement(
            sql: "INSERT OR REPLACE INTO \(table) (job, table_name, page, content) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [job, name, number, Data(page.bytes)])
    }
}
