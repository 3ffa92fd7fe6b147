import Foundation
import GRDB
import ImportChanges
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Removes the importer's bookkeeping from a store, so that only its own tables are left.
///
/// A stripped store keeps its tables, rows, indexes and row ids, and is in rollback-journal mode. Undoing, verifying and mirroring
/// jobs, retrying rejects, finding the source of a row, and knowing which sources are imported already need the bookkeeping, and are
/// no longer possible. A later import treats the tables as existing ones.
public struct StripTool: Sendable {
    /// The result of stripping a store.
    public struct Outcome: Sendable, Hashable, Codable {
        /// The number of removed tables.
        public let tables: Int
        /// The number of removed rejects that were open.
        public let rejects: Int64
        /// The size of the store's file before, in bytes; nil for a server's schema.
        public let bytesBefore: Int64?
        /// The size of the stripped file, in bytes; nil for a server's schema.
        public let bytesAfter: Int64?
        /// False if `VACUUM` was left out, as it might have changed row ids
        /// (<https://www.sqlite.org/lang_vacuum.html>).
        public let isCompact: Bool

        enum CodingKeys: String, CodingKey {
            case tables, rejects
            case bytesBefore = "bytes_before"
            case bytesAfter = "bytes_after"
            case isCompact = "compact"
        }

        package init(
            tables: Int,
            rejects: Int64,
            bytesBefore: Int64? = nil,
            bytesAfter: Int64? = nil,
            isCompact: Bool = true
        ) {
            self.tables = tables
            self.rejects = rejects
            self.bytesBefore = bytesBefore
            self.bytesAfter = bytesAfter
            self.isCompact = isCompact
        }
    }

    private let store: String
    private let allowsLoss: Bool
    private let interruption: Interruption

    /// Prepares to strip a store; nothing is opened before `run`.
    ///
    /// - Parameters:
    ///   - store: the store's path.
    ///   - allowsLoss: true if open rejects may be removed.
    ///   - interruption: interrupts the copying.
    public init(store: any FileLocation, allowsLoss: Bool = false, interruption: Interruption = Interruption()) {
        self.store = store.filePath
        self.allowsLoss = allowsLoss
        self.interruption = interruption
    }

    /// Strips the store, or a copy of it; blocks the calling thread.
    ///
    /// The bookkeeping is removed in one transaction: if the process is killed, the store is as before, or stripped.
    ///
    /// - Parameter copy: the path of a stripped copy, where no file may exist; the store stays as it is. Nil to strip the store itself.
    /// - Throws: `ImportError`: `.noInput` when there is no store, or it has no bookkeeping; `.usage` when a job is unfinished, conflicts
    ///   are open, or rejects are open that may not be removed; `.inUse` when another import uses the store; `.cannotCreate` when a file
    ///   exists at the path of the copy.
    public func run(to copy: String? = nil) throws -> Outcome {
        let destination = SQLiteDestination(store, durability: .full, interruption)
        try destination.checkIsThere()
        try destination.lock()
        defer { destination.unlock() }
        let rejects = try check()
        let before = try Self.size(of: store)
        let part = copy.map { $0 + ".part" }
        for path in [copy, part].compactMap(\.self) where DeviceAndInode(path) != nil {
            throw ImportError(.fileExists, at: path, "exists already", advice: "Remove it, or give another path.")
        }
        defer { if let part { unlink(part) } }
        if let part { try StoreCopy.make(of: store, at: part, interruption) }
        let (tables, isCompact) = try strip(part ?? store)
        let after = try Self.size(of: part ?? store)
        if let copy, let part, rename(part, copy) != 0 {
            let reason = String(cString: strerror(errno))
            throw ImportError(.cannotCreate, at: copy, "\(reason)", advice: "Give another path.")
        }
        return Outcome(tables: tables, rejects: rejects, bytesBefore: before, bytesAfter: after, isCompact: isCompact)
    }

