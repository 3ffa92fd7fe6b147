import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportPostgreSQL

/// What is read from a server is what is read from a SQLite store with the same records.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PostgreSQLReaderTests {
    private static let common = Result { try ReadRecords(count: 400, seed: 11) }

    private static let predicates = [
        "t = 'a'", "t <> 'Ä'", "t in ('a', 'ss')", "t < 'b'", "t like 'A%'", "t contains 'b'", "t begins with 'a'",
        "t ends with 'B'", "t = ''", "not t = 'z'",
        "s = 'a'", "s <> 'a'", "s < 'b'", "s >= 'Z'", "s between 'A' and 'z'", "s = ''", "s > 'e\u{301}'",
        "s < '\u{FFFF}'",
        "s in ('a', 'Ä', '日本')", "not s in ('a', 'b')", "s is null", "s is not null", "s = null", "s <> null", "s = t",
        "s < t", "s <> t", "s like 'A%'", "s like 'ä'", "s like 'É%'", "s like '_'", "s like '%\\%'", "s like 'a\\b'",
        "s like 'a_b'", "s like ''", "s like '%'", "s like 'i'", "s contains 'B'", "s contains ''", "s contains '%'",
        "s contains '\u{301}'", "s begins with 'a'", "s begins with ''", "s begins with '日'", "s ends with 'b'",
        "s ends with ''", "s ends with '本'", "not s ends with 'b'", "not (s contains 'a')", "l like 'HTTP://X/A%'",
        "l begins with 'http://x/z'", "l > s", "n = 7", "n > 6.5", "n < -32768", "n <= 1e30", "n <> 0.5", "n = 0.5",
        "n in (1, 7.5, 7)", "n in (7.5)", "not n = 0.5", "big > 9007199254740992", "big = 9223372036854775807",
        "big = d",
        "big < d", "big <= d", "d > big", "d <> big", "n = f", "n >= f", "f = 0.1", "f > 0.1", "f < d", "d = 0.1",
        "d >= 0.5",
        "d in (0.5, 1e300)", "dec = 0.1", "dec > 7", "dec = 12345678901234567890.125", "dec < 1e-20", "dec = 1e60",
        "dec between -7 and 3", "b", "not b", "b = true", "b = 1", "b <> false", "b = b",
        "day = '2024-02-29T12:30:00.12Z'",
        "micro = '2024-02-29T12:30:00.12345Z'", "micro > '2024-02-29T12:30:00.123Z'", "micro = '2024-02-29T12:30:00Z'",
        "micro = '2024-02-29'", "nano = '2024-02-29T12:30:00.123456Z'", "nano < '2024-02-29T12:30:00.1234567Z'",
        "nano in ('2024-02-29T12:30:00Z', '0001-01-01T00:00:00.000000001Z')",
        "day < '1970-01-01'", "day >= '2024-02-29'", "day = other", "day > other", "day = clock",
        "clock > '2024-02-29T12:00:00'",
        "unix = '2024-02-29T12:30:00Z'", "unix > '2024-02-29T12:30:00.5Z'", "unix <= '1969-12-31T23:59:59.999Z'",
        "milli < '1970-01-01'", "milli in ('2024-02-29T12:30:00.123Z')", "u = '6BA7B810-9dad-11d1-80b4-00c04fd430c8'",
        "u > '7fffffff-0000-0000-0000-000000000000'", "u like '6BA%'", "u contains 'ffff-0'", "u begins with 'f'",
        "u <> s",
        "bin = 'AAE='", "bin > 'AA=='", "bin <> ''", "bits = 1", "bits > 1", "bits = n", "j contains '2.50'",
        "j like '%\"a\"%'",
        "j is null", "j begins with '{'", "j ends with ']'", "id > 100 and id < 200 or id = 5",
        "not (id > 10 or s is null)",
    ]

    @Test func predicatesMeanTheSame() throws {
        let records = try Self.common.get()
        let server = records.server
        for text in Self.predicates {
            let request = FetchRequest(entity: ReadRecords.entity, where: try RecordPredicate(parsing: text))
            let (expected, found) = try records.both(request, server)
            #expect(found == expected, "\(text)")
            #expect(try server.count(request) == records.sqlite.count(request), "\(text)")
        }
    }

    /// Those that no text of a server can have.
    @Test(arguments: [
        "s = ?", "s <> ?", "s < ?", "s <= ?", "s > ?", "s >= ?", "s in (?, 'a')", "s in (?)", "not s in (?)",
        "s contains ?",
        "s begins with ?", "not s begins with ?", "s ends with ?", "j contains ?",
    ])
    func valuesWithNULMeanTheSame(_ text: String) throws {
        let records = try Self.common.get()
        let server = records.server
        for value in ["\0", "a\0b", "Ä\0"] {
            let predicate = try RecordPredicate(parsing: text, arguments: [.string(value)])
            let request = FetchRequest(entity: ReadRecords.entity, where: predicate)
            let (expected, found) = try records.both(request, server)
            #expect(found == expected)
        }
    }

    @Test func combinationsMeanTheSame() throws {
        let records = try Self.common.get()
        let server = records.server
        func condition(_ depth: Int, _ random: inout SeededGenerator) -> String {
            guard depth > 0, random.next(3) > 0 else { return Self.predicates[random.next(Self.predicates.count)] }
            switch random.next(3) {
            case 0: return "not (\(condition(depth - 1, &random)))"
            case 1: return "(\(condition(depth - 1, &random)) and \(condition(depth - 1, &random)))"
            default: return "(\(condition(depth - 1, &random)) or \(condition(depth - 1, &random)))"
            }
        }
        for seed in 0..<40 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let text = condition(4, &random)
            let request = FetchRequest(entity: ReadRecords.entity, where: try RecordPredicate(parsing: text))
            let (expected, found) = try records.both(request, server)
            #expect(found == expected, "\(text)")
        }
    }

    /// Those that are the same in all that is sorted by have the order of their identifiers, which are row ids in SQLite.
    @Test(
        arguments: Cases.few(
            5,
            of: [
                "s", "t", "n", "d", "dec", "b", "day", "u", "bin", "l", "big", "f", "clock", "unix", "milli", "bits",
                "micro", "nano",
                "j", "id",
            ]
        )
    )
    func ordersAreTheSame(_ name: String) throws {
        let records = try Self.common.get()
        let server = records.server
        for ascending in [true, false] {
            for collation in RecordSort.Collation.allCases {
                let sort = [
                    RecordSort(name, ascending: ascending, collation: collation), RecordSort("b", ascending: ascending),
                ]
                var request = FetchRequest(entity: ReadRecords.entity, sortedBy: sort)
                for page in [(0, nil), (13, 20)] as [(Int, Int?)] {
                    (request.offset, request.limit) = page
                    let (expected, found) = try records.both(request, server)
                    #expect(found == expected, "\(sort)")
                }
                #expect(try server.count(request) == 20)
            }
        }
    }

    @Test(arguments: RecordFormat.allCases)
    func formatsAreTheSame(_ format: RecordFormat) throws {
        let records = try Self.common.get()
        var request = FetchRequest(entity: ReadRecords.entity)
        for limit in [nil, 0] as [Int?] {
            request.limit = limit
            let (expected, found) = try records.both(request, records.server, nil, as: format)
            #expect(found == expected)
        }
    }

    /// Fewer and longer lists than a statement has room for.
    @Test(.enabled(if: Cases.areAll, "one of all cases")) func longListsMeanTheSame() throws {
        let records = try Self.common.get()
        let numbers = (0..<9_000).map { "\($0 * 2)" }.joined(separator: ", ")
        let terms = (0..<3_000).map { "id = \($0 * 3)" }.joined(separator: " or ")
        let predicate = try RecordPredicate(parsing: "id in (\(numbers)) and (\(terms))")
        let request = FetchRequest(entity: ReadRecords.entity, where: predicate)
        let (expected, found) = try records.both(request, records.server)
        #expect(found == expected && !found.isEmpty)
    }

    @Test func whatAServerCannotTellIsRefused() throws {
        let server = try Self.common.get().server
        let entity = ReadRecords.entity
        for text in ["rowid = 1", "dec > 1e200000", "dec = 1e-17000", "nothing = 1", "s = 5"] {
            #expect(throws: RecordPredicateError.self) {
                try server.count(FetchRequest(entity: entity, where: RecordPredicate(parsing: text)))
            }
        }
        #expect(throws: ImportError.self) {
            try server.count(FetchRequest(entity: entity, sortedBy: [RecordSort("rowid")]))
        }
        #expect(throws: ImportError.self) { try server.count(FetchRequest(entity: entity, including: ["others"])) }
        #expect(throws: ImportError.self) { try server.count(FetchRequest(entity: "Nothing")) }
        let described = try server.entity(named: entity)
        #expect(throws: ImportError.self) { try server.attributes(named: ["rowid"], of: described) }
    }

    /// A column that somebody else has added, or has given another type, is read as what it is.
    @Test func readsColumnsOfOthers() throws {
        let records = try ReadRecords(count: 3, seed: 1)
        try records.database.query(
            """
            ALTER TABLE thing ADD COLUMN at timestamptz DEFAULT 'infinity', ADD COLUMN old timestamp DEFAULT '0044-03-15 12:00 BC',
                ADD COLUMN fine timestamptz DEFAULT '2024-02-29 12:30:00.123456+01', ADD COLUMN list int[] DEFAULT '{1,2}',
                ADD COLUMN doc jsonb DEFAULT '{"a":1}', ADD COLUMN "not" double precision DEFAULT 'NaN', DROP COLUMN s,
                ALTER COLUMN n TYPE text USING 'seven';
            """
        )
        var lines: [String] = []
        let columns = ["id", "n", "at", "old", "fine", "list", "doc", "not"]
        let request = FetchRequest(
            entity: "THING",
            where: try RecordPredicate(parsing: "n = 'seven' and list = '{1,2}' and doc contains '1' and id < 3")
        )
        try records.server.write(request, attributes: columns, as: .ndjson) {
            lines += String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        #expect(lines.count == 2)
        #expect(
            lines.first == """
                {"id":1,"n":"seven","at":"infinity","old":"0044-03-15 12:00:00 BC","fine":"2024-02-29T11:30:00.123456Z",\
                "list":"{1,2}","doc":{"a": 1},"not":"NaN"}
                """
        )
    }

    @Test func endsWithWhoeverReads() throws {
        let server = try Self.common.get().server
        struct Enough: Error {}
        var count = 0
        #expect(throws: Enough.self) {
            try server.forEachRecord(FetchRequest(entity: ReadRecords.entity)) { _ in
                count += 1
                if count == 3 { throw Enough() }
            }
        }
        #expect(count == 3)
        #expect(try server.count(FetchRequest(entity: ReadRecords.entity)) == 400)
    }

    /// A connection that is lost in the middle ends the reading: nothing is given twice.
    @Test func givesNoRecordTwice() throws {
        let records = try ReadRecords(count: 20, seed: 2)
        try records.database.query(
            "INSERT INTO thing (id, s) SELECT n, repeat('x', 500) FROM generate_series(1000, 60000) AS n"
        )
        var count = 0
        #expect(throws: ImportError.self) {
            try records.server.forEachRecord(FetchRequest(entity: ReadRecords.entity)) { _ in
                count += 1
                guard count == 5 else { return }
                try records.database.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                    """
                )
            }
        }
        #expect(count < 59_000)
    }

    @Test func anInterruptionEndsTheStatement() throws {
        let records = try ReadRecords(count: 2, seed: 3)
        let interruption = Interruption()
        let reader = PostgreSQLReader(PostgreSQLStore(try records.database.address()), interruption: interruption)
        // Somebody holds the table back.
        let blocker = try records.database.connect()
        _ = try blocker.execute("BEGIN; LOCK TABLE thing IN ACCESS EXCLUSIVE MODE")
        records.database.whenWaiting(for: "relation") { _ in interruption.request(.interrupt) }
        let error = #expect(throws: ImportError.self) { try reader.count(FetchRequest(entity: "thing")) }
        #expect(error?.code == .interrupted)
    }
}
