import Foundation
import ImportModel
import TestSupport
import Testing

@testable import ImportPostgreSQL
@testable import Importer

@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL"))
struct PGRoundTripTests {
    /// How a value looks when psql shows it.
    private enum Shown {
        /// As it is kept.
        case text
        /// A number that is read again.
        case real
        /// In hexadecimal.
        case bytes
    }

    private static let attributes: [(attribute: AttributeDescription, shown: Shown)] = {
        AttributeType.allCases.map { type in
            let attribute = AttributeDescription(
                name: type.rawValue,
                type: type,
                isOptional: true,
                bits: type == .bitfield ? (0..<64).map { .init(name: "b\($0)", position: $0) } : []
            )
            return (attribute, type == .float || type == .double ? .real : type == .binary ? .bytes : .text)
        } + [
            (AttributeDescription(name: "row", type: .integer32), .text),
            (AttributeDescription(name: "wall", type: .date, isOptional: true, isWallClock: true), .text),
            (AttributeDescription(name: "unix", type: .date, isOptional: true, storage: .unix), .text),
            (AttributeDescription(name: "milli", type: .date, isOptional: true, storage: .unixMilliseconds), .text),
            (AttributeDescription(name: "since2001", type: .date, isOptional: true, storage: .referenceDate), .real),
            (AttributeDescription(name: "price", type: .decimal, isOptional: true, storage: .real), .real),
        ]
    }()

