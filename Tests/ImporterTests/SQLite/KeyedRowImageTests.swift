import GRDB
import Importer
import TestSupport
import Testing

/// Rows whose identifier is their row id are in an image as SQLite itself writes them.
struct KeyedRowImageTests {
    private static let types = ["integer64", "string", "double"]

    private func row(_ key: Int64, _ random: inout SeededGenerator) -> [ImageBesideTables.Value?] {
        [.integer(key), .text(String(repeating: "x", count: random.next(400))), random.next(3) == 0 ? nil : .real(0.5)]
    }

    private func expectSame(_ pair: ImageBesideTables) throws {
        #expect(try pair.check() == ["ok"])
        let (image, tables) = (try pair.imageContent(), try pair.tables())
        #expect(image == tables.content)
    }

    /// Keys of every length that SQLite has for them, on many pages.
    @Test func keepsRowsByTheirKeys() throws {
        var random = SeededGenerator(seed: 1311)
        let pair = try ImageBesideTables([Self.types, ["string"]], keyed: [0])
        var key: Int64 = -1
        for bits in 0..<55 {
            key = max(key, 1 << Int64(bits) - 2)
            for _ in 0..<20 {
                key += Int64(random.next(3) + 1)
                #expect(pair.append(row(key, &random)))
            }
        }
        #expect(pair.append([.text("another table")], to: 1))
        #expect(pair.image.lastRowID(of: 0) == key)
        #expect(pair.image.rows(of: 0) == 1_100)
        try expectSame(pair)
        let found = try pair.read { database in
            try Row.fetchOne(
                database,
                sql: "SELECT count(*), count(*) FILTER (WHERE c0 = rowid) FROM _import_batch._import_rows_0"
            )
        }
        #expect(found.map { [$0[0] as Int, $0[1] as Int] } == [1_100, 1_100])
    }

    /// From the first row that does not follow the others, none is accepted.
    @Test(arguments: [5, 4, -1, 1 << 56, Int64.max, Int64.min])
    func refusesOtherKeys(key: Int64) throws {
        var random = SeededGenerator(seed: 7)
        let pair = try ImageBesideTables([Self.types], keyed: [0])
        #expect(pair.append(row(5, &random)))
        #expect(!pair.append(row(key, &random)))
        #expect(!pair.append(row(9, &random)))
        try expectSame(pair)
        // The next batch begins with none.
        pair.reset()
        #expect(pair.append(row(3, &random)))
        try expectSame(pair)
    }

    @Test func goesBackToItsMark() throws {
        var random = SeededGenerator(seed: 8)
        let pair = try ImageBesideTables([Self.types], keyed: [0])
        #expect(pair.append(row(5, &random)))
        pair.image.mark()
        for key in 100..<600 {
            let taken = [ImageBesideTables.Value.integer(Int64(key)), .text(String(repeating: "y", count: 200)), .null]
            #expect(pair.append(taken))
        }
        pair.image.goBack()
        pair.forget(after: 1)
        #expect(pair.image.lastRowID(of: 0) == 5)
        #expect(pair.append(row(6, &random)))
        try expectSame(pair)
    }
}
