import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources
import Synchronization

/// Reads records from a store.
///
/// Everything that fetches is passed a reader (after `NSManagedObjectContext`).
///
/// A reader has a read-only connection of its own, which never waits for an import and sees whole commits only. It reads in short
/// transactions, so it never keeps the store's WAL from being checkpointed.
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
    /// In a database that no import has written, each table is an entity whose attributes have the declared types of its columns.
    ///
    /// - Throws: `ImportError` with `.noInput` when there is no store, or it has no tables; another when it cannot be read.
    public convenience init(store: any FileLocation) throws {
        try self.init(store: store.filePath, opening: { try StoreConnection.reader($0) })
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

    /// Opens a store that an import, in this process or another, may create later.
    ///
    /// Until an import has created the store, it has no entities. An entity that the store does not have yet has no records,
    /// whatever the predicate and the order.
    ///
    /// - Throws: `ImportError` when there is a file that cannot be read as a store.
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

    /// True if its path still leads to the file that was opened, if one was.
    package var isInPlace: Bool { opened.withLock { $0?.isInPlace ?? true } }

    // MARK: Entities

    /// The store's entities, with an attribute for each column of their tables, in the columns' order.
    ///
    /// They are described by the store's models, of which the latest has precedence. A column that no model describes, for example one
    /// that another program has added, becomes an optional attribute of its declared type, and so does a column that refers to another
    /// row. An entity whose table does not exist yet, for example while its model is inferred, is left out. Of entities that share a
    /// table, each has the attributes that its rows may have.
    ///
    /// - Throws: `ImportError` when the store cannot be read.
    public var entities: [EntityDescription] {
        get throws { try read { try graph($0).entities.map(\.description) } }
    }

    /// The entity with the given name, or with the given table.
    ///
    /// - Throws: `ImportError` with `.noInput` when there is none.
    public func entity(named name: String) throws -> EntityDescription {
        try read { try entity(named: name, $0).description }
    }

    /// The entity with the given name or table; nil if the reader awaits its store, and the store does not have the entity yet.
    ///
    /// - Throws: `ImportError` with `.noInput` when there is none, and the store is not awaited.
    func awaitedEntity(named name: String) throws -> FetchedEntity? {
        try read { database in
            do {
                return try entity(named: name, database)
            } catch let error as ImportError where nothing != nil && error.code == .noInput {
                return nil
            }
        }
    }

    /// The entities and their relationships, read in one transaction.
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

    /// The entity with the given name, read in one transaction.
    func entity(named name: String, _ database: Database) throws -> FetchedEntity {
        let graph = try graph(database)
        let place = try graph.entities.map(\.description).place(ofEntityOrTable: name, in: store)
        return FetchedEntity(graph.entities[place], in: graph)
    }

    // MARK: Reading

    /// Calls `body` with the database in a transaction of its own, which sees one state of the store, between two commits
    /// (after GRDB's `DatabaseReader.read(_:)`).
    ///
    /// `body` can read with all of GRDB's methods. It cannot write, and must not call other reading methods of this reader. While it
    /// runs, the store's WAL grows with each commit of an import. If the reader still awaits its store, the database is empty.
    ///
    /// - Throws: `ImportError` when the store cannot be read, or its file was replaced or deleted; what `body` throws.
    public func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try read(Interruption(), body)
    }

    /// Reads as `read(_:)` does; an interruption ends it at once.
    func read<Result>(_ interruption: Interruption, _ body: (Database) throws -> Result) throws -> Result {
        if let opened = try openedStore() { return try opened.read(interruption, body) }
        guard let nothing else { throw ImportError(.storeNotFound, at: store, "is not open") }
        return try nothing.read(body)
    }

    /// Looks into what the store keeps of its imports, by this reader's connection.
    ///
    /// - Returns: nil while there is no store with an import.
    /// - Throws: `ImportError` when there is a file that cannot be read as a store.
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
