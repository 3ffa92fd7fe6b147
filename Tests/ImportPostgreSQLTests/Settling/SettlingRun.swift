import TestSupport

@testable import ImportPostgreSQL

/// What the server makes of a case: rows are staged by INSERTs, and all statements run as they are.
struct SettlingRun {
    private let session: PostgreSQLSession

    init() throws {
        let server = try PostgreSQLServer.shared()
        session = server.session(with: try server.makeDatabase())
    }

    func outcome(of test: SettlingCase, _ random: inout SeededGenerator) throws -> SettlingCase.Outcome {
        let (entity, upsert) = (test.entity, StagingUpsert(test.entity, buckets: test.buckets))
        var texts = [
            """
            SET client_min_messages = error; DROP SCHEMA IF EXISTS settling CASCADE; CREATE SCHEMA settling; \
            CREATE TABLE \(entity.table) (\(entity.columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")))
            """
        ]
        if !entity.tableWasEmpty { texts.append(test.index) }
        if !test.stored.isEmpty {
            let rows = test.stored.map { "(\(literals($0, entity)))" }.joined(separator: ", ")
            texts.append("INSERT INTO \(entity.table) VALUES \(rows)")
        }
        // Staging can be begun again, too.
        texts += upsert.stageTables + upsert.stageTables
        let rows = test.records.shuffled(using: &random).map { record in
            "(\(record.ordinal), 0, \(masks(record, entity)), \(record.isIncomplete), \(literals(record.values, entity)))"
        }
        if !rows.isEmpty {
            let columns = upsert.stageColumns.joined(separator: ", ")
            texts.append("INSERT INTO \(entity.stage) (\(columns)) VALUES \(rows.joined(separator: ", "))")
        }
        for bucket in (0..<upsert.buckets).shuffled(using: &random) {
            let statements = upsert.statements(ofBucket: bucket)
            let settling = statements.settling
            // It is killed anywhere, and begun again.
            let some = settling.prefix(Int.random(in: 0...settling.count, using: &random))
            texts.append((["BEGIN"] + some + ["ROLLBACK"]).joined(separator: ";\n"))
            let asked = [
                "SELECT 'reject', _ordinal, missing FROM (\(statements.rejects)) AS rejects",
                "SELECT 'counts', inserted, updated, unchanged, ignored, rejected FROM (\(statements.counts)) AS counts",
            ]
            texts += ["BEGIN"] + settling + asked + ["COMMIT"]
        }
        texts += Array(repeating: StagingUpsert.dropping(upsert.entity.stage), count: 2)
        if entity.tableWasEmpty { texts.append(test.index) }
        texts += ["SET timezone = 'UTC'", "SET bytea_output = 'hex'"]
        texts.append("SELECT 'object', * FROM \(entity.table)")
        return try outcome(try texts.flatMap { try session.query($0) })
    }

    private func masks(_ record: SettlingCase.Record, _ entity: StagedEntity) -> String {
        (0..<max(1, (entity.columns.count + 62) / 63)).map { mask in
            let bits = record.mentioned.filter { $0 / 63 == mask }.map { Int64(1) << Int64($0 % 63) }
            return String(bits.reduce(0, |))
        }.joined(separator: ", ")
    }

    private func literals(_ values: [String?], _ entity: StagedEntity) -> String {
        zip(values, entity.columns).map { value, column in
            value.map { "\($0.quotedLiteral)::\(column.type)" } ?? "NULL"
        }.joined(separator: ", ")
    }

    private func outcome(_ rows: [[String?]]) throws -> SettlingCase.Outcome {
        var outcome = SettlingCase.Outcome()
        for row in rows {
            let numbers = row.dropFirst().map { $0.flatMap { Int($0) } ?? 0 }
            switch row.first {
            case "object": outcome.objects.append(Array(row.dropFirst()))
            case "reject": outcome.rejects[numbers[0]] = row[2] == "t"
            case "counts":
                outcome.inserted += numbers[0]
                outcome.updated += numbers[1]
                outcome.unchanged += numbers[2]
                outcome.ignored += numbers[3]
                outcome.rejected += numbers[4]
            default: throw UnexpectedRow(row: row)
            }
        }
        outcome.sort()
        return outcome
    }
}

/// What none of the queries gives.
struct UnexpectedRow: Error {
    let row: [String?]
}

extension String {
    fileprivate var quotedLiteral: String { "'\(replacing("'", with: "''"))'" }
}