    private func value(_ attribute: AttributeDescription, _ random: inout SeededGenerator) -> JSONValue {
        func text(_ letters: String, _ most: Int) -> String {
            let letters = Array(letters)
            return String((0..<random.next(most + 1)).map { _ in letters[random.next(letters.count)] })
        }
        switch attribute.type {
        case .string: return .string(text("abc 'x'\",\\\n\r\täöü€😀{}", 40))
        case .uri: return .string("a:" + text("abc/x", 10))
        case .integer16: return .number("\(Int16.random(in: .min ... .max, using: &random))")
        case .integer32: return .number("\(Int32.random(in: .min ... .max, using: &random))")
        case .integer64: return .number("\(Int64.random(in: .min ... .max, using: &random))")
        case .float: return .number("\(Float.random(in: -1e30...1e30, using: &random))")
        case .double: return .number("\(Double(bitPattern: random.next() & ~(1 << 62)))")
        case .decimal:
            let digits = "1" + text("0123456789", 60)
            return .number(
                "\(random.next(2) == 0 ? "-" : "")\(digits)\(random.next(2) == 0 ? "" : ".\(text("0123456789", 60))1")"
            )
        case .boolean: return .boolean(random.next(2) == 0)
        case .uuid:
            let digits = (0..<32).map { _ in String(random.next(16), radix: 16) }.joined()
            let ends = [0, 8, 12, 16, 20, 32]
            return .string(zip(ends, ends.dropFirst()).map { String(Array(digits)[$0..<$1]) }.joined(separator: "-"))
        case .binary:
            return .string(Data((0..<random.next(40)).map { _ in UInt8(random.next(256)) }).base64EncodedString())
        case .bitfield:
            let bits = (0..<64).filter { _ in random.next(3) == 0 }
            return .object(bits.map { .init(key: "b\($0)", value: .boolean(true)) })
        case .json: return .array([.number("1.50"), .string(text("ab\"\u{0}ä", 20)), .object([]), .null])
        case .date:
            var bytes: [UInt8] = []
            let milliseconds = Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random)
            _ = StoredDate.appendISO8601(milliseconds, to: &bytes)
            return .string(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test func givesBackEveryValueAsItWasKept() throws {
        let database = try CopiedTables()
        var random = SeededGenerator(seed: 2_024)
        var rows = try EncodedRows(Self.attributes.map(\.attribute))
        var expected: [[CoercedJSON]] = []
        for row in 0..<400 {
            let values = Self.attributes.map { attribute, _ -> JSONValue in
                if attribute.name == "row" { return .number("\(row)") }
                return random.next(8) == 0 ? .null : value(attribute, &random)
            }
            try rows.add(values)
            expected.append(try zip(Self.attributes, values).map { try $0.attribute.coerce($1).value })
        }
        #expect(try database.prepare(rows.plan.entity))
        var chunk = try ChunkRows(rows.plan, JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        #expect(try database.copy(chunk) == nil)
        let shown = Self.attributes.map { attribute, _ in
            guard attribute.type == .date, attribute.ownForm == nil else { return "\"\(attribute.name)\"" }
            let zone = attribute.isWallClock ? "" : " AT TIME ZONE 'UTC'"
            return #"to_char("\#(attribute.name)"\#(zone), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"#
        }
        let found = try database.query("SELECT \(shown.joined(separator: ", ")) FROM thing ORDER BY row")
        try #require(found.count == expected.count)
        for (fields, values) in zip(found, expected) {
            for (place, (field, value)) in zip(fields, values).enumerated() {
                let (attribute, shown) = Self.attributes[place]
                switch (value, shown) {
                case (.null, _): #expect(field == nil)
                case (.text(let text), _): #expect(field == text)
                case (.integer(let number), _) where attribute.type == .boolean:
                    #expect(field == (number == 1 ? "t" : "f"))
                case (.integer(let number), _): #expect(field == "\(number)")
                case (.real(let number), _) where attribute.type == .float:
                    #expect(field.flatMap(Float.init) == Float(number))
                case (.real(let number), _): #expect(field.flatMap(Double.init) == number)
                case (.blob(let bytes), _):
                    #expect(field == "\\x" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
                }
            }
        }
    }

    @Test func holdsTheLargestAndTheSmallestDecimals() throws {
        let database = try CopiedTables()
        var rows = try EncodedRows([
            AttributeDescription(name: "a", type: .decimal), AttributeDescription(name: "row", type: .integer32),
        ])
        let texts = ["0", "1e131071", "9.9e131071", "-1e-16383", "1e-5000", "1e41", "1.25e-80", "-10000", "0.0001"]
        for (row, text) in texts.enumerated() { try rows.add([.number(text), .number("\(row)")]) }
        try database.prepare(rows.plan.entity)
        var chunk = try ChunkRows(rows.plan, JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        #expect(try database.copy(chunk) == nil)
        for (text, row) in zip(texts, try database.query("SELECT a FROM thing ORDER BY row")) {
            let program =
                "import decimal, sys; print(decimal.Decimal(sys.argv[1]) == decimal.Decimal(sys.argv[2]), end='')"
            #expect(try Python.run(text: program, [text, row[0] ?? ""]).outputText == "True", "\(text)")
            let isEqual = try database.query("SELECT count(*) FROM thing WHERE a = '\(text)'::numeric")
            #expect(isEqual == [["1"]])
        }
    }

    // MARK: What the server refuses

    /// Copies rows of which one is not like the others, into a table that was there before.
    private func refusal(_ table: String, bad: String, at index: Int, of count: Int = 1_500) throws -> RefusedRow? {
        let database = try CopiedTables()
        try database.query(table)
        var rows = try EncodedRows([
            AttributeDescription(name: "a", type: .string), AttributeDescription(name: "n", type: .integer32),
        ])
        for row in 0..<count { try rows.add([.string(row == index ? bad : "good"), .number("\(row)")]) }
        #expect(try !database.prepare(rows.plan.entity))
        var chunk = try ChunkRows(rows.plan, JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        let failure = try #require(try database.copy(chunk))
        let found = try chunk.findRefused(failure, database.connection)
        #expect(try database.query("SELECT count(*) FROM thing") == [["0"]])
        return found.count == 1 ? found[0] : nil
    }

    @Test(
        arguments: [
            "CREATE TABLE thing (a text CHECK (a <> 'bad'), n integer)",
            "CREATE TABLE thing (a varchar(4), n integer)",
            "CREATE DOMAIN word AS text CHECK (length(VALUE) < 5); CREATE TABLE thing (a word, n integer)",
        ]
    )
    func namesTheRowThatBreaksAConstraint(_ table: String) throws {
        for index in [0, 999, 1_000, 1_499] {
            let bad = table.contains("CHECK (a") ? "bad" : "too long"
            let found = try refusal(table, bad: bad, at: index)
            #expect(found?.ordinal == Int64(index + 1))
            #expect(found?.error.code == .constraintViolation)
        }
    }

    @Test func namesTheRowWhoseKeyIsThereAlready() throws {
        let found = try refusal(
            "CREATE TABLE thing (a text, n integer); CREATE UNIQUE INDEX ON thing (a) WHERE a <> 'good'; "
                + "CREATE UNIQUE INDEX ON thing ((CASE a WHEN 'bad' THEN 700 ELSE n END))",
            bad: "bad",
            at: 1_200
        )
        // 700 is that of the row before it.
        #expect(found?.ordinal == 1_201)
        #expect(found?.error.found.contains("violates unique constraint") == true)
    }

    @Test func namesTheRowThatIsTooLongForAnIndex() throws {
        var random = SeededGenerator(seed: 8)
        let long = String((0..<4_000).map { _ in Character(Unicode.Scalar(UInt8(33 + random.next(90)))) })
        let found = try refusal(
            "CREATE TABLE thing (a text, n integer); CREATE INDEX ON thing (a)",
            bad: long,
            at: 700
        )
        #expect(found?.ordinal == 701)
        #expect(found?.error.code == .identifierTooLong)
    }

    @Test func searchesTheRowThatAForeignKeyIsAbout() throws {
        for timing in ["", " DEFERRABLE INITIALLY DEFERRED"] {
            let found = try refusal(
                "CREATE TABLE parent (a text PRIMARY KEY); INSERT INTO parent VALUES ('good'); "
                    + "CREATE TABLE thing (a text REFERENCES parent\(timing), n integer)",
                bad: "bad",
                at: 1_100
            )
            #expect(found?.ordinal == 1_101)
            #expect(found?.error.code == .constraintViolation)
        }
    }

    @Test func searchesTheRowThatIsTooLarge() throws {
        let database = try CopiedTables()
        var rows = try EncodedRows(
            (0..<600).map { AttributeDescription(name: "a\($0)", type: .uuid, isOptional: true) }
        )
        let uuid = JSONValue.string("00000000-0000-0000-0000-000000000001")
        for row in 0..<2_100 {
            try rows.add(Array(repeating: row == 1_234 ? uuid : nil, count: 600))
        }
        try database.prepare(rows.plan.entity)
        var chunk = try ChunkRows(rows.plan, JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        let failure = try #require(try database.copy(chunk))
        let found = try chunk.findRefused(failure, database.connection)
        #expect(found.map(\.ordinal) == [1_235])
        #expect(found.first?.error.code == .rowTooLarge)
        let other = PGError(sqlState: "53100", message: "disk full", context: "COPY thing, line 1000")
        #expect(try chunk.findRefused(other, database.connection).isEmpty)
        #expect(try database.query("SELECT count(*) FROM thing") == [["0"]])
    }

    @Test func findsAllRowsThatAreRefused() throws {
        let database = try CopiedTables()
        try database.query("CREATE TABLE thing (n integer CHECK (n % 7 <> 3))")
        var rows = try EncodedRows([AttributeDescription(name: "n", type: .integer32)])
        for row in 0..<1_000 { try rows.add([.number("\(row)")]) }
        #expect(try !database.prepare(rows.plan.entity))
        var chunk = try ChunkRows(rows.plan, JobOptions())
        #expect(rows.append(to: &chunk).isEmpty)
        let failure = try #require(try database.copy(chunk))
        let found = try chunk.findRefused(failure, database.connection)
        let expected = (Int64(0)..<1_000).filter { $0 % 7 == 3 }.map { $0 + 1 }
        #expect(found.map(\.ordinal) == expected)
        #expect(try database.query("SELECT count(*) FROM thing") == [["0"]])
    }

    @Test func takesStagedRows() throws {
        let database = try CopiedTables()
        var rows = try EncodedRows(
            [
                AttributeDescription(name: "a", type: .string),
                AttributeDescription(name: "b", type: .string, isOptional: true),
            ],
            identifier: ["a"]
        )
        try rows.add([.string("x"), nil])
        try rows.add([.string("y"), .string("z")], isIncomplete: true)
        try rows.add([.string(String(repeating: "k", count: 2_601)), nil])
        try rows.add([.string(String(repeating: "k", count: 2_600)), nil])
        try database.query(
            "CREATE TABLE stage (_ordinal bigint, _child integer, _mask_0 bigint, _unmet boolean, c0 text, c1 text)"
        )
        var chunk = try ChunkRows(staging: rows.plan, table: "stage", JobOptions())
        #expect(rows.append(to: &chunk) == [2: RowError(reason: .identifierTooLong, attribute: 0)])
        #expect(try database.copy(chunk) == nil)
        let found = try database.query(
            "SELECT _ordinal, _child, _mask_0, _unmet, left(c0, 2), c1 FROM stage ORDER BY 1"
        )
        #expect(
            found == [
                ["1", "0", "1", "f", "x", nil], ["2", "0", "3", "t", "y", "z"], ["4", "0", "1", "f", "kk", nil],
            ]
        )
    }
}
