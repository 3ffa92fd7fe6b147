import Foundation
import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSources

/// Makes one object of the rows of a table that have the same identifier, in the order in which they were written.
///
/// The rows are sorted by SQLite, on disk where they are many; nothing here grows with their number.
final class DuplicateMerger {
    private let database: Database
    private let job: Int64
    private let position: Int
    private let plan: EntityPlan
    private let table: String
    private let columns: [String]
    private let comparison: Statement
    private let removal: Statement
    /// Updates by the attributes that they set.
    private var updates: [[Int]: Statement] = [:]
    private var presence: PresenceMasks.Block?

    init(_ database: Database, job: Int64, position: Int, plan: EntityPlan) throws {
        self.database = database
        self.job = job
        self.position = position
        self.plan = plan
        table = plan.entity.table.quotedIdentifier
        columns = plan.entity.attributes.map { $0.column.quotedIdentifier }
        let differences = columns.map { "object.\($0) IS NOT other.\($0)" }.joined(separator: ", ")
        comparison = try database.makeStatement(
            sql: """
                SELECT \(differences) FROM \(table) AS object, \(table) AS other
                WHERE object.rowid = ? AND other.rowid = ?
                """
        )
        removal = try database.makeStatement(sql: "DELETE FROM \(table) WHERE rowid = ?")
    }

    /// Merges all rows.
    ///
    /// - Parameters:
    ///   - changes: gets the objects that are changed, the rows that are gone, and what their records came to.
    ///   - waiting: records without rows; those that came between two rows of an object are merged in their turn.
    func run(_ changes: inout EntityChanges, _ waiting: IncompleteRecordQueue? = nil) throws {
        try waiting?.prepareMerging()
        let keys = plan.identifier.map { columns[$0] }
        // The plus signs keep SQLite from walking along an index, so that the rows are sorted before the first is seen.
        let order = (keys + ["rowid"]).map { "+\($0)" }.joined(separator: ", ")
        let sorted = try database.makeStatement(
            sql: "SELECT rowid, \(keys.joined(separator: ", ")) FROM \(table) ORDER BY \(order)"
        )
        let cursor = try DuplicateCursor(
            sorted,
            declaredTypes: plan.identifier.map { plan.entity.attributes[$0].declaredType }
        )
        var (first, last): (Int64, Int64) = (0, 0)
        while let (rowID, isSame) = try cursor.next() {
            if isSame {
                try waiting?.merge(into: first, between: last..<rowID, &changes)
                try merge(rowID, into: first, &changes)
            } else {
                first = rowID
            }
            last = rowID
        }
    }

    private func merge(_ rowID: Int64, into object: Int64, _ changes: inout EntityChanges) throws {
        if plan.onConflict == .ignore {
            changes.ignored += 1
        } else {
            let changed = try changedAttributes(of: object, by: rowID)
            if changed.isEmpty {
                changes.unchanged += 1
            } else {
                try update(setting: changed).execute(arguments: [rowID, object])
                changes.update(object)
            }
        }
        try removal.execute(arguments: [rowID])
        changes.delete(rowID)
    }

    /// The attributes that a row sets and in which it differs from the object.
    private func changedAttributes(of object: Int64, by rowID: Int64) throws -> [Int] {
        guard let differences = try Row.fetchOne(comparison, arguments: [object, rowID]) else {
            throw ImportError(strayRow: rowID, in: plan.entity.table)
        }
        let mask = plan.needsPresence ? try mask(of: rowID) : nil
        return columns.indices.filter { attribute in
            guard !plan.isLocal[attribute], differences[attribute] as Bool else { return false }
            guard let mask, plan.onConflict == .merge || plan.attributes[attribute].isGenerated else { return true }
            return mask[attribute >> 6] & (1 << UInt64(attribute & 63)) != 0
        }
    }

    /// Copies values inside of SQLite: text with NUL in it does not survive being read as a string.
    private func update(setting attributes: [Int]) throws -> Statement {
        if let statement = updates[attributes] { return statement }
        // Rows that each change other attributes must not pile statements up.
        if updates.count >= 64 { updates.removeAll() }
        let list = attributes.map { columns[$0] }.joined(separator: ", ")
        let statement = try database.makeStatement(
            sql: "UPDATE \(table) SET (\(list)) = (SELECT \(list) FROM \(table) WHERE rowid = ?) WHERE rowid = ?"
        )
        updates[attributes] = statement
        return statement
    }

    /// Which attributes the record of a row mentions.
    private func mask(of rowID: Int64) throws -> [UInt64] {
        if let mask = presence?.mask(of: rowID, plan: plan) { return mask }
        let statement = try database.cachedStatement(
            sql: """
                SELECT first_rowid, runs FROM _import_presence WHERE job = ? AND entity = ? AND first_rowid <= ?
                ORDER BY first_rowid DESC LIMIT 1
                """
        )
        presence = try Row.fetchOne(statement, arguments: [job, position, rowID]).map {
            let row = BookkeepingRow($0, of: "_import_presence", database)
            return PresenceMasks.Block(firstRowID: try row.rowID("first_rowid"), bytes: try row.bytes("runs"))
        }
        guard let mask = presence?.mask(of: rowID, plan: plan) else {
            throw ImportError(strayRow: rowID, in: plan.entity.table)
        }
        return mask
    }
}

extension ImportError {
    /// A row that the import knows nothing of.
    package init(strayRow rowID: Int64, in table: String) {
        self.init(
            .rowChanged,
            "\(table): its row \(rowID) is not as the import wrote it",
            advice: "Do not change the table during an import; restart the import with \(.restart)."
        )
    }
}

/// Walks over rows that are sorted by identifier, and says which have the same one as the row before.
private final class DuplicateCursor {
    private let cursor: RowCursor
    private let declaredTypes: [String]
    private var last: [UInt8] = []
    private var current: [UInt8] = []

    init(_ statement: Statement, declaredTypes: [String]) throws {
        self.declaredTypes = declaredTypes
        cursor = try Row.fetchCursor(statement)
    }

    func next() throws -> (rowID: Int64, isSame: Bool)? {
        guard let row = try cursor.next() else { return nil }
        swap(&last, &current)
        current.removeAll(keepingCapacity: true)
        for (index, type) in declaredTypes.enumerated() {
            switch type {
            case "INTEGER": append((row[index + 1] as Int64?).map { UInt64(bitPattern: $0) })
            // Both zeros are the same number.
            case "REAL": append((row[index + 1] as Double?).map { ($0 + 0).bitPattern })
            default:
                try row.withUnsafeData(atIndex: index + 1) { bytes in
                    append(bytes.map { UInt64($0.count) })
                    if let bytes { current += bytes }
                }
            }
        }
        return (row[0], last == current)
    }

    private func append(_ word: UInt64?) {
        current.append(word == nil ? 0 : 1)
        withUnsafeBytes(of: (word ?? 0).littleEndian) { current.append(contentsOf: $0) }
    }
}
