import Foundation
import GRDB
import ImportModel

/// Reads rejects one page after the other, each in a short transaction of its own.
///
/// Nobody is called in a transaction: however long whoever gets the rejects takes, nothing keeps the store's WAL from
/// being taken over.
struct RejectScan {
    /// A page ends behind the reject with which it has so many bytes of records.
    private static let pageBytes = 1 << 20

    /// Where a reject stands in the order of the scan.
    private struct Key {
        let job: Int64
        let ordinal: Int64
        let number: Int64
    }

    private let selection: RejectSelection
    /// The names of each job's sources.
    private let names: [Int64: [String]]
    private let hasKeys: Bool

    /// - Returns: nil where the store keeps no rejects.
    init?(_ selection: RejectSelection, _ database: Database) throws {
        guard try database.tableExists("_import_reject") else { return nil }
        self.selection = selection
        names = try Dictionary(
            uniqueKeysWithValues: StoredJob.all(database).map { ($0.id, $0.sources.map(\.description.displayName)) }
        )
        hasKeys = try database.tableExists("_import_reject_key")
    }

    /// Calls `body` with each reject, job by job in source order.
    ///
    /// - Throws: as `OpenedStore.read` does, and what `body` throws.
    func run(_ store: OpenedStore, _ body: (StoreInspection.Reject) throws -> Void) throws {
        var last: Key?
        while true {
            let rejects = try store.read { [last] in try page(after: last, $0) }
            for reject in rejects { try body(reject) }
            guard let end = rejects.last else { return }
            last = Key(job: end.job, ordinal: end.ordinal, number: end.number)
        }
    }

    private func page(after last: Key?, _ database: Database) throws -> [StoreInspection.Reject] {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT reject.*, \(hasKeys ? "key.record_key" : "NULL AS record_key")
                FROM _import_reject AS reject
                \(hasKeys ? "LEFT JOIN _import_reject_key AS key ON key.reject = reject.id" : "")
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
        var page: [StoreInspection.Reject] = []
        var bytes = 0
        while bytes < Self.pageBytes, let row = try rows.next() {
            let reject = try reject(row)
            bytes += reject.record.count + 1_000
            page.append(reject)
        }
        return page
    }

    private func reject(_ row: Row) throws -> StoreInspection.Reject {
        let job: Int64 = row["job"]
        let source: Int = row["source"]
        return StoreInspection.Reject(
            number: row["id"],
            job: job,
            ordinal: row["ordinal"],
            entity: row["entity"],
            source: names[job].flatMap { $0.indices.contains(source) ? $0[source] : nil } ?? "",
            byteOffset: row["byte_offset"],
            length: row["length"],
            errors: try StoredJSON.decode([ImportModel.RecordError].self, row["errors"]),
            record: [UInt8](row["record"] as Data),
            state: RejectState(rawValue: row["state"]) ?? .open,
            key: row["record_key"]
        )
    }
}
