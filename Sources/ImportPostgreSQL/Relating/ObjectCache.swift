import ImportModel
import Importer

/// The objects that stored rows and the records taken so far have made, by their identifiers: of which entity each is.
///
/// What is asked together is looked up together. Belongs to one transaction.
final class ObjectCache: SubentityLookup, RelationshipSQL {
    /// An object.
    struct Object {
        /// Its entity; nil where what its row says is the name of none.
        let entity: Int?
        /// True if it is there for references alone.
        let isStub: Bool
    }

    /// What an object is known by.
    struct Key: Hashable {
        let home: Int
        fileprivate let bytes: EncodedKey
    }

    private let statements: RelationshipStatements
    private let connection: PGConnection
    /// By table, rows of what is asked, and of what is new.
    private var asked: [Int: ChunkRows] = [:]
    private var made: [Int: ChunkRows] = [:]
    private let isKept: [Bool]
    private var objects: [Key: Object] = [:]
    /// What is asked, in the order in which it is numbered.
    private var waiting: [Key] = []
    private var places: [Key: Int] = [:]
    /// How many were made.
    private var count: Int64 = 0
    var staged: RelationshipStagingTables { statements.staged }
    /// True if what is not known is only noted.
    var isAsking = false
    /// Why something could not be looked up.
    private(set) var failure: (any Error)?

    /// Makes the tables that it needs.
    init(_ statements: RelationshipStatements, _ options: JobOptions, _ connection: PGConnection) throws {
        self.statements = statements
        self.connection = connection
        let tables = statements.tables
        isKept = tables.graph.nodes.indices.map { entity in
            !tables.isKeyless(entity) && tables.layout.hasTable(entity)
                && (tables.takesInOrder || tables.layout.isShared(entity) || tables.graph.nodes[entity].requiresMore)
        }
        for home in tables.homes where isKept[home] {
            let key = tables.key(of: home)
            let declarations = key.enumerated().map { "c\($0) \($1.type.declaration)" }
            let names = key.indices.map { "c\($0)" }
            for (name, numbers) in [(Self.asked(home), ["_ordinal"]), (Self.made(home), ["_ordinal", "_child"])] {
                let columns = numbers.map { "\($0) bigint" } + declarations
                _ = try connection.execute("CREATE TEMPORARY TABLE \(name) (\(list(columns))) ON COMMIT DROP")
                let rows = try RelationshipStagingTables.Table(name: name, numbers: numbers, columns: key).rows(options)
                if numbers.count == 1 { asked[home] = rows } else { made[home] = rows }
            }
            _ = try connection.execute("CREATE INDEX ON \(Self.made(home)) (\(list(names)))")
        }
    }

    private static func asked(_ home: Int) -> String { "_import_asked_\(home)" }
    private static func made(_ home: Int) -> String { "_import_made_\(home)" }

    // MARK: Asking

    /// What an object of an entity is known by; nil where nobody asks for such objects.
    func key(of entity: Int, _ cells: some Collection<Cell>, _ values: RowValues) -> Key? {
        guard isKept[entity], !cells.contains(where: { $0.tag == .null }) else { return nil }
        return Key(home: tables.home(of: entity), bytes: EncodedKey(cells, values))
    }

    func storedEntity(of entity: Int, _ key: [Cell], _ values: RowValues) -> Int? {
        guard let known = self.key(of: entity, key, values) else { return nil }
        if let object = objects[known] { return object.entity }
        ask(known, key, values)
        guard !isAsking else { return nil }
        do {
            try lookUp()
        } catch {
            failure = error
        }
        return objects[known]?.entity
    }

    /// Notes that an object is asked for.
    func ask(_ key: Key, _ cells: [Cell], _ values: RowValues) {
        guard objects[key] == nil, places[key] == nil else { return }
        let number = ChunkRows.numbers(Int64(waiting.count))
        // What the server cannot have is not there.
        guard asked[key.home]?.append(number, cells, CellSource(values)) == nil else { return }
        places[key] = waiting.count
        waiting.append(key)
    }

    /// An object that was asked for.
    subscript(key: Key) -> Object? { objects[key] }

    /// Looks up what was asked for.
    func lookUp() throws {
        if let failure { throw failure }
        if waiting.isEmpty { return }
        let homes = asked.filter { $0.value.count > 0 }.keys.sorted()
        try write(&asked)
        for home in homes {
            let key = tables.key(of: home).indices.map { "a.c\($0)" }
            let stored = same(quoted(tables.key(of: home), of: "t"), key)
            let isThere = statements.filled.contains(home)
            let rows = try connection.execute(
                """
                SELECT a._ordinal, coalesce(m._ordinal, \(isThere ? subentity(ofStored: "t", home) : "NULL")),
                    m._ordinal IS NULL AND \(statements.isStub(home, key))
                FROM \(Self.asked(home)) AS a LEFT JOIN LATERAL (
                    SELECT m._ordinal FROM \(Self.made(home)) AS m
                    WHERE \(same((0..<key.count).map { "m.c\($0)" }, key)) ORDER BY m._child DESC LIMIT 1
                ) AS m ON true \(isThere ? "LEFT JOIN \(tables.table(of: home)) AS t ON \(stored)" : "")
                WHERE m._ordinal IS NOT NULL\(isThere ? " OR t.ctid IS NOT NULL" : "")
                """
            )
            for row in rows {
                let object = Object(entity: try row.optionalInteger(1).map { Int($0) }, isStub: try row.bool(2))
                objects[waiting[Int(try row.integer(0))]] = object
            }
            _ = try connection.execute("TRUNCATE \(Self.asked(home))")
        }
        waiting.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    // MARK: Making

    /// Notes what an object is from now on.
    func make(_ key: Key, of entity: Int, _ cells: [Cell], _ values: RowValues) {
        if let known = objects[key], known.entity == entity, !known.isStub { return }
        objects[key] = Object(entity: entity, isStub: false)
        count += 1
        _ = made[key.home]?.append(ChunkRows.numbers(Int64(entity), count), cells, CellSource(values))
    }

    /// Keeps what was made in tables, and forgets it here.
    func flush() throws {
        try write(&made)
        objects.removeAll(keepingCapacity: true)
    }

    private func write(_ all: inout [Int: ChunkRows]) throws {
        for home in all.keys.sorted() {
            guard let rows = all[home], rows.count > 0 else { continue }
            _ = try connection.copy(rows.statement) { try rows.write(to: &$0) }
            all[home]?.begin()
        }
    }
}

extension CellSource {
    init(_ values: RowValues) {
        self.init(
            chunk: values.chunk.baseAddress.map { UnsafeRawPointer($0) },
            own: values.own.baseAddress.map { UnsafeRawPointer($0) }
        )
    }
}