    /// Makes sure that nothing goes that is still needed.
    ///
    /// - Returns: how many rejects are open.
    private func check() throws -> Int64 {
        let conflicts = try StoreConflicts(of: store).count()
        let inspection = StoreInspection(store: store)
        return try inspection.read { database in
            guard try StoredJob.isAnyThere(database) else { throw inspection.noImport }
            let rejects = try database.count("_import_reject", where: "state = 'open'")
            try Self.check(StoredJob.unfinished(database).first?.id, rejects, at: store, allowsLoss: allowsLoss)
            guard conflicts == 0 else {
                throw ImportError(
                    .jobUnfinished,
                    at: store,
                    "\(conflicts.grouped) of its conflicts \(conflicts == 1 ? "is" : "are") open",
                    advice: "Resolve them first."
                )
            }
            return rejects
        }
    }

    /// Makes sure that no job is unfinished, and that rejects may go.
    ///
    /// - Parameter open: a job that is not finished; nil where there is none.
    package static func check(_ open: Int64?, _ rejects: Int64, at store: String, allowsLoss: Bool) throws {
        if let open {
            throw ImportError(
                .jobUnfinished,
                at: store,
                "job \(open) is not finished",
                advice: "Finish it with \(call: .resuming(store: store)) first."
            )
        }
        guard rejects > 0, !allowsLoss else { return }
        throw ImportError(
            .lossNotAllowed,
            at: store,
            "\(rejects) \(rejects == 1 ? "reject" : "rejects") would go",
            advice: "Export \(rejects == 1 ? "it" : "them") with \(call: .exportingRejects()) first, or allow "
                + "it with \(.allowsLoss)."
        )
    }

    /// - Returns: how many tables were dropped, and whether the file was made smaller.
    private func strip(_ path: String) throws -> (tables: Int, isCompact: Bool) {
        do {
            guard let file = StoreFile(path) else {
                throw ImportError(.storeReplaced, at: path, "is gone", advice: "Check the path.")
            }
            let writer = try StoreConnection.writer(path, durability: .full, of: file, interruption: interruption)
            try RecordedFile.removeLeft(writer, store: path)
            let tables = try writer.write { database in
                let tables = try BookkeepingTable.texts(database, store: path).keys.sorted()
                for table in tables { try database.execute(sql: "DROP TABLE main.\(table.quotedIdentifier)") }
                return tables.count
            }
            let isCompact = try writer.inDatabase { database in
                guard try Self.keepsRowIDs(database) else { return false }
                // It attaches the file that it fills.
                try UntrustedStoreGuard.attachingOne(database) { try database.execute(sql: "VACUUM") }
                return true
            }
            try StoreConnection.closeLast(writer, of: file, leavesWAL: true)
            return (tables, isCompact)
        } catch let error as DatabaseError {
            throw ImportError(store: path, error)
        }
    }

    /// True if `VACUUM` leaves all rows their row ids: those of an `INTEGER PRIMARY KEY`, or 1, 2, 3 and so on.
    private static func keepsRowIDs(_ database: Database) throws -> Bool {
        let tables = try String.fetchAll(
            database,
            sql: """
                SELECT list.name FROM pragma_table_list AS list
                WHERE schema = 'main' AND type = 'table' AND NOT wr AND NOT EXISTS (
                    SELECT 1 FROM pragma_table_info(list.name) WHERE pk > 0 GROUP BY 1
                    HAVING count(*) = 1 AND max(type) = 'INTEGER' COLLATE NOCASE
                ) AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                """
        )
        return try tables.allSatisfy { table in
            let name = table.quotedIdentifier
            let sql = "SELECT coalesce(min(rowid), 1) = 1 AND coalesce(max(rowid), 0) = count(*) FROM main.\(name)"
            return try Bool.fetchOne(database, sql: sql) ?? false
        }
    }

    private static func size(of path: String) throws -> Int64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.size] as? NSNumber)?.int64Value ?? 0
    }
}
