import ImportModel
import TestSupport

@testable import ImportPostgreSQL

/// Random objects and records of a table that refuses some, and what taking one key after the other comes to.
///
/// The table is `thing (id, a CHECK (a < 7), b NOT NULL, u UNIQUE)`.
struct RefusedCase {
    private typealias Object = [Int?]

    private struct Record {
        let ordinal: Int
        let values: Object
        let mentioned: Set<Int>
        let isIncomplete: Bool
    }

    struct Outcome: Equatable {
        /// Sorted, as texts.
        var objects: [String] = []
        /// Inserted, updated, unchanged, ignored, rejected.
        var counts = [0, 0, 0, 0, 0]
        var rejects: [Int: String] = [:]
    }

    let upsert: StagingUpsert
    private let policy: ConflictPolicy
    private let stored: [Object]
    private let records: [Record]

    init(_ policy: ConflictPolicy, _ random: inout SeededGenerator) {
        self.policy = policy
        let wasEmpty = Bool.random(using: &random)
        let isMerging = policy == .merge || policy == .replace
        let keys = Int.random(in: 1...12, using: &random)
        stored =
            wasEmpty
            ? [] : (1...keys).filter { _ in Bool.random(using: &random) }.map { [$0, 1, 1, isMerging ? nil : $0] }
        // With few keys, an object has many records.
        var records: [Record] = []
        for ordinal in 1...Int.random(in: 1...40, using: &random) {
            let isIncomplete = (policy == .merge || policy == .ignore) && Int.random(in: 0..<6, using: &random) == 0
            let mentioned = Set((0..<4).filter { _ in Int.random(in: 0..<3, using: &random) > 0 }).union([0])
                .subtracting(isIncomplete ? [2] : [])
            var values: Object = [Int.random(in: 1...keys, using: &random), nil, 1, nil]
            if mentioned.contains(1) { values[1] = Int.random(in: 3...7, using: &random) }
            if mentioned.contains(2) {
                values[2] = Int.random(in: 0..<9, using: &random) == 0 ? nil : Int.random(in: 1...2, using: &random)
            }
            // Objects that change what only one may have could be in each other's way for a moment.
            if !isMerging, mentioned.contains(3) { values[3] = Int.random(in: 1...20, using: &random) }
            records.append(Record(ordinal: ordinal, values: values, mentioned: mentioned, isIncomplete: isIncomplete))
        }
        self.records = records
        let entity = StagedEntity(
            table: "refused.thing",
            stage: "refused._import_stage_1_0",
            columns: ["id", "a", "b", "u"].map {
                StagedEntity.Column(name: $0, type: "bigint", isIdentifier: $0 == "id")
            },
            policy: policy,
            tableWasEmpty: wasEmpty
        )
        upsert = StagingUpsert(entity, buckets: 1)
    }

    // MARK: The server

    /// Makes the table, and stages the records.
    func prepare(_ connection: PGConnection, _ random: inout SeededGenerator) throws {
        func row(_ values: Object) -> String { values.map { $0.map(String.init) ?? "NULL" }.joined(separator: ", ") }
        // A table that was empty has an index only if somebody else has made one.
        let hasIndex = !upsert.entity.tableWasEmpty || Bool.random(using: &random)
        var texts = [
            "SET client_min_messages = error", "DROP SCHEMA IF EXISTS refused CASCADE", "CREATE SCHEMA refused",
            """
            CREATE TABLE refused.thing (id bigint\(hasIndex ? " PRIMARY KEY" : ""), a bigint CHECK (a < 7),
                b bigint NOT NULL, u bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)
            """,
        ]
        texts += stored.map { "INSERT INTO refused.thing VALUES (\(row($0)))" } + upsert.stageTables
        texts += records.shuffled(using: &random).map { record in
            let mask = record.mentioned.reduce(0) { $0 | 1 << $1 }
            return """
                INSERT INTO refused._import_stage_1_0 VALUES (\(record.ordinal), 0, \(mask), \(record.isIncomplete),
                    \(row(record.values)))
                """
        }
        for text in texts { try connection.execute(text) }
    }

    func outcome(_ connection: PGConnection, _ random: inout SeededGenerator) throws -> Outcome {
        try prepare(connection, &random)
        let settled = try connection.settle(upsert.statements(ofBucket: 0), policy)
        let objects = try connection.execute("SELECT id, a, b, u FROM refused.thing").map { row in
            row.values.map { $0 ?? "NULL" }.joined(separator: " ")
        }
        return Outcome(objects: objects.sorted(), counts: settled.counts, rejects: settled.rejects)
    }

    // MARK: One key after the other

    /// What becomes of an object, and of a key's records.
    private struct Turn {
        var object: Object?
        var counts = [0, 0, 0, 0]
        var rejects: [Int: String] = [:]

        /// Takes a record; `accepts` says whether an object may be as it is then.
        mutating func take(_ record: Record, _ policy: ConflictPolicy, _ accepts: (Object) -> Bool) {
            guard let before = object else {
                if record.isIncomplete {
                    rejects[record.ordinal] = "missing"
                } else if accepts(record.values) {
                    object = record.values
                    counts[0] += 1
                } else {
                    rejects[record.ordinal] = "constraintViolation"
                }
                return
            }
            switch policy {
            case .ignore: counts[3] += 1
            case .error: rejects[record.ordinal] = "duplicate"
            case .merge, .replace:
                var after = before
                for column in 1..<4 where policy == .replace || record.mentioned.contains(column) {
                    after[column] = record.values[column]
                }
                if after == before {
                    counts[2] += 1
                } else if accepts(after) {
                    object = after
                    counts[1] += 1
                } else {
                    rejects[record.ordinal] = "constraintViolation"
                }
            }
        }
    }

    var expected: Outcome {
        var objects: [Int: Object] = [:]
        for object in stored { objects[object[0] ?? 0] = object }
        var outcome = Outcome()
        var keys: [Int] = []
        for record in records where !keys.contains(record.values[0] ?? 0) { keys.append(record.values[0] ?? 0) }
        for key in keys {
            let own = records.filter { $0.values[0] == key }
            func accepts(_ object: Object) -> Bool {
                let isFree = object[3] == nil || objects.allSatisfy { $0 == key || $1[3] != object[3] }
                return (object[1] ?? 0) < 7 && object[2] != nil && isFree
            }
            var turn = Turn(object: objects[key])
            for record in own { turn.take(record, policy) { _ in true } }
            if let object = turn.object, object != objects[key], !accepts(object) {
                turn = Turn(object: objects[key])
                for record in own { turn.take(record, policy, accepts) }
            }
            objects[key] = turn.object
            outcome.counts = zip(outcome.counts, turn.counts + [turn.rejects.count]).map(+)
            outcome.rejects.merge(turn.rejects) { $1 }
        }
        outcome.objects = objects.values.map { $0.map { $0.map(String.init) ?? "NULL" }.joined(separator: " ") }
            .sorted()
        return outcome
    }
}
