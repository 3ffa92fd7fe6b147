import GRDB
import ImportModel
import Synchronization

/// Reads records back from a store: the context that everything that fetches is handed (after `NSManagedObjectContext`).
///
/// It has a connection of its own that only reads, never waits for an import, and sees whole commits only. It reads in
/// short transactions, so nothing keeps the store's WAL from being checkpointed.
public final class StoreReader: Sendable {
    private let opened: OpenedStore
    private let known = Mutex<Known?>(nil)

    /// The entities, and what they were read from.
    private struct Known {
        let schemaVersion: Int64
        let lastJob: String?
        let entities: [EntityDescription]
    }

    /// Opens a store.
    ///
    /// - Throws: `ImportError` with `.noInput` when there is none, or nothing was imported into it; another when it cannot
    ///   be read.
    public convenience init(store: String) throws {
        try self.init(store: store, opening: StoreConnection.reader)
    }

    init(store: String, opening open: (String) throws -> DatabaseQueue) throws {
        opened = try OpenedStore(store, opening: open)
        try read { database in
            database.add(collation: DecimalText.collation)
            guard try database.tableExists("_import_model") else {
                throw ImportError(.noInput, "\(store): holds no import", advice: "Check the path.")
            }
        }
    }

    /// The store's path.
    public var store: String { opened.name }

    /// Whether its path still leads to the file that was opened.
    package var isInPlace: Bool { opened.isInPlace }

    // MARK: Entities

    /// The store's entities, with an attribute for each column of their tables, in the columns' order.
    ///
    /// They are what the store's models say, the latest first to count. A column that no model knows, as somebody else's
    /// program may add, becomes an optional attribute of its declared type. An entity whose table is not there yet, as while
    /// its model is inferred, is left out.
    ///
    /// - Throws: `ImportError` when the store cannot be read.
    public var entities: [EntityDescription] {
        get throws { try read { try entities($0) } }
    }

    /// The entity with this name, or with this table.
    ///
    /// - Throws: `ImportError` with `.noInput` when there is none.
    public func entity(named name: String) throws -> EntityDescription {
        try read { try entity(named: name, $0) }
    }

    /// The entities as one transaction sees them.
    func entities(_ database: Database) throws -> [EntityDescription] {
        let schemaVersion = try Int64.fetchOne(database, sql: "PRAGMA schema_version") ?? 0
        let lastJob = try String.fetchOne(
            database,
            sql: "SELECT token || ' ' || model FROM _import_job WHERE model IS NOT NULL ORDER BY id DESC LIMIT 1"
        )
        if let known = known.withLock({ $0 }), known.schemaVersion == schemaVersion, known.lastJob == lastJob {
            return known.entities
        }
        let entities = try StoredEntities.read(database)
        known.withLock { $0 = Known(schemaVersion: schemaVersion, lastJob: lastJob, entities: entities) }
        return entities
    }

    /// The entity with this name as one transaction sees it.
    func entity(named name: String, _ database: Database) throws -> EntityDescription {
        let entities = try entities(database)
        let exact = entities.first { ExactText($0.name) == ExactText(name) }
        let table = ExactText(name.asciiLowercased)
        if let entity = exact ?? entities.first(where: { ExactText($0.table.asciiLowercased) == table }) {
            return entity
        }
        let near = NearName.nearest(to: name, among: entities.map(\.name))
        throw ImportError(
            .noInput,
            "\(store): has no entity \(name)" + (near.map { "; did you mean \($0)?" } ?? ""),
            advice: entities.isEmpty
                ? "Nothing is imported yet."
                : "It has: \(entities.map(\.name).joined(separator: ", ").printable)."
        )
    }

    // MARK: Reading

    /// Calls `body` in a transaction of its own, which sees one state of the store, between two commits.
    ///
    /// - Throws: `ImportError` when the store cannot be read, or its file was replaced or deleted; what `body` throws.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try opened.read(body)
    }
}
