import Foundation
import GRDB
import ImportModel
import Importer
import TestSupport
import Testing

/// What predicates are true of, beside a slow and exact reading in Python (`Tests/Checks/predicates.py`).
struct PredicateTruthTests {
    private static let types = ["i": "integer64", "d": "double", "x": "decimal", "s": "string"]

    private static let integers = [
        "0", "1", "2", "-1", "-2", "9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775806",
        "9223372036854775807", "-9223372036854775808", "-9223372036854775807", "1000000000000000000",
        "999999999999999999",
    ]
    private static let doubles = [
        "0", "0.1", "-0.1", "1", "1.5", "9007199254740992", "9007199254740994", "1e300", "-1e300", "5e-324",
        "9223372036854775807", "123456789.125",
    ]
    private static let decimals = [
        "0", "0.1", "0.10000000000000000001", "1", "1.00000000000000000001", "9223372036854775807.5",
        "-9223372036854775808.5", "123456789012345678901234567890.5", "1e50", "1e-50", "-1e-50", "-12.5",
    ]
    private static let strings = [
        "", "a", "aa", "ba", "é", "x\u{0}a", "a\u{0}", "\u{10FFFF}", "\u{10FFFF}a", "\u{D7FF}",
    ]

    private static func records() -> [String] {
        let count = max(integers.count, doubles.count, decimals.count, strings.count)
        return (0...count).map { place in
            // The last one has nothing.
            func member(_ name: String, _ values: [String], isText: Bool = false) -> String {
                guard place < values.count else { return ",\"\(name)\":null" }
                let value = isText ? JSONValue.string(values[place]).serialized() : values[place]
                return ",\"\(name)\":\(value)"
            }
            let members = [
                member("i", integers), member("d", doubles), member("x", decimals), member("s", strings, isText: true),
            ]
            return "{\"id\":\(place + 1)\(members.joined())}"
        }
    }

    /// A number at or near one that a record has.
    private static func literal(_ random: inout SeededGenerator, of attribute: String) -> String {
        let edges = attribute == "d" ? doubles : integers + decimals
        let edge = edges.randomElement(using: &random) ?? "0"
        if edge.contains("e") { return edge }
        let tails = [
            "", "", "", ".0", ".5", ".00000000000000000000001", ".99999999999999999999", "0", "e0", "e-1", "e1", "5",
            "e-400",
        ]
        var text = edge + (tails.randomElement(using: &random) ?? "")
        if !DecimalText.isNumber(text) { text = edge }
        if attribute != "d", Int.random(in: 0..<20, using: &random) == 0 {
            text = ["1e400", "-1e400", "-0.0", "1e-400", "-1e-400"].randomElement(using: &random) ?? "0"
        }
        return text
    }

    private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    private struct Case {
        var negations = 0
        let attribute: String
        let test: String
        let literals: [String]

        var text: String {
            let values =
                test == "in" ? "(" + literals.joined(separator: ", ") + ")" : literals.joined(separator: " and ")
            return String(repeating: "not ", count: negations) + "\(attribute) \(test) \(values)"
        }

        var json: String {
            let values = literals.map { JSONValue.string($0).serialized() }.joined(separator: ",")
            return "[\(negations),\"\(attribute)\",\"\(test)\",[\(values)]]"
        }
    }

    private static func cases() -> [Case] {
        var random = SeededGenerator(seed: 22)
        var cases = [
            Case(attribute: "i", test: "=", literals: ["9007199254740992.5"]),
            Case(attribute: "i", test: ">", literals: ["9223372036854775806.5"]),
            Case(attribute: "i", test: "=", literals: ["1.00000000000000000001"]),
            Case(attribute: "i", test: "in", literals: ["1.5", "0.5"]),
        ]
        for text in strings + ["b", "aaa", "\u{0}", "\u{0}a"] {
            for test in ["ends with", "begins with", "contains", "=", "!=", "<", ">="] {
                cases.append(Case(attribute: "s", test: test, literals: [quoted(text)]))
            }
        }
        for _ in 0..<3_000 {
            let attribute = ["i", "i", "d", "x"].randomElement(using: &random) ?? "i"
            let test =
                ["=", "!=", "<>", "<", "<=", ">", ">=", "between", "in"].randomElement(using: &random) ?? "="
            let count = test == "between" ? 2 : test == "in" ? Int.random(in: 1...4, using: &random) : 1
            cases.append(
                Case(
                    attribute: attribute,
                    test: test,
                    literals: (0..<count).map { _ in literal(&random, of: attribute) }
                )
            )
        }
        for place in cases.indices where place % 2 == 0 {
            var negated = cases[place]
            negated.negations = Int.random(in: 1...2, using: &random)
            cases.append(negated)
        }
        return cases
    }

