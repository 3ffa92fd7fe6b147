import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSources

/// The last stage of a job that mirrors its sources, or replaces earlier versions of them: deletes the objects in scope that no
/// record of it had, or those that the earlier versions have inserted.
///
/// All of it is one transaction: all objects go, or none.
package final class MirrorDeletion {
    /// Calls its last argument with the row ids of an entity's objects that meet a predicate; without one it only makes sure
    /// that the predicate makes sense.
    package typealias RowSelection =
        @Sendable (_ predicate: String, _ entity: String, Database, _ body: ((Int64) throws -> Void)?) throws -> Void

    /// An entity whose records are in the sources.
    package struct Root {
        package let name: String
        package let table: String
        /// Its index among those of the store's layout; nil where it relates to no other.
        package let index: Int?
        package let subentities: StoredGraph.Subentities?
        package let identifier: [(name: String, column: String)]
        /// It and the entities that inherit from it.
        package let names: [String]
        /// How many objects are in scope, and how many of these no record had.
        package var scope: Int64 = 0
        package var gone: Int64 = 0
        /// True if some of these may not be there any more, and are counted nevertheless.
        var mayCountMore = false
    }

    package static let gone = "temp.import_gone"
    /// How many KiB of the store are kept in memory: the workers are done, and have given back theirs.
    ///
    /// A changed page that is written before the commit and changed once more makes SQLite read and sum up all that was written
    /// since (`walRewriteChecksums`).
    package static let cacheSize = 40_000

    package let job: StoredJob
    package let model: ModelDescription
    package let database: Database
    package let statements: LinkStatementCache
    package let graph: StoredGraph
    private let options: MirrorOptions
    private let rows: RowSelection?
    package let check: () throws -> Void
    package private(set) var roots: [Root]
    /// The tables all of whose rows are the job's, so that none of these is to go; in lower case.
    private let whole: Set<BytewiseString>

    /// - Parameters:
    ///   - options: those of the job, or others where it is told to continue.
    ///   - check: called now and then; may throw.
    package init(
        _ job: StoredJob,
        _ model: ModelDescription,
        _ options: MirrorOptions,
        _ database: Database,
        selecting rows: RowSelection?,
        check: @escaping () throws -> Void = {}
    ) throws {
        self.job = job
        self.model = model
        self.options = options
        self.database = database
        self.rows = rows
        self.check = check
        statements = try LinkStatementCache(database)
        graph = try StoredGraph(database)
        whole = try UndoLog.whole(of: job.id, database)
        roots = []
        var known: Set<BytewiseString> = []
        for name in job.sources.flatMap(\.entities) where known.insert(BytewiseString(name)).inserted {
            if let root = try root(name) { roots.append(root) }
        }
    }

    private func root(_ name: String) throws -> Root? {
        guard let position = model.entities.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else { return nil }
        let own = model.entities[position]
        let stored =
            graph.entities.first { $0.description.name.hasSameBytes(as: name) }
            ?? graph.entities.first {
                ExistingEntity.folded($0.description.table) == ExistingEntity.folded(own.table)
            }
        let layout = model.isFlat ? nil : try ModelLayout(importing: model)
        let identifier = layout?.hierarchy.identifier(of: position) ?? own.identifier
        guard !identifier.isEmpty || job.options.mirror == nil else {
            throw ImportError(
                .optionsConflict,
                "\(name.printable) has no identifier, and \(.mirror) needs one: by it objects of the store and of the sources are "
                    + "the same",
                advice: "Name it (\(.identifier)), or in the model. Nothing was written."
            )
        }
        let attributes = layout?.hierarchy.attributes(of: position) ?? own.attributes
        let hierarchy = graph.layout?.hierarchy
        return Root(
            name: name,
            table: layout?.table(of: position) ?? own.table,
            index: stored?.index,
            subentities: stored?.subentities,
            identifier: identifier.map { name in
                (name, attributes.first { $0.name.hasSameBytes(as: name) }?.column ?? name)
            },
            names: stored?.index.flatMap { index in
                hierarchy.map { hierarchy in hierarchy.subentities(of: index).map { hierarchy.entities[$0].name } }
            } ?? [name]
        )
    }

    /// Makes sure that the job can be a mirror, before it imports anything.
    ///
    /// - Throws: `ImportError` with `.usage`; also at `init` where an entity has no identifier.
    func checkScope() throws {
        guard case .matching(let predicate) = options.scope else { return }
        for root in roots { try rows?(predicate, root.name, database, nil) }
    }

    // MARK: What is to go

    /// Finds the objects that are to go, after all records of the job are in the store.
    ///
    /// - Returns: why they may not; nil where they may.
    package func find(_ transformers: TransformerRegistry) throws -> ImportReport.WithheldReason? {
        let unread = try RejectedIdentifiers(job, model, transformers, database).protect(check: check)
        try prepareGone()
        try RowIDBitmap.prepareScope(database)
        var filled: Set<BytewiseString> = []
        for index in roots.indices where !whole.contains(ExistingEntity.folded(roots[index].table)) {
            if options.scope == .imported, filled.insert(ExistingEntity.folded(roots[index].table)).inserted {
                let pages = RowIDBitmap(database, in: RowIDBitmap.scope, job: 0, of: roots[index].table)
                try InsertedRowRanges.add(of: roots[index].table, to: pages, database, check: check)
            }
            try find(index)
        }
        // Where all of them may go, even so many, deleting them tells which are there.
        if try deletesNothingElse(), try reason(unread: unread) == nil { return nil }
        for index in roots.indices where roots[index].mayCountMore { try count(index) }
        return try reason(unread: unread)
    }

    /// Makes the table of the rows that are to go.
    func prepareGone() throws {
        try database.execute(
            sql: """
                DROP TABLE IF EXISTS \(Self.gone);
                CREATE TEMPORARY TABLE import_gone (
                    root INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (root, row)
                ) WITHOUT ROWID
                """
        )
    }

    /// Why what was found may not go; nil where it may.
    private func reason(unread: Int64) throws -> ImportReport.WithheldReason? {
        guard roots.contains(where: { $0.gone > 0 }) else { return nil }
        if !options.allowsEmpty {
            for root in roots where root.gone > 0 && root.scope > 0 {
                if try recordsRead(of: root) == 0 { return .empty }
            }
        }
        if unread > 0, !options.despiteRejects { return .rejects }
        return roots.contains { !DeletionLimit.allows($0.gone, of: $0.scope, options.maxDelete) } ? .limit : nil
    }

    /// How many of a root's objects may go, cascades counted.
    package func allows(_ deleted: Int64, of root: Root) -> Bool {
        DeletionLimit.allows(deleted, of: root.scope, options.maxDelete)
    }

    private func recordsRead(of root: Root) throws -> Int64 {
        try root.names.reduce(Int64(0)) { sum, name in
            let read = try Int64.fetchOne(
                database,
                sql: "SELECT sum(records_read) FROM _import_entity WHERE job = ? AND entity = ?",
                arguments: [job.id, name]
            )
            return sum.addingClamped(read ?? 0)
        }
    }

    private func find(_ place: Int) throws {
        var root = roots[place]
        let retained = RowIDBitmap(database, in: RowIDBitmap.retained, job: job.id, of: root.table)
        let imported = RowIDBitmap(database, in: RowIDBitmap.scope, job: 0, of: root.table)
        let insert = try database.makeStatement(sql: "INSERT OR IGNORE INTO \(Self.gone) (root, row) VALUES (?, ?)")
        if options.scope == .imported, try retainsRowIDs(root) {
            // What was retained is there.
            try imported.forEachPage(without: retained) { shared, rest in
                try check()
                root.scope += Int64(shared + rest.count)
                root.gone += Int64(rest.count)
                for rowID in rest { try insert.execute(arguments: [place, rowID]) }
            }
            root.mayCountMore = root.gone > 0
            roots[place] = root
            return
        }
        let stubs = try stubs(of: root)
        var count: Int64 = 0
        func take(_ rowID: Int64) throws {
            count += 1
            if count & 0xFFF == 0 { try check() }
            if options.scope == .imported, try !imported.contains(rowID) { return }
            // What is there for references alone is not an object yet.
            if stubs.contains(rowID) { return }
            root.scope += 1
            guard try !retained.contains(rowID) else { return }
            root.gone += 1
            try insert.execute(arguments: [place, rowID])
        }
        if case .matching(let predicate) = options.scope {
            guard let rows else { throw ImportError(.fault, "nothing finds rows by a predicate") }
            try rows(predicate, root.name, database, take)
        } else {
            var condition = ""
            var parameters: [LinkStatementCache.Parameter] = []
            if let subentities = root.subentities {
                let places = subentities.names.map { _ in "?" }.joined(separator: ", ")
                condition = " WHERE \(subentities.column.quotedIdentifier) IN (\(places))"
                parameters = subentities.names.map { .text($0) }
            }
            let sql = "SELECT rowid FROM main.\(root.table.quotedIdentifier)\(condition) ORDER BY rowid"
            try statements.run(sql, parameters) { try take(sqlite3_column_int64($0, 0)) }
        }
        roots[place] = root
    }

    /// Looks up the rows that are to go, and counts only those that are there.
    private func count(_ place: Int) throws {
        // No table of the store has the name of the outer one: its own columns would come first.
        let table = "main.\(roots[place].table.quotedIdentifier)"
        let absent = "NOT EXISTS (SELECT 1 FROM \(table) WHERE rowid = _import_gone.row)"
        let count = try statements.run(
            "DELETE FROM \(Self.gone) AS _import_gone WHERE root = ? AND \(absent)",
            [.number(Int64(place))]
        )
        roots[place].scope -= Int64(count)
        roots[place].gone -= Int64(count)
        roots[place].mayCountMore = false
    }

    /// True if nothing in a job deletes rows of a root's table before this stage: the root relates to no other, and the table has no
    /// triggers.
    private func retainsRowIDs(_ root: Root) throws -> Bool {
        try root.index == nil && !database.hasTriggers()
    }

    /// True if nothing is deleted but what is to go.
    func deletesNothingElse() throws -> Bool {
        try roots.allSatisfy { $0.index == nil } && !database.hasTriggers()
    }

    /// The row ids of rows that are there for references alone; they are few.
    private func stubs(of root: Root) throws -> Set<Int64> {
        let condition = root.identifier.map { "\($0.column.quotedIdentifier) = ?" }.joined(separator: " AND ")
        let select = "SELECT rowid FROM main.\(root.table.quotedIdentifier) WHERE \(condition)"
        var rowIDs: Set<Int64> = []
        try statements.run("SELECT key FROM _import_stub WHERE table_name = ?", [.text(root.table)]) {
            rowIDs.formUnion(try statements.integers(select, [.key(RowKey(bytes: $0.bytes(of: 0)))]))
        }
        return rowIDs
    }

    /// Notes all rows of the tables that are the job's own as retained, where they are asked for once more after the job.
    func noteWhole() throws {
        for root in roots where whole.contains(ExistingEntity.folded(root.table)) {
            let pages = RowIDBitmap(database, in: RowIDBitmap.retained, job: job.id, of: root.table)
            var rowIDs: [Int64] = []
            try statements.run("SELECT rowid FROM main.\(root.table.quotedIdentifier) ORDER BY rowid") {
                rowIDs.append(sqlite3_column_int64($0, 0))
                guard rowIDs.count == 10_000 else { return }
                try pages.add(rowIDs)
                rowIDs.removeAll(keepingCapacity: true)
            }
            try pages.add(rowIDs)
        }
    }

    /// How many objects no record had.
    var goneCount: Int64 { roots.reduce(0) { $0.addingClamped($1.gone) } }

    /// The first of them.
    package func listed() throws -> [MirroredObject] {
        var objects: [MirroredObject] = []
        for (place, root) in roots.enumerated() where objects.count < MirroredObject.mostListed {
            let columns = root.identifier.map { "own.\($0.column.quotedIdentifier)" }.joined(separator: ", ")
            try statements.run(
                """
                SELECT \(columns) FROM \(Self.gone) AS gone
                JOIN main.\(root.table.quotedIdentifier) AS own ON own.rowid = gone.row
                WHERE gone.root = ? ORDER BY gone.row LIMIT ?
                """,
                [.number(Int64(place)), .number(Int64(MirroredObject.mostListed - objects.count))]
            ) { row in
                let values = RowKey(row, columns: 0..<Int32(root.identifier.count)).values ?? []
                let named = zip(root.identifier, values).map { NamedValue($0.name, $1) }
                objects.append(MirroredObject(entity: root.name, identifier: ObjectReference(named)))
            }
        }
        return objects
    }
}
