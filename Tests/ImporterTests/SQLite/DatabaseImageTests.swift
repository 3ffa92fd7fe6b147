import Foundation
import GRDB
import GRDBSQLite
import Importer
import TestSupport
import Testing

@testable import ImportModel
@testable import ImportSQLite

/// An image is a whole database, and holds what SQLite makes of the same values.
struct DatabaseImageTests {
    private typealias Value = ImageBesideTables.Value

    private static let types = ["integer64", "double", "string", "binary"]

    // MARK: Values

    /// Around each size that an integer may have in a record.
    private static let integers: [Int64] = {
        let bounds = [7, 15, 23, 31, 47].flatMap { bits -> [Int64] in
            let bound: Int64 = 1 << bits
            return [bound - 1, bound, -bound, -bound - 1]
        }
        return [0, 1, 2, -1, .min, .min + 1, .max, .max - 1] + bounds
    }()

    private static let reals: [Double] =
        integers.map(Double.init) + [
            0.5, -0.5, 5, -0.0, 1e15, 0x1p53, 0x1p53 + 2, 0x1p62, -0x1p62, 9.2e18, 9.3e18, -9.3e18, 1e300,
            .leastNonzeroMagnitude,
            .infinity, -.infinity, .nan, .greatestFiniteMagnitude,
        ]

    /// Of 57 bytes a text's serial type still fits one byte, of 8,185 two.
    private static let lengths = [0, 1, 2, 56, 57, 58, 59, 8_184, 8_185, 8_186, 8_187]

    private static let noise: [UInt8] = {
        var random = SeededGenerator(seed: 255)
        return (0..<20_000).map { _ in random.next() % 5 == 0 ? 0 : UInt8(truncatingIfNeeded: random.next()) }
    }()

