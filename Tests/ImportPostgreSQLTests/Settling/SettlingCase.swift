import ImportModel
import TestSupport

@testable import ImportPostgreSQL

/// A table with random objects, random records for it, and what taking these one after the other comes to.
struct SettlingCase {
    /// A staged row.
    struct Record {
        let ordinal: Int
        /// What an insert would give its object, as text; nil is NULL.
        let values: [String?]
        /// The columns that it mentions.
        let mentioned: Set<Int>
        let isIncomplete: Bool
    }

    /// Values of each type, as the server shows them; there are few, so that they come again.
    private static let types: [(name: String, values: [String])] = [
        ("bigint", ["1", "-2", "9223372036854775807"]),
        ("text", ["a", "A", "a ", "", "é", "e\u{301}", "'\\"]),
        (
            "uuid",
            ["0c0e0000-0000-8000-8000-00000000000a", "0c0e0000-0000-8000-8000-00000000000b"]
        ),
        ("double precision", ["1", "NaN", "0.1", "-Infinity"]),
        ("numeric", ["1", "1.5", "123456789012345678901234567890.5"]),
        ("json", [#"{"a":1}"#, #"{"a": 1}"#, #"{"a":1,"a":1}"#, "1.0", "1", "null"]),
        ("boolean", ["t", "f"]),
        ("timestamp with time zone", ["2020-01-01 00:00:00+00", "2020-01-01 00:00:00.001+00"]),
        ("bytea", [#"\x"#, #"\x00"#, #"\x0001"#]),
    ]

    private(set) var entity: StagedEntity
    /// The statement that makes the identifier unique.
    let index: String
    let buckets: Int
    /// The objects that are in the table before.
    let stored: [[String?]]
    /// In source order.
    private(set) var records: [Record] = []
    private var types: [(name: String, values: [String])] = []

    /// - Parameter width: how many columns there are beside the identifier's.
    init(policy: ConflictPolicy, width: Int, _ random: inout SeededGenerator) {
        let keys = Int.random(in: 1...3, using: &random)
        let identifier = Set((0..<keys + width).shuffled(using: &random).prefix(keys))
        var columns: [StagedEntity.Column] = []
        for index in 0..<keys + width {
            let type = Self.types.randomElement(using: &random) ?? Self.types[0]
            types.append(type)
            let isIdentifier = identifier.contains(index)
            columns.append(
                StagedEntity.Column(
                    // As a column of the staging table, as one with a quote in it, or neither.
                    name: "\"\(["_ordinal", "c", "a\"\"b", "select"].randomElement(using: &random) ?? "")\(index)\"",
                    type: type.name,
                    isIdentifier: isIdentifier,
                    isGenerated: !isIdentifier && type.name == "uuid" && Bool.random(using: &random),
                    isJSON: type.name == "json",
                    isLocal: !isIdentifier && Int.random(in: 0..<10, using: &random) == 0
                )
            )
        }
        let index = columns.filter(\.isIdentifier).map { $0.isJSON ? "(\($0.name)::text)" : $0.name }
        entity = StagedEntity(
            table: #""settling"."Öbject""#,
            stage: #""settling"."_import_stage_1_2""#,
            columns: columns,
            policy: policy,
            tableWasEmpty: Bool.random(using: &random)
        )
        self.index = "CREATE UNIQUE INDEX ON \(entity.table) (\(index.joined(separator: ", ")))"
        buckets = Int.random(in: 1...3, using: &random)
        let few = Bool.random(using: &random) ? 2 : 9
        let types = types
        func key(_ random: inout SeededGenerator) -> [String?] {
            columns.indices.map { column in
                columns[column].isIdentifier ? types[column].values.prefix(few).randomElement(using: &random) : nil
            }
        }
        var objects: [[String?]: [String?]] = [:]
        if !entity.tableWasEmpty {
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let key = key(&random)
                objects[key] = columns.indices.map { column in
                    key[column]
                        ?? (Bool.random(using: &random) ? types[column].values.randomElement(using: &random) : nil)
                }
            }
        }
        stored = Array(objects.values)
        makeRecords(key, &random)
    }

    private mutating func makeRecords(
        _ key: (inout SeededGenerator) -> [String?],
        _ random: inout SeededGenerator
    ) {
        // Records that lack something are none under the other policies.
        let mayLack = entity.policy == .merge || entity.policy == .ignore
        let required = entity.columns.indices.filter {
            mayLack && !entity.columns[$0].isIdentifier && !entity.columns[$0].isGenerated
                && Int.random(in: 0..<4, using: &random) == 0
        }
        let defaults = types.map { Bool.random(using: &random) ? $0.values.randomElement(using: &random) : nil }
        for ordinal in 1...Int.random(in: 1...40, using: &random) where Int.random(in: 0..<8, using: &random) > 0 {
            var values = key(&random)
            var mentioned: Set<Int> = []
            var isIncomplete = false
            let share = Int.random(in: 1...9, using: &random)
            for (index, column) in entity.columns.enumerated() {
                let isMentioned = Int.random(in: 0..<10, using: &random) < share
                if isMentioned { mentioned.insert(index) }
                guard !column.isIdentifier else { continue }
                let isRequired = required.contains(index)
                if isMentioned {
                    let isNull = !isRequired && Int.random(in: 0..<3, using: &random) == 0
                    values[index] = isNull ? nil : types[index].values.randomElement(using: &random)
                } else if column.isGenerated {
                    let digits = String(1_000_000 + ordinal * 1_000 + index)
                    values[index] =
                        "0c0e0000-0000-8000-8000-\(String(repeating: "0", count: 12 - digits.count))\(digits)"
                } else if isRequired {
                    isIncomplete = true
                } else {
                    values[index] = defaults[index]
                }
            }
            records.append(Record(ordinal: ordinal, values: values, mentioned: mentioned, isIncomplete: isIncomplete))
        }
    }

    // MARK: One after the other

    /// The objects, in any order, how many records were what, and those that are rejects: `true` for what lacks something.
    struct Outcome: Equatable, CustomStringConvertible {
        var objects: [[String?]] = []
        var inserted = 0
        var updated = 0
        var unchanged = 0
        var ignored = 0
        var rejected = 0
        var rejects: [Int: Bool] = [:]

        var description: String {
            let lines = objects.map { $0.map { $0 ?? "NULL" }.joined(separator: " | ") }
            return """
                \(inserted), \(updated), \(unchanged), \(ignored), \(rejected) \(rejects.sorted { $0.key < $1.key })
                \(lines.joined(separator: "\n"))
                """
        }

        mutating func sort() {
            func text(_ object: [String?]) -> String { object.map { $0 ?? "\u{0}" }.joined(separator: "\u{1}") }
            // Strings of Swift are equal where their characters are; the server's where their bytes are.
            objects.sort { text($0).utf8.lexicographicallyPrecedes(text($1).utf8) }
        }

        static func == (left: Outcome, right: Outcome) -> Bool {
            left.description.utf8.elementsEqual(right.description.utf8)
        }
    }

    /// What taking one record after the other comes to.
    var expected: Outcome {
        var outcome = Outcome(objects: stored)
        let identifier = entity.columns.indices.filter { entity.columns[$0].isIdentifier }
        for record in records {
            let found = outcome.objects.firstIndex { object in
                identifier.allSatisfy { areSame(object[$0], record.values[$0]) }
            }
            guard let found else {
                if record.isIncomplete {
                    outcome.rejects[record.ordinal] = true
                } else {
                    outcome.objects.append(record.values)
                    outcome.inserted += 1
                }
                continue
            }
            switch entity.policy {
            case .ignore: outcome.ignored += 1
            case .error: outcome.rejects[record.ordinal] = false
            case .merge, .replace:
                let before = outcome.objects[found]
                for (index, column) in entity.columns.enumerated() where !column.isIdentifier && !column.isLocal {
                    let isSet = entity.policy == .replace && !column.isGenerated || record.mentioned.contains(index)
                    if isSet { outcome.objects[found][index] = record.values[index] }
                }
                if zip(before, outcome.objects[found]).allSatisfy(areSame) {
                    outcome.unchanged += 1
                } else {
                    outcome.updated += 1
                }
            }
        }
        outcome.rejected = outcome.rejects.count
        outcome.sort()
        return outcome
    }

    private func areSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.utf8.elementsEqual(right.utf8)
    }
}
