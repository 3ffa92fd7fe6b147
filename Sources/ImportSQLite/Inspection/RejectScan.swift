import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Reads rejects one page after the other, each in a short transaction of its own.
///
/// Nobody is called in a transaction: however long anyone who gets the rejects takes, nothing keeps the store's WAL from
/// being taken over.
package struct RejectScan {
    /// A page ends after the reject with which it has this many bytes of records.
    private static let pageBytes = 1 << 20

    /// Where a reject is in the order of the scan.
    package struct Key {
        package let job: Int64
        package let ordinal: Int64
        package let number: Int64

        package init(job: Int64, ordinal: Int64, number: Int64) {
            self.job = job
            self.ordinal = ordinal
            self.number = number
        }
    }

    private let selection: RejectSelection
    /// The names of each job's sources.
    private let names: [Int64: [String]]

    /// - Returns: nil where the store keeps no rejects.
    package init?(_ selection: RejectSelection, _ database: Database) throws {
        guard try database.hasTable("_import_job") else { return nil }
        self.selection = selection
        names = try Dictionary(
            uniqueKeysWithValues: StoredJob.numbers(in: "_import_reject", database).map {
                ($0, try StoredJob.sources(of: $0, database).map(\.description.displayName))
            }
        )
    }

    /// What is read in one transaction.
    package struct Page {
        package var rejects: [StoreInspection.Reject] = []
        /// What is wrong with those that cannot be read, by their numbers.
        package var damaged: [(number: Int64, what: ImportError)] = []
        /// The last one of either kind; nil where there are none.
        package var end: Key?
    }

    /// How many of those that cannot be read are named, at most.
    private static let namedDamages = 5

    /// Calls `body` with each reject, job by job in source order.
    ///
    /// - Returns: what is wrong where some cannot be read; the others are given nevertheless.
    /// - Throws: as `ReadOnlyStore.read` does, and what `body` throws.
    package func run(_ store: ReadOnlyStore, _ body: (StoreInspection.Reject) throws -> Void) throws -> ImportError? {
        var last: Key?
        var damaged: [(number: Int64, what: ImportError)] = []
        var count = 0
        while true {
            let page = try store.read { [last] in try self.page(after: last, $0) }
            for reject in page.rejects { try body(reject) }
            count += page.damaged.count
            damaged += page.damaged.prefix(Self.namedDamages - damaged.count)
            guard let end = page.end else { break }
            last = end
        }
        guard let first = damaged.first else { return nil }
        let numbers = damaged.map { "\($0.number)" }.joined(separator: ", ") + (count > damaged.count ? ", …" : "")
        return first.what.advising(
            "\(count == 1 ? "Reject" : "The rejects") \(numbers) cannot be read; all others can."
        )
    }

    /// The rejects after a position, about a MiB of records.
    package func page(after last: Key?, _ database: Database) throws -> Page {
        guard try database.hasTable("_import_reject") else { return Page() }
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT * FROM _import_reject AS reject
                WHERE (?1 IS NULL OR reject.job = ?1) AND (?2 IS NULL OR reject.entity = ?2)
                    AND (?3 OR reject.state = 'open')
                    AND (reject.job, reject.ordinal, reject.id) > (?4, ?5, ?6)
                ORDER BY reject.job, reject.ordinal, reject.id
                """,
            arguments: [
                selection.job, selection.entity, selection.includesSettled,
                last?.job ?? .min, last?.ordinal ?? .min, last?.number ?? .min,
            ]
        )
        var page = Page()
        var bytes = 0
        while bytes < Self.pageBytes, let next = try rows.next() {
            let row = BookkeepingRow(next, of: "_import_reject", database)
            let end = Key(job: try row.rowID("job"), ordinal: try row.rowID("ordinal"), number: try row.rowID("id"))
            page.end = end
            bytes += 1_000
            do {
                let reject = try reject(row)
                bytes += reject.record.count
                page.rejects.append(reject)
            } catch let error as ImportError {
                page.damaged.append((end.number, error))
            }
        }
        return page
    }

    /// The reject with a number; nil where there is none.
    package func reject(number: Int64, _ database: Database) throws -> StoreInspection.Reject? {
        try BookkeepingRow.first(database, from: "_import_reject", "WHERE id = ?", [number]).map { try reject($0) }
    }

    private func reject(_ row: BookkeepingRow) throws -> StoreInspection.Reject {
        let job = try row.number("job")
        let source = try row.index("source")
        guard let names = names[job] else { throw row.damage("job") }
        return StoreInspection.Reject(
            number: try row.number("id"),
            job: job,
            ordinal: try row.number("ordinal"),
            entity: try row.text("entity"),
            source: names.indices.contains(source) ? names[source] : "",
            byteOffset: try row.number("byte_offset"),
            length: try row.number("length"),
            errors: try row.json("errors") { (errors: [ImportModel.RecordError]) in
                errors.allSatisfy { BookkeepingRow.counts.contains($0.byteOffset) }
            },
            record: try row.bytes("record"),
            state: try row.choice("state"),
            key: try row.optionalText("record_key")
        )
    }
}
