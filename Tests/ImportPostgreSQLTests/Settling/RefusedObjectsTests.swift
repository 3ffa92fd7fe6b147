import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportPostgreSQL

/// Objects that the table refuses, whatever else is in their bucket.
@Suite(.enabled(if: PostgreSQLServer.isAvailable))
struct RefusedObjectsTests {
    @Test(arguments: ConflictPolicy.allCases)
    func agreesWithOneKeyAfterTheOther(_ policy: ConflictPolicy) throws {
        let database = try PGDatabase()
        let connection = try database.connect()
        defer { connection.close() }
        for seed in 0..<UInt64(Cases.few(12, of: 60)) {
            var random = SeededGenerator(seed: seed)
            let test = RefusedCase(policy, &random)
            #expect(try test.outcome(connection, &random) == test.expected, "seed \(seed)")
        }
    }

    /// Of a wide table some columns are written at a time.
    @Test(arguments: Cases.few(1, of: [false, true]))
    func takesRecordsOfWideTables(_ wasEmpty: Bool) throws {
        let database = try PGDatabase()
        let connection = try database.connect()
        defer { connection.close() }
        let width = 900
        let columns = (0..<width).map {
            StagedEntity.Column(name: "a\($0)", type: "smallint", isIdentifier: $0 == 0)
        }
        let entity = StagedEntity(
            table: "public.wide",
            stage: "public._import_stage_1_0",
            columns: columns,
            policy: .merge,
            tableWasEmpty: wasEmpty
        )
        let upsert = StagingUpsert(entity, buckets: 1)
        // Records of two objects: each sets a column.
        func row(_ ordinal: Int, of key: Int, sets column: Int, to value: Int) -> String {
            let bits = (0..<(width + 62) / 63).map { $0 == column / 63 ? "\(Int64(1) << Int64(column % 63))" : "0" }
            let values = (0..<width).map { $0 == 0 ? "\(key)" : $0 == column ? "\(value)" : "NULL" }
            return "(\(ordinal), 0, \(bits.joined(separator: ", ")), false, \(values.joined(separator: ", ")))"
        }
        let definitions = columns.map { "\($0.name) smallint" }.joined(separator: ", ")
        try database.query("CREATE TABLE public.wide (\(definitions), CHECK (a899 < 5))")
        if !wasEmpty { try database.query("INSERT INTO public.wide (a0, a1) VALUES (1, 9), (2, 9)") }
        for statement in upsert.stageTables { try connection.execute(statement) }
        let rows = [
            row(1, of: 1, sets: 1, to: 1), row(2, of: 1, sets: 500, to: 2), row(3, of: 1, sets: 899, to: 5),
            row(4, of: 1, sets: 898, to: 4), row(5, of: 1, sets: 898, to: 4), row(6, of: 2, sets: 899, to: 4),
        ]
        try connection.execute("INSERT INTO public._import_stage_1_0 VALUES \(rows.joined(separator: ", "))")
        let outcome = try connection.settle(upsert.statements(ofBucket: 0), .merge)
        #expect(outcome.counts == (wasEmpty ? [2, 2, 1, 0, 1] : [0, 4, 1, 0, 1]))
        #expect(outcome.rejects == [3: "constraintViolation"])
        let found = try database.query("SELECT a0, a1, a500, a898, a899 FROM public.wide ORDER BY a0")
        #expect(found == [["1", "1", "2", "4", nil], ["2", wasEmpty ? nil : "9", nil, nil, "4"]])
    }

    /// What is not about a row ends it, and nothing of the bucket stays.
    @Test func otherFailuresAreNone() throws {
        let database = try PGDatabase()
        let connection = try database.connect()
        defer { connection.close() }
        var random = SeededGenerator(seed: 1)
        let test = RefusedCase(.merge, &random)
        try test.prepare(connection, &random)
        try database.query("ALTER TABLE refused.thing RENAME TO other")
        let failure = #expect(throws: PGError.self) {
            try connection.settle(test.upsert.statements(ofBucket: 0), .merge)
        }
        #expect(failure?.sqlState == "42P01")
    }
}

extension PGConnection {
    /// What settling a bucket comes to: the counts, and for each reject why it is one.
    func settle(_ statements: BucketUpsertStatements, _ policy: ConflictPolicy) throws -> (
        counts: [Int], rejects: [Int: String]
    ) {
        try transaction {
            for statement in statements.reading { try execute(statement) }
            let failure = try refusal { for statement in statements.writing { try execute(statement) } }
            if let failure {
                var parts = BisectingUpsert(statements.parts, policy, self, Interruption())
                try parts.settle(after: failure)
            }
            try execute(statements.emptying)
            var rejects: [Int: String] = [:]
            for row in try execute(statements.rejects) {
                rejects[Int(try row.integer(0))] = try row.optionalText(3) ?? (row.bool(2) ? "missing" : "duplicate")
            }
            let counts = try execute(statements.counts).map { row in try (0..<5).map { Int(try row.integer($0)) } }
            return (counts.first ?? [], rejects)
        }
    }
}
