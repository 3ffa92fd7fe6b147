import ImportModel
import TestSupport
import Testing

@testable import ImportPostgreSQL

@Suite(.enabled(if: PostgreSQLServer.isAvailable))
struct StagingUpsertTests {
    @Test(arguments: ConflictPolicy.allCases)
    func settlesAsIfOneRecordWereTakenAfterTheOther(_ policy: ConflictPolicy) throws {
        let run = try SettlingRun()
        for seed in 0..<UInt64(Cases.few(10, of: 25)) {
            var random = SeededGenerator(seed: seed)
            let test = SettlingCase(policy: policy, width: Int(seed % 7), &random)
            let outcome = try run.outcome(of: test, &random)
            #expect(outcome == test.expected, "seed \(seed)")
        }
    }

    @Test(arguments: Cases.few(1, of: [124, 900, 62, 450]))
    func settlesRowsOfManyMasks(_ width: Int) throws {
        let run = try SettlingRun()
        for (seed, policy) in [ConflictPolicy.merge, .replace, .ignore].enumerated() {
            var random = SeededGenerator(seed: UInt64(seed))
            let test = SettlingCase(policy: policy, width: width, &random)
            let outcome = try run.outcome(of: test, &random)
            #expect(outcome == test.expected, "\(policy)")
        }
    }

    @Test(arguments: Cases.few(1, of: [false, true]))
    func settlesTheWidestTable(_ wasEmpty: Bool) throws {
        let server = try PostgreSQLServer.shared()
        let database = try server.makeDatabase()
        let width = StagingUpsert.mostColumns
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
        let masks = (width + 62) / 63
        let statements = upsert.statements(ofBucket: 0)
        // An object, and three records that set its first column, its last one, and nothing.
        func row(_ ordinal: Int, sets column: Int) -> String {
            let bits = (0..<masks).map { $0 == column / 63 ? "\(Int64(1) << Int64(column % 63))" : "0" }
            let values = (0..<width).map { $0 == 0 ? "7" : $0 == column ? "\(ordinal)" : "NULL" }
            return "(\(ordinal), 0, \(bits.joined(separator: ", ")), false, \(values.joined(separator: ", ")))"
        }
        var texts = ["CREATE TABLE public.wide (\(columns.map { "\($0.name) smallint" }.joined(separator: ", ")))"]
        if !wasEmpty { texts.append("INSERT INTO public.wide (a0, a1) VALUES (7, 1)") }
        texts += upsert.stageTables
        let rows = [row(1, sets: 1), row(2, sets: width - 1), row(3, sets: 0), row(4, sets: 800)]
        texts.append("INSERT INTO public._import_stage_1_0 VALUES \(rows.joined(separator: ", "))")
        texts.append((["BEGIN"] + statements.settling + [statements.counts, "COMMIT"]).joined(separator: "; "))
        texts.append(StagingUpsert.dropping(upsert.entity.stage))
        texts.append("SELECT a0, a1, a2, a800, a\(width - 1) FROM public.wide")
        let folder = try TemporaryDirectory()
        let path = try folder.write(texts.joined(separator: ";\n") + ";\n", to: "wide.sql")
        let found = try server.query("\\i \(path)", in: database)
        #expect(
            found == [wasEmpty ? ["1", "2", "1", "0", "0"] : ["0", "2", "2", "0", "0"], ["7", "1", nil, "4", "2"]]
        )
        withExtendedLifetime(folder) {}
    }

    @Test func settlesManyRecordsOfOneObject() throws {
        let server = try PostgreSQLServer.shared()
        let database = try server.makeDatabase()
        let entity = StagedEntity(
            table: "public.hot",
            stage: "public._import_stage_1_0",
            columns: [
                StagedEntity.Column(name: "id", type: "bigint", isIdentifier: true),
                StagedEntity.Column(name: "a", type: "text"),
                StagedEntity.Column(name: "b", type: "json", isJSON: true),
            ],
            policy: .merge,
            tableWasEmpty: true
        )
        let upsert = StagingUpsert(entity, buckets: 2)
        var texts = ["CREATE TABLE public.hot (id bigint, a text, b json)"] + upsert.stageTables
        // Every third one says b, which stays as it is for ten of these; a is always another one.
        texts.append(
            """
            INSERT INTO public._import_stage_1_0 SELECT i, 0, CASE WHEN i % 3 = 0 THEN 7 ELSE 3 END, false, 1, i::text,
            CASE WHEN i % 3 = 0 THEN to_json(repeat('x', 2000) || i / 30) END FROM generate_series(1, 20000) AS i
            """
        )
        for bucket in 0..<2 {
            let statements = upsert.statements(ofBucket: bucket)
            texts += ["BEGIN"] + statements.settling + [statements.counts, "COMMIT"]
        }
        texts.append("SELECT a, right(b::text, 4) FROM public.hot")
        let folder = try TemporaryDirectory()
        let path = try folder.write(texts.joined(separator: ";\n") + ";\n", to: "hot.sql")
        let rows = try server.query("\\i \(path)", in: database)
        #expect(Set(rows) == [["0", "0", "0", "0", "0"], ["1", "19999", "0", "0", "0"], ["20000", "666\""]])
        withExtendedLifetime(folder) {}
    }

    @Test func makesBucketsForWhatMemoryHolds() {
        #expect(StagingUpsert.buckets(forBytes: 0) == 1)
        #expect(StagingUpsert.buckets(forBytes: 472 << 20) == 8)
        #expect(StagingUpsert.buckets(forBytes: 472 << 20, tableWasEmpty: false) == 2)
        #expect(StagingUpsert.buckets(forBytes: 1 << 40) == 256)
        #expect(StagingUpsert.buckets(forBytes: .max) == 256)
    }
}