    @Test func isThatOfExactNumbersAndThreeValues() throws {
        let records = "[" + Self.records().joined(separator: ",") + "]"
        let attributes = Self.types.map { "\"\($0.key)\": {\"type\": \"\($0.value)\", \"optional\": true}" }
        let model = """
            {"entities": {"item": {"records": "$[*]", "identifier": ["id"], "attributes": {
              "id": {"type": "integer64"}, \(attributes.joined(separator: ", "))}}}}
            """
        let job = try LibraryImport(records)
        _ = try job.pipeline(JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))).run()
        let cases = Self.cases()
        let types = Self.types.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",")
        let predicates = cases.map(\.json).joined(separator: ",")
        let work = try job.directory.write(
            "{\"types\":{\(types)},\"records\":\(records),\"predicates\":[\(predicates)]}",
            to: "work.json"
        )
        let result = try Python.run("predicates.py", [work])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let expected = result.outputText.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        try #require(expected.count == cases.count)

        let reader = try StoreReader(store: job.store)
        for (one, expected) in zip(cases, expected) {
            let request = FetchRequest(entity: "item", where: try RecordPredicate(parsing: one.text))
            let found = try reader.records(request, attributes: ["rowid"]).map { "\($0.rowID)" }
            #expect(found.joined(separator: " ") == expected, "\(one.text)")
        }
    }

    /// What is compared exactly is still found by an index.
    @Test(arguments: [
        "i = 5", "i = 5.5", "i > 9223372036854775806.5", "i < 0.5", "i between 1.5 and 1e400", "i in (1, 1.5, 2)",
        "s begins with 'a'", "d >= 0.1", "x = 1.50",
    ])
    func usesIndexes(text: String) throws {
        let entity = EntityDescription(
            name: "item",
            attributes: [
                AttributeDescription(name: "i", type: .integer64), AttributeDescription(name: "d", type: .double),
                AttributeDescription(name: "x", type: .decimal), AttributeDescription(name: "s", type: .string),
            ]
        )
        let condition = try RecordPredicate(parsing: text).compiled(for: FetchedEntity(entity)).condition
        try DatabaseQueue().write { database in
            try database.execute(sql: "CREATE TABLE item (i INTEGER, d REAL, x TEXT, s TEXT)")
            for name in ["i", "d", "x", "s"] { try database.execute(sql: "CREATE INDEX by_\(name) ON item (\(name))") }
            let statement = SQLFragment("EXPLAIN QUERY PLAN SELECT * FROM item WHERE ") + condition
            let plan = try RawRowCursor(database, statement)
            defer { plan.reset() }
            let row = try #require(try plan.next())
            guard case .text(let detail) = row.stored(at: 3) else { return }
            #expect(detail.hasPrefix("SEARCH item USING INDEX by_"), "\(detail)")
        }
    }

    @Test func placesNumbersAmongTheIntegers() {
        let places: [(String, JSONNumber.Int64Position)] = [
            ("0", .at(0)), ("-0.0", .at(0)), ("3e2", .at(300)), ("0.5", .after(0)), ("-0.5", .after(-1)),
            ("-1.5", .after(-2)),
            ("9223372036854775807", .at(.max)), ("9223372036854775807.5", .aboveAll),
            ("9223372036854775808", .aboveAll),
            ("9223372036854775806.5", .after(.max - 1)), ("-9223372036854775808", .at(.min)),
            ("-9223372036854775808.5", .belowAll), ("-9223372036854775807.5", .after(.min)), ("1e400", .aboveAll),
            ("-1e400", .belowAll), ("1e-400", .after(0)), ("-1e-99999999999999999999", .after(-1)),
            ("1e99999999999999999999", .aboveAll), ("0e99999999999999999999", .at(0)),
        ]
        for (text, place) in places {
            let found = Array(text.utf8).withUnsafeBufferPointer { JSONNumber(ByteView($0))?.integerPlace }
            #expect(found == place, "\(text)")
        }
    }
}
