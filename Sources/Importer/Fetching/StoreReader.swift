import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources
import Synchronization

/// Reads records back from a store: the context that everything that fetches is handed (after `NSManagedObjectContext`).
///
/// It has a connection of its own that only reads, never waits for an import, and sees whole commits only. It reads in
/// short transactions, so nothing keeps the store's WAL from being checkpointed.
public final class StoreReader: Sendable {
    /// The store's path.
    public let store: String
    /// Nil while there is no store with an import.
    private let opened: Mutex<ReadOnlyStore?>
    /// What is read instead while there is none; nil where there has been one from the beginning.
    private let nothing: DatabaseQueue?
    private let known = Mutex<Known?>(nil)

    /// The entities, and what they were read from.
    private struct Known {
        let schemaVersion: Int64
        let lastJob: String?
        let graph: StoredGraph
    }

    /// Opens a store.
    ///
    /// The tables of a database that no import has written are entities of the columns' declared types.
    ///
    /// - Throws: `ImportError` with `.noInput` when there is none, or it has no tables; another when it cannot be read.
    public convenience init(store: any FileLocation) throws {
        try self.init(store: store.filePath, opening: StoreConnection.reader)
    }

    init(store: String, opening open: (String) throws -> DatabaseQueue) throws {
        self.store = store
        nothing = nil
        let new = try ReadOnlyStore(store, opening: open)
        guard try Self.prepare(new) || new.read({ try !TrackedTable.names($0).isEmpty }) else {
            throw ImportError(.storeEmpty, at: store, "has no tables", advice: "Check the path.")
        }
        opened = Mutex(new)
    }

    /// Opens a store that may be made only later, by an import in this process or another.
    ///
    /// Until an import has made it, it reads as a store without entities, and an entity that it does not have yet reads as one
    /// without records, whatever predicate and order are asked for. From then on it is read as any other.
    ///
    /// - Throws: `ImportError` when there is something that cannot be read as a store.
    public init(awaiting store: any FileLocation) throws {
        self.store = store.filePath
        nothing = try DatabaseQueue()
        opened = Mutex(try Self.openIfThere(self.store))
    }

    /// The store, once an import has made it.
    private static func openIfThere(_ store: String) throws -> ReadOnlyStore? {
        guard let new = try ReadOnlyStore.ifThere(store), try prepare(new) else { return nil }
        return new
    }

    /// Prepares a connection: false where no import has made the store yet.
    private static func prepare(_ opened: ReadOnlyStore) throws -> Bool {
        try opened.read { database in
            database.add(collation: DecimalText.collation)
            return try database.hasTable("_import_document")
        }
    }

    /// Whether its path still leads to the file that was opened, if one was.
    package var isInPlace: Bool { opened.withLock { $0?.isInPlace ?? true } }

    // MARK: Entities

    /// The store's entities, with an attribute for each column of their tables, in the columns' order.
    ///
    /// They are what the store's models say, the latest first to count. A column that no model knows, as somebody else's
    /// program may add, becomes an optional attribute of its declared type, and so does one that refers to another row. An entity
    /// whose table is not there yet, as while its model is inferred, is left out. Of entities that share a table, each has
    /// the attributes that its rows may have.
    ///
    /// - Throws: `ImportError` when the store cannot be read.
    public var entities: [EntityDescription] {
        get throws { try read { try graph($0).entities.map(\.description) } }
    }

    /// The entity with this name, or with this table.
    ///
    /// - Throws: `ImportError` with `.noInput` when there is none.
    public func entity(named name: String) throws -> EntityDescription {
        try read { try entity(named: name, $0).description }
    }

    /// The entity with this name, or with this table; nil where the reader awaits its store, which does not have it yet.
    ///
    /// - Throws: `ImportError` with `.noInput` when there is none, and none is awaited.
    func awaitedEntity(named name: String) throws -> FetchedEntity? {
        try read { database in
            do {
                return try entity(named: name, database)
            } catch let error as ImportError where nothing != nil && error.code == .noInput {
                return nil
            }
        }
    }

    /// The entities as one transaction sees them, and how they relate to one another.
    func graph(_ database: Database) throws -> StoredGraph {
        guard try nothing == nil || database.hasTable("_import_job") else { return StoredGraph() }
        let schemaVersion = try Int64.fetchOne(database, sql: "PRAGMA schema_version") ?? 0
        let isImported = try database.hasTable("_import_job")
        let sql = "SELECT token || ' ' || model FROM _import_job WHERE model IS NOT NULL ORDER BY id DESC LIMIT 1"
        let lastJob = try isImported ? String.fetchOne(database, sql: sql) : nil
        if let known = known.withLock({ $0 }), known.schemaVersion == schemaVersion, known.lastJob == lastJob {
            return known.graph
        }
        let graph = try isImported ? StoredGraph(database) : StoredGraph(ofTables: database)
        known.withLock { $0 = Known(schemaVersion: schemaVersion, lastJob: lastJob, graph: graph) }
        return graph
    }

    /// The entity with this name as one transaction sees it.
    func entity(named name: String, _ database: Database) throws -> FetchedEntity {
        let graph = try graph(database)
        let place = try graph.entities.map(\.description).place(ofEntityOrTable: name, in: store)
        return FetchedEntity(graph.entities[place], in: graph)
    }

    // MARK: Reading

    /// Calls `body` with the database in a transaction of its own, which sees one state of the store, between two commits
    /// (after GRDB's `DatabaseReader.read(_:)`).
    ///
    /// Everything that GRDB can read can be read there. Nothing can be written, and no other reading method of this reader may
    /// be called. While it lasts, the store's WAL grows with what an import commits. Where the reader still awaits its
    /// store, the database is an empty one.
    ///
    /// - Throws: `ImportError` when the store cannot be read, or its file was replaced or deleted; what `body` throws.
    public func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try read(Interruption(), body)
    }

    /// The same, which an interruption ends at once.
    func read<Result>(_ interruption: Interruption, _ body: (Database) throws -> Result) throws -> Result {
        if let opened = try openedStore() { return try opened.read(interruption, body) }
        guard let nothing else { throw ImportError(.storeNotFound, at: store, "is not open") }
        return try nothing.read(body)
    }

    /// Looks into what the store keeps of its imports, by this reader's connection.
    ///
    /// - Returns: nil while there is no store with an import.
    /// - Throws: `ImportError` when there is something that cannot be read as a store.
    package func inspection(_ interruption: Interruption) throws -> StoreInspection? {
        try openedStore().map { StoreInspection($0, interruption) }
    }

    private func openedStore() throws -> ReadOnlyStore? {
        try opened.withLock { opened in
            if opened == nil { opened = try Self.openIfThere(store) }
            return opened
        }
    }
}
