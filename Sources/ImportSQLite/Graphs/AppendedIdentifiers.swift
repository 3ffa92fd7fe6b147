import CXXHash
import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

/// The identifiers of entities that relate to one another, while records are appended and no index has them: those of new objects
/// are told by a filter, and the index is built at the end.
///
/// Keeping an index up while random identifiers come in takes many times as long. It is built earlier where an object comes
/// again, as it has to be found then. Belongs to one connection; used inside of its transactions only.
final class AppendedIdentifiers {
    private static let seed = UInt64.random(in: .min ... .max)

    private let database: Database
    private let connection: OpaquePointer
    private let plan: GraphPlan
    private let job: Int64
    /// Of each entity that may be deferred, the identifiers of all rows, and the row with one of them.
    private var scans: [OpaquePointer?] = []
    private var searches: [OpaquePointer?] = []
    private var bytes = RowDigestInput()

    init(_ database: Database, _ plan: GraphPlan, job: Int64) throws {
        let connection = try database.handle
        self.database = database
        self.connection = connection
        self.plan = plan
        self.job = job
        for node in plan.nodes {
            guard try Self.canWait(node, plan, database) else {
                scans.append(nil)
                searches.append(nil)
                continue
            }
            let (table, columns) = (node.plan.entity.table.quotedIdentifier, Self.columns(node))
            let names = columns.map(\.quotedIdentifier)
            scans.append(try connection.prepare("SELECT \(names.joined(separator: ", ")) FROM \(table)"))
            let conditions = names.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: " AND ")
            searches.append(try connection.prepare("SELECT 1 FROM \(table) WHERE \(conditions)"))
        }
    }

    deinit {
        for statement in scans + searches { sqlite3_finalize(statement) }
        bytes.deallocate()
    }

    private static func columns(_ node: GraphPlan.Node) -> [String] {
        node.plan.identifier.map { node.plan.entity.attributes[$0].column }
    }

    /// True if the index of an entity's identifier can wait: its values are the same only if their bytes are, and its table keeps
    /// them as they are.
    private static func canWait(_ node: GraphPlan.Node, _ plan: GraphPlan, _ database: Database) throws -> Bool {
        let entity = node.plan.entity
        guard !entity.identifier.isEmpty, StoreSchema.rowIDAttribute(of: entity) == nil,
            !plan.layout.isShared(Int(node.plan.index)), plan.layout.hasTable(Int(node.plan.index))
        else { return false }
        let types = node.plan.identifier.map { entity.attributes[$0].type }
        guard types.allSatisfy({ $0 != .double && $0 != .float }) else { return false }
        return try DeferredUniqueIndex.isPossible(entity, database)
    }

    /// Makes the indexes of identifiers that cannot wait.
    static func begin(_ plan: GraphPlan, job: Int64, _ database: Database) throws {
        for node in plan.nodes where try !canWait(node, plan, database) {
            try StoreSchema.prepareIdentifier(of: Int(node.plan.index), plan.layout, job: job, database)
        }
    }

    /// Finds out which entities have no index, and gives their filters room.
    func prepare(_ identifiers: inout [BloomFilter?]) throws {
        if identifiers.isEmpty {
            identifiers = try plan.nodes.enumerated().map { entity, node in
                guard scans[entity] != nil,
                    try !StoredTable(node.plan.entity.table, database).hasKey(Self.columns(node))
                else { return nil }
                return try filter(of: entity, reserving: 0)
            }
        }
        for entity in identifiers.indices {
            guard let count = identifiers[entity]?.neededCount, let searchesLeft = identifiers[entity]?.searchesLeft
            else { continue }
            // The old one goes before the new one comes.
            identifiers[entity] = nil
            identifiers[entity] = try filter(of: entity, reserving: count)
            identifiers[entity]?.searchesLeft = searchesLeft
        }
    }

    private func filter(of entity: Int, reserving count: Int) throws -> BloomFilter {
        let (scan, width) = (scans[entity], plan.nodes[entity].plan.identifier.count)
        var filter = BloomFilter(reserving: count)
        defer { sqlite3_reset(scan) }
        var code = sqlite3_step(scan)
        while code == SQLITE_ROW {
            filter.insert(digest(of: scan, width))
            code = sqlite3_step(scan)
        }
        guard code == SQLITE_DONE else { throw connection.lastError }
        return filter
    }

    private func digest(of statement: OpaquePointer?, _ width: Int) -> BloomFilter.Digest {
        let columns = 0..<Int32(width)
        bytes.begin(reserving: columns.reduce(0) { $0 + 16 + Int(sqlite3_column_bytes(statement, $1)) })
        for column in columns {
            let type = sqlite3_column_type(statement, column)
            if type == SQLITE_INTEGER {
                bytes.append(UInt64(Cell.Tag.integer.rawValue))
                bytes.append(UInt64(bitPattern: sqlite3_column_int64(statement, column)))
            } else {
                let count = Int(sqlite3_column_bytes(statement, column))
                let text = UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count)
                bytes.append(type == SQLITE_BLOB ? .batchBlob : .batchText, text)
            }
        }
        return finish()
    }

    private func finish() -> BloomFilter.Digest {
        let hash = XXH3_128bits_withSeed(bytes.bytes, bytes.count, Self.seed)
        return (hash.high64, hash.low64)
    }

    /// True if an object of an entity that has no index is new.
    ///
    /// It is known then. Otherwise there is an index from now on.
    ///
    /// - Parameters:
    ///   - cells: those of its identifier.
    ///   - isComplete: whether it becomes a row if it is new.
    func isNew(
        _ entity: Int,
        _ cells: UnsafeBufferPointer<Cell>,
        _ values: RowValues,
        isComplete: Bool,
        _ identifiers: inout [BloomFilter?]
    ) throws -> Bool {
        if !cells.contains(where: { $0.tag == .null || $0.tag == .real }) {
            bytes.begin(reserving: RowDigestInput.size(of: cells))
            for cell in cells { bytes.append(key: cell, values) }
            let digest = finish()
            let mayBeThere = identifiers[entity]?.mayHave(digest) ?? true
            if try !mayBeThere || !isThere(entity, cells, values, &identifiers) {
                if isComplete { identifiers[entity]?.insert(digest) }
                return true
            }
        }
        identifiers[entity] = nil
        try StoreSchema.prepareIdentifier(of: entity, plan.layout, job: job, database)
        return false
    }

    /// Makes the indexes again that a record has made that was taken back.
    ///
    /// - Parameter before: by entity, whether it had no index before.
    func restore(_ before: [Bool], _ identifiers: [BloomFilter?]) throws {
        for entity in identifiers.indices where before[entity] && identifiers[entity] == nil {
            try StoreSchema.prepareIdentifier(of: entity, plan.layout, job: job, database)
        }
    }

    /// Looks for an identifier among all rows, which is done a few times only.
    private func isThere(
        _ entity: Int,
        _ cells: UnsafeBufferPointer<Cell>,
        _ values: RowValues,
        _ identifiers: inout [BloomFilter?]
    ) throws -> Bool {
        guard let left = identifiers[entity]?.searchesLeft, left > 0 else { return true }
        identifiers[entity]?.searchesLeft = left - 1
        let search = searches[entity]
        defer { sqlite3_reset(search) }
        for (place, cell) in cells.enumerated() {
            guard values.bind(cell, to: search, at: Int32(place + 1)) == SQLITE_OK else { throw connection.lastError }
        }
        let code = sqlite3_step(search)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw connection.lastError }
        return code == SQLITE_ROW
    }
}