    /// Some bytes, with NULs among them, which need not be UTF-8.
    private static func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        let first = Int.random(in: 0...noise.count - count, using: &random)
        return Array(noise[first..<first + count])
    }

    /// Whether a column leaves a value of this kind as it is, or makes an integer of a real number.
    private static func takes(_ value: Value, _ type: String) -> Bool {
        switch value {
        case .null, .blob: true
        case .integer: type == "integer64" || type == "binary"
        case .real: type != "string"
        case .text: type == "string" || type == "binary"
        }
    }

    private func expectSame(_ pair: ImageBesideTables, _ comment: Comment? = nil) throws {
        #expect(try pair.check() == ["ok"], comment)
        let (image, tables) = (try pair.imageContent(), try pair.tables())
        for (entity, (found, expected)) in zip(image, tables.content).enumerated() {
            #expect(found.count == expected.count, comment)
            let different = zip(found, expected).first { $0 != $1 }
            #expect(different == nil, "entity \(entity): found \(different?.0 ?? ""), not \(different?.1 ?? "")")
        }
    }

    @Test func holdsEachValueAsItsColumnDoes() throws {
        var random = SeededGenerator(seed: 1_124)
        let pair = try ImageBesideTables([Self.types])
        let values =
            [.null] + Self.integers.map(Value.integer) + Self.reals.map(Value.real)
            + Self.lengths.flatMap { [.text(Self.bytes($0, &random)), .blob(Self.bytes($0, &random))] }
        for value in values {
            // Alone first, as a long one would not fit three times.
            for column in Self.types.indices where Self.takes(value, Self.types[column]) {
                let row = Self.types.indices.map { $0 == column ? value : .null }
                #expect(pair.append(row), "\(value) in \(Self.types[column])")
            }
            let row = Self.types.map { Self.takes(value, $0) && value.size < 100 ? value : nil }
            #expect(pair.append(row), "\(value)")
        }
        try expectSame(pair)
        #expect(try StoreContent.isWhole(try pair.file()))
    }

    @Test(arguments: 1...24)
    func holdsRowsOfAnyValues(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let isSmall = seed.isMultiple(of: 2)
        let entities = isSmall ? 1 : Int.random(in: 1...3, using: &random)
        let types = (0..<entities).map { _ in
            let width =
                isSmall ? Int.random(in: 1...9, using: &random) : [1, 5, 64, 65, 130].randomElement(using: &random)
            return (0..<(width ?? 1)).map { _ in Self.types.randomElement(using: &random) ?? "" }
        }
        let pair = try ImageBesideTables(types)
        for _ in 0..<Int.random(in: 1...(isSmall ? 40 : 200), using: &random) {
            let entity = Int.random(in: 0..<entities, using: &random)
            var room = isSmall ? 500 : 24_000
            let row = types[entity].map { type -> Value? in
                var value = Self.value(&random)
                if !Self.takes(value, type) || value.size > room { value = .null }
                room -= value.size
                return Int.random(in: 0..<8, using: &random) == 0 ? nil : value
            }
            #expect(pair.append(row, to: entity))
        }
        try expectSame(pair)
        guard isSmall else { return }
        #expect(pair.image.bytes.count == 2 * DatabaseImage.pageSize)
        #expect(try Self.leaf(pair.file()) == Self.leaf(pair.tables().file), "SQLite writes other bytes")
    }

    private static func value(_ random: inout SeededGenerator) -> Value {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .null
        case 1: .integer(integers.randomElement(using: &random) ?? 0)
        case 2: .real(reals.randomElement(using: &random) ?? 0)
        case 3: .real(Double(Int.random(in: -200...200, using: &random)) / 4)
        case 4: .blob(bytes(lengths.randomElement(using: &random) ?? 0, &random))
        default: .text(bytes(lengths.randomElement(using: &random) ?? 0, &random))
        }
    }

    /// What is in use of a file's second page: the header, the cells' places, and the cells.
    private static func leaf(_ path: String) throws -> [UInt8] {
        let page = try Array(Data(contentsOf: URL(filePath: path))[DatabaseImage.pageSize..<2 * DatabaseImage.pageSize])
        let (cells, content) = (Int(page[3]) << 8 | Int(page[4]), Int(page[5]) << 8 | Int(page[6]))
        return Array(page[..<(8 + 2 * cells)] + page[content...])
    }

    /// A record's header says its own length, in one byte up to 127.
    @Test(arguments: [1, 125, 126, 127, 128, 2_000])
    func holdsRowsOfManyColumns(width: Int) throws {
        let pair = try ImageBesideTables([Array(repeating: "integer64", count: width)])
        for first in [0, 100, -40_000] {
            #expect(pair.append((0..<width).map { .integer(Int64(first + $0)) }))
            #expect(pair.append((0..<width).map { $0.isMultiple(of: 3) ? nil : .null }))
        }
        try expectSame(pair)
    }

    /// What a column would convert is for SQLite to convert, and rows keep their order.
    @Test(arguments: [
        ("double", ImageBesideTables.Value.integer(5)), ("string", .integer(5)), ("string", .real(0.5)),
        ("integer64", .text("12")), ("integer64", .text("x")), ("double", .text("1.5")),
    ])
    func takesNoRowThatAColumnWouldConvert(_ type: String, _ value: ImageBesideTables.Value) throws {
        let pair = try ImageBesideTables([["string", type], ["string"]])
        #expect(pair.append([.text("first"), nil]))
        #expect(!pair.append([.text("second"), value]))
        #expect(!pair.append([.text("third"), .null]))
        #expect(pair.append([.text("other")], to: 1))
        #expect(pair.image.rows(of: 0) == 1)
        #expect(pair.image.rows(of: 1) == 1)
        try expectSame(pair)
    }

    // MARK: Pages

    @Test func holdsManyLeavesOfSeveralEntitiesAndIsUsedAgain() throws {
        var random = SeededGenerator(seed: 32_768)
        let pair = try ImageBesideTables([["integer64", "string"], ["binary"], ["string", "double"]])
        #expect(pair.image.isEmpty)
        #expect(try StoreContent.isWhole(try pair.file()))
        // Large, small, large: what was there before must not show.
        for (round, count) in [4_000, 3, 0, 2_500].enumerated() {
            pair.reset()
            if round == 3 { pair.image.reserve(1 << 20) }
            #expect(pair.image.isEmpty)
            for row in 0..<count {
                let size = Int.random(in: 0..<(row.isMultiple(of: 50) ? 9_000 : 200), using: &random)
                #expect(pair.append([.integer(Int64(row)), .text(Self.bytes(size, &random))]))
                if row.isMultiple(of: 3) { #expect(pair.append([.text("\(row)"), .real(0.25)], to: 2)) }
            }
            let counts = [count, 0, (count + 2) / 3]
            #expect((0..<3).map { pair.image.rows(of: Int32($0)) } == counts)
            try expectSame(pair, "round \(round)")
            let file = try pair.file()
            #expect(try StoreContent.isWhole(file), "round \(round)")
            let table = DatabaseImageSchema.table(0)
            let sql = "SELECT count(*), coalesce(sum(rowid = c0 + 1), 0), coalesce(max(rowid), 0) FROM \(table)"
            #expect(try StoreContent.query(file, sql) == "\(count)|\(count)|\(count)")
            // Found from the root, not by walking along the leaves.
            let found =
                "SELECT count(*) FROM \(table) a WHERE EXISTS (SELECT 1 FROM \(table) b WHERE b.rowid = a.c0 + 1)"
            #expect(try StoreContent.query(file, found) == "\(count)")
        }
    }

    /// Longer rows would need pages of their own, which an image does not have.
    @Test(arguments: [0, 1, 200])
    func takesRowsUpToAPage(before: Int) throws {
        let pair = try ImageBesideTables([["binary"], ["binary"]])
        for _ in 0..<before { #expect(pair.append([.blob([1, 2, 3])])) }
        let size = DatabaseImage.pageSize - 35 - 4
        let largest: [Value?] = [.blob(Array(repeating: 7, count: size))]
        #expect(pair.append(largest))
        #expect(pair.append(largest))
        #expect(pair.append([.blob([4])]))
        #expect(!pair.append([.blob(Array(repeating: 7, count: size + 1))]))
        #expect(!pair.append([.blob([5])]))
        #expect(pair.append(largest, to: 1))
        #expect(pair.append([.blob([6])], to: 1))
        #expect(pair.image.rows(of: 0) == before + 3)
        #expect(pair.image.rows(of: 1) == 2)
        try expectSame(pair)
        #expect(try StoreContent.isWhole(try pair.file()))
    }

    /// There is one page for the root, which says where each leaf is.
    @Test func takesNoMoreLeavesThanItsRootHasRoomFor() throws {
        let pair = try ImageBesideTables([["string"], ["string"]])
        let row: [Value?] = [.text(Array(repeating: 0x61, count: 32_000))]
        var count = 0
        while count < 4_000, pair.append(row) { count += 1 }
        try #require((2_000..<4_000).contains(count))
        #expect(!pair.append([.text("small")]))
        #expect(pair.append([.text("other")], to: 1))
        #expect(try pair.check() == ["ok"])
        let ids = try pair.read { database in
            let table = "\(AttachedDatabaseImage.name).\(DatabaseImageSchema.table(0))"
            return try Int.fetchAll(database, sql: "SELECT rowid FROM \(table) WHERE length(c0) = 32000")
        }
        #expect(ids == Array(1...count))
    }

    /// The definitions are in the first page.
    @Test func tablesOfManyColumnsFitAsFarAsAPageDoes() throws {
        let wide = Array(repeating: "integer64", count: ModelReader.mostAttributes)
        #expect(try Self.fit([wide]))
        #expect(try Self.fit([wide, ["string"]]))
        #expect(try !Self.fit([wide, wide]))
        #expect(try !Self.fit([["string"], wide, ["string"], wide]))
        // Up to the last byte, where the cells' places and the cells meet.
        var columns = (ModelReader.mostAttributes, 0)
        while columns.0 - columns.1 > 1 {
            let middle = (columns.0 + columns.1) / 2
            if try Self.fit([wide, Array(wide[..<middle])]) { columns.1 = middle } else { columns.0 = middle }
        }
        let pair = try ImageBesideTables([wide, Array(wide[..<columns.1])])
        #expect(pair.append(Array(repeating: .integer(1), count: columns.1), to: 1))
        try expectSame(pair)
    }

    private static func fit(_ types: [[String]]) throws -> Bool {
        guard let _ = DatabaseImageSchema(try ImageBesideTables.plans(types)) else { return false }
        return true
    }

    // MARK: Copying

    /// A worker fills the image again as soon as it is committed: what SQLite does with it changes no byte of it.
    @Test func isOnlyEverRead() throws {
        let rows = try ImageBesideTables([["string"]])
        #expect(rows.append([.text("a")]))
        rows.image.finish()
        let before = Array(rows.image.bytes)
        let table = "\(AttachedDatabaseImage.name).\(DatabaseImageSchema.table(0))"
        try rows.read { database in
            for sql in ["DELETE FROM \(table)", "INSERT INTO \(table) VALUES ('b')", "DROP TABLE \(table)"] {
                let error = #expect(throws: DatabaseError.self) { try database.execute(sql: sql) }
                #expect(error?.resultCode == .SQLITE_READONLY)
            }
        }
        #expect(Array(rows.image.bytes) == before)
        #expect(try rows.check() == ["ok"])
    }

    /// A table as an import makes it gets the rows as they are; one that somebody has added to may not.
    @Test(arguments: [
        (nil, false), ("c0 TEXT, c1 INTEGER, C2 REAL, c3 BLOB", false),
        ("c0 TEXT, c1 INTEGER DEFAULT 5, c2 REAL, c3 BLOB", true),
        ("c0 TEXT, c1 INTEGER CHECK (c1 <> 5), c2 REAL, c3 BLOB", true),
        ("c1 INTEGER, c0 TEXT, c2 REAL, c3 BLOB", true),
    ])
    func copiesRowsWithoutTakingThemApart(_ columns: String?, isTakenApart: Bool) throws {
        let model = try ModelDescription(
            parsing: Array(
                """
                {"entities": {"item": {"records": "$[*]", "identifier": ["c0"], "attributes": {
                  "c0": {"type": "string"}, "c1": {"type": "integer64"}, "c2": {"type": "double"},
                  "c3": {"type": "binary"}}}}}
                """.utf8
            )
        )
        let plan = try EntityPlan(entity: model.entities[0], index: 0)
        plan.laysOutRows = true
        let queue = try DatabaseQueue()
        let attached = try queue.inDatabase { database in
            if let columns {
                try database.execute(sql: "CREATE TABLE item (\(columns))")
            } else {
                _ = try StoreSchema.prepareTables(model, job: 1, database, store: "")
            }
            let attached = try AttachedDatabaseImage(database, try #require(DatabaseImageSchema([plan])))
            let constraints = try TableConstraints(of: plan.entity, database)
            let writer = try RowWriter(database, plan: plan, constraints: constraints)
            try withExtendedLifetime(writer) {
                let copies = Self.statements(of: database).filter { $0.contains(DatabaseImageSchema.table(0)) }
                #expect(copies.count == 1)
                let program = try Row.fetchAll(database, sql: "EXPLAIN \(copies.first ?? "")")
                let operations = program.map { $0["opcode"] as String }
                #expect(operations.contains("Insert"))
                #expect(operations.contains("MakeRecord") == isTakenApart)
            }
            return attached
        }
        try queue.close()
        withExtendedLifetime(attached) {}
    }

    /// Rows are copied column by column, so a table that somebody changes between two commits must not get them as they are.
    @Test(arguments: [
        ("ALTER TABLE e0 ADD COLUMN c2 TEXT", true),
        ("ALTER TABLE e0 DROP COLUMN c0; ALTER TABLE e0 ADD COLUMN c0 TEXT", true),
        (
            "ALTER TABLE e0 RENAME COLUMN c0 TO x; ALTER TABLE e0 RENAME COLUMN c1 TO c0; ALTER TABLE e0 RENAME COLUMN x TO c1",
            true
        ),
        ("DROP TABLE e0; CREATE TABLE e0 (c1 TEXT, c0 TEXT)", true),
        ("DROP TABLE e0; CREATE TABLE e0 (c0 TEXT, c1 INTEGER)", true),
        ("DROP TABLE e0; CREATE TABLE e0 (c0 VARCHAR(9), c1 clob)", false),
        ("CREATE TABLE other (c0)", false), ("CREATE INDEX name ON e0 (c0)", false),
    ])
    func noticesThatTheTableIsAnother(_ change: String, isOther: Bool) throws {
        let directory = try TemporaryDirectory()
        let (store, rows) = (directory.path("store.sqlite"), try ImageBesideTables([["string", "string"]]))
        #expect(rows.append([.text("a"), .text("b")]))
        rows.image.finish()
        let plan = rows.plans[0]
        plan.laysOutRows = true
        let queue = try StoreConnection.writer(store, durability: .normal)
        let attached = try queue.inDatabase { database in
            _ = try StoreSchema.prepareTables(ModelDescription(entities: [plan.entity]), job: 1, database, store: store)
            let attached = try AttachedDatabaseImage(database, try #require(DatabaseImageSchema([plan])))
            let constraints = try TableConstraints(of: plan.entity, database)
            let writer = try RowWriter(database, plan: plan, constraints: constraints)
            func copy() throws -> ClosedRange<Int64>? {
                var rowIDs: ClosedRange<Int64>?
                var batch = DecodedBatch()
                batch.layout = rows.image
                try attached.showing(batch) {
                    try database.inTransaction(.deferred) {
                        rowIDs = try writer.copy(rows.image, of: RowBatch(), database)
                        return .commit
                    }
                }
                return rowIDs
            }
            #expect(try copy() == 1...1)
            #expect(try copy() == 2...2)
            let other = try StoreConnection.writer(store, durability: .normal)
            try other.inDatabase { try $0.execute(sql: change) }
            try other.close()
            if isOther {
                #expect(throws: LayoutInvalidated.self) { try copy() }
            } else {
                let next: Int64 = change.hasPrefix("DROP TABLE") ? 1 : 3
                #expect(try copy() == next...next)
            }
            return attached
        }
        try queue.close()
        withExtendedLifetime(attached) {}
        let kept = change.hasPrefix("DROP TABLE") ? 1 : 3
        let content = Array(repeating: "a|b", count: kept).joined(separator: "\n")
        if !isOther { #expect(try StoreContent.query(store, "SELECT c0, c1 FROM e0") == content) }
    }

    /// A row has a byte for each column, and all of its default, however small its record is.
    @Test func isNotMuchLargerThanItsRecords() throws {
        let rows = try ImageBesideTables([Array(repeating: "binary", count: 2_000)])
        let bytes = 1 << 20
        rows.image.reserve(bytes)
        let row = [ImageBesideTables.Value](repeating: .null, count: 2_000)
        var count = 0
        while count < 10_000, rows.append(row) { count += 1 }
        #expect((500...1_200).contains(count))
        #expect(rows.image.bytes.count <= 2 * bytes + 5 * DatabaseImage.pageSize)
        #expect(try rows.check() == ["ok"])
    }

    /// The statements that are prepared on a connection.
    private static func statements(of database: Database) -> [String] {
        var texts: [String] = []
        var statement = sqlite3_next_stmt(database.sqliteConnection, nil)
        while let current = statement {
            if let text = sqlite3_sql(current) { texts.append(String(cString: text)) }
            statement = sqlite3_next_stmt(database.sqliteConnection, current)
        }
        return texts
    }
}
