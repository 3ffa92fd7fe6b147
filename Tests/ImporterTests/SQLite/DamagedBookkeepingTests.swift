import Foundation
import GRDB
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportChanges

/// Whatever the bookkeeping tables hold, no command traps, hangs or calls it a fault of its own.
struct DamagedBookkeepingTests {
    /// A store with something in most bookkeeping tables.
    private struct Sample {
        let directory: TemporaryDirectory
        let source: String
        let store: String
        let job: JobOptions
        private let content: Data

        private static let records = (1...12).map {
            "{\"key\":\"k\($0 % 9)\",\"name\":\"n\($0)\",\"count\":\($0 % 5 == 0 ? "\"x\"" : "\($0)"),\"more\":1}"
        }

        private static let model = """
            {"entities": {"thing": {"identifier": ["key"], "attributes": {
                "key": {"type": "string"}, "name": {"type": "string", "optional": true},
                "count": {"type": "integer32", "optional": true}}}}}
            """

        init(isFinished: Bool) throws {
            directory = try TemporaryDirectory()
            store = directory.path("store.sqlite")
            try DatabaseQueue(path: store).write {
                try $0.execute(
                    sql: """
                        CREATE TABLE thing (key TEXT, name TEXT, count INTEGER);
                        CREATE INDEX by_name ON thing (name);
                        """
                )
            }
            let text = Self.records.joined(separator: "\n") + "\n"
            source = try directory.write(text + (isFinished ? "" : "{\"key\":\"k"), to: "thing.ndjson")
            job = JobOptions(
                model: try ModelDescription(parsing: Array(Self.model.utf8)),
                onConflict: isFinished ? .merge : .error
            )
            var run = RunOptions(indexes: [["count"]])
            run.workers = 2
            run.commitEvery = 5
            let pipeline = ImportPipeline(sources: [source], into: store, job: job, run: run)
            if isFinished {
                _ = try pipeline.run()
                let repair = directory.path("repair.ndjson")
                _ = try StoreInspection(store: store).exportRejects(as: .repairLines, toFile: repair)
                let lines = try String(contentsOfFile: repair, encoding: .utf8).replacing(
                    "\"count\":\"x\"",
                    with: "\"count\":7"
                )
                try directory.write(lines, to: "repair.ndjson")
                _ = try ImportPipeline(retrying: repair, in: store, run: run).run()
            } else {
                #expect(throws: ImportError.self) { try pipeline.run() }
                try directory.write(text, to: "thing.ndjson")
            }
            content = try Data(contentsOf: URL(filePath: store))
            #expect(!FileManager.default.fileExists(atPath: store + "-wal"))
        }

        /// Brings the store back to what it was and damages a value.
        func damage(_ statement: String) throws {
            for name in directory.names() where name.hasPrefix("store.sqlite") && name != "store.sqlite" {
                try FileManager.default.removeItem(atPath: directory.path(name))
            }
            try content.write(to: URL(filePath: store))
            var configuration = Configuration()
            configuration.foreignKeysEnabled = false
            let database = try DatabaseQueue(path: store, configuration: configuration)
            try database.write { try $0.execute(sql: statement) }
            try database.close()
        }

        /// Damages a value as a change of the file itself can: strict tables hold values of their types alone.
        func damage(strict table: String, _ statement: String) throws {
            try damage("SELECT 1")
            let made = try run("SELECT sql FROM sqlite_master WHERE name = '\(table)'")
            let text = try #require(made)
            let loose = text.replacing(") STRICT, ", with: ") ").replacing(") STRICT", with: ")")
            func change(_ text: String) -> String {
                "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = \(text.sqlLiteral) WHERE name = '\(table)'"
            }
            // Each with a connection of its own, which reads the schema again.
            for sql in [change(loose), statement, change(text)] {
                _ = try run(sql)
            }
        }

        private func run(_ sql: String) throws -> String? {
            let database = try DatabaseQueue(path: store)
            defer { try? database.close() }
            return try database.write { database in
                if sql.hasPrefix("SELECT") { return try String.fetchOne(database, sql: sql) }
                try database.execute(sql: sql)
                return nil
            }
        }

        /// The columns of the tables that have rows, each with one of the values that no import writes there.
        func damages(_ generator: inout SeededGenerator) throws -> [(table: String, statement: String)] {
            let database = try DatabaseQueue(path: store)
            defer { try? database.close() }
            return try database.read { database in
                let columns = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT list.name AS "table", info.name AS "column", info.type FROM pragma_table_list AS list,
                            pragma_table_info(list.name) AS info
                        WHERE list.name LIKE '\\_import\\_%' ESCAPE '\\'
                        """
                )
                return try columns.flatMap { row -> [(table: String, statement: String)] in
                    let (table, column): (String, String) = (row["table"], row["column"])
                    let isThere = try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM \(table))") ?? false
                    guard isThere else { return [] }
                    let values =
                        switch row["type"] as String {
                        case "INTEGER": ["-1", "0", "1", "\(Int64.max)", "\(Int64.min + 1)", "2147483647", "1 << 53"]
                        case "REAL": ["-1.0", "9e999", "1e300"]
                        case "BLOB": ["x''", "x'ff'", "zeroblob(100000)", "x'ffffffffffffffffff7f'"]
                        default:
                            [
                                "''", "'{}'", "'{['", "'[]'", "'x'", "'finished'", "'[\"$.a\",3]'", "'/dev/zero'",
                                "printf('%.*c', 300000, '[')", "'{\"byteOffset\":-1}'",
                                "replace(\"\(column)\", '1', '-1')",
                                "replace(\"\(column)\", '0', '9223372036854775807')",
                                "replace(\"\(column)\", '$', '[')",
                            ]
                        }
                    return values.shuffled(using: &generator).prefix(1).map {
                        (table, "UPDATE OR IGNORE \(table) SET \"\(column)\" = \($0)")
                    }
                }
            }
        }
    }

    private static func commands(_ sample: Sample) -> [(name: String, isWriting: Bool, run: () throws -> Void)] {
        let store = sample.store
        let run = RunOptions(workers: 2, commitEvery: 5, durability: .off)
        return [
            ("status", false, { _ = try StoreInspection(store: store).status() }),
            ("jobs", false, { _ = try StoreInspection(store: store).jobs() }),
            ("tables", false, { _ = try StoreInspection(store: store).tables() }),
            ("unfinished", false, { _ = try StoreInspection(store: store).unfinished() }),
            ("verify", false, { _ = try StoreInspection(store: store).verify() }),
            ("rejects", false, { try StoreInspection(store: store).forEachReject { _ in } }),
            ("fetch", false, { for entity in try StoreReader(store: store).entities { _ = entity.name } }),
            ("follow", false, { _ = try StoreFollower(store: store, from: .start).poll() }),
            ("watch", false, { _ = try StoreWatch(store: store).look() }),
            ("resume", true, { _ = try ImportPipeline(resuming: store, run: run).run() }),
            (
                "import", true,
                { _ = try ImportPipeline(sources: [sample.source], into: store, job: sample.job, run: run).run() }
            ),
            (
                "restart", true,
                {
                    var run = run
                    run.restart = true
                    _ = try ImportPipeline(sources: [sample.source], into: store, job: sample.job, run: run).run()
                }
            ),
            (
                "retry", true,
                { _ = try ImportPipeline(retrying: nil, in: store, model: sample.job.model, run: run).run() }
            ),
        ]
    }

    /// What `jobs` and `tables` read.
    private static let compared = [
        "_import_entity", "_import_job", "_import_source", "_import_document",
        "_import_reject", "_import_retry",
    ]

    @Test(arguments: [true, false])
    func everyCommandEndsInOrder(isFinished: Bool) throws {
        let sample = try Sample(isFinished: isFinished)
        var generator = SeededGenerator(seed: 17)
        let damages = try sample.damages(&generator)
        #expect(Set(damages.map(\.table)).count >= 11, "\(Set(damages.map(\.table)))")
        let commands = Self.commands(sample)
        for damage in damages {
            try sample.damage(damage.statement)
            var isUsed = false
            // Commands that only read take no time; of the others, each damage meets one.
            let writing = commands.filter(\.isWriting).randomElement(using: &generator)?.name
            for command in commands where !command.isWriting || command.name == writing {
                // The other tables are read by neither.
                if ["jobs", "tables"].contains(command.name), !Self.compared.contains(damage.table) { continue }
                if isUsed { try sample.damage(damage.statement) }
                isUsed = command.isWriting
                do {
                    try command.run()
                } catch let error as ImportError {
                    #expect(error.code != .software, "\(damage.statement): \(command.name): \(error)")
                } catch {
                    Issue.record("\(damage.statement): \(command.name): \(error)")
                }
            }
        }
    }

    @Test(arguments: [
        ("_import_job", "source", "-1", "-1"),
        ("_import_job", "source", "5", "5"),
        ("_import_job", "bytes", "\(Int64.max)", "\(Int64.max)"),
        ("_import_job", "options", "99", "99"),
        ("_import_source", "layout", "99", "99"),
        ("_import_source", "description", "'{}'", "'{}'"),
        ("_import_job", "state", "'dreaming'", "'dreaming'"),
        ("_import_entity", "inserted", "\(Int64.max)", "\(Int64.max)"),
        ("_import_document", "content", "'{['", "'{['"),
    ])
    func saysWhichValueIsDamaged(table: String, column: String, value: String, shown: String) throws {
        let sample = try Sample(isFinished: false)
        try sample.damage("UPDATE \(table) SET \(column) = \(value)")
        let expected = "the store is damaged: \(table).\(column) is \(shown)"
        for command in Self.commands(sample) where ["status", "resume"].contains(command.name) {
            let error = #expect(throws: ImportError.self, "\(command.name)") { try command.run() }
            #expect(error?.code == .io)
            #expect(error?.message.hasSuffix(expected) ?? false, "\(command.name): \(error.map { "\($0)" } ?? "")")
        }
    }

    /// A value that a command reads.
    struct Damage: Sendable, CustomTestStringConvertible {
        let table: String
        let column: String
        let value: String
        /// How the message has it; nil where the value only chooses a row, or may be any.
        let shown: String?

        init(_ place: String, _ value: String, _ shown: String?) {
            let parts = place.split(separator: ".").map(String.init)
            (table, column) = (parts[0], parts[1])
            (self.value, self.shown) = (value, shown)
        }

        var command: String {
            switch table {
            case "_import_addition": "restart"
            case "_import_file": "resume"
            case "_import_job": "jobs"
            default: "tables"
            }
        }

        var testDescription: String { "\(table).\(column) = \(value)" }
    }

    private static let blob = "a BLOB of 1 bytes"

    static let damages: [Damage] = [
        Damage("_import_addition.kind", "'dreaming'", "'dreaming'"),
        Damage("_import_addition.kind", "x'ff'", blob),
        Damage("_import_addition.table_name", "x'ff'", blob),
        Damage("_import_addition.name", "x'ff'", blob),
        Damage("_import_addition.job", "x'ff'", nil),
        Damage("_import_file.kind", "'dreaming'", "'dreaming'"),
        Damage("_import_file.kind", "x'ff'", blob),
        Damage("_import_file.state", "'dreaming'", "'dreaming'"),
        Damage("_import_file.state", "x'ff'", blob),
        Damage("_import_file.is_made", "-1", "-1"),
        Damage("_import_file.is_made", "x'ff'", blob),
        Damage("_import_file.path", "'others'", "'others'"),
        Damage("_import_file.path", "x'ff'", blob),
        Damage("_import_file.token", "x'ff'", blob),
        Damage("_import_file.device", "x'ff'", blob),
        Damage("_import_file.device", "\(Int64.min)", nil),
        Damage("_import_file.inode", "NULL", "NULL"),
        Damage("_import_file.inode", "x'ff'", blob),
        Damage("_import_entity.fingerprint", "'{['", "'{['"),
        Damage("_import_entity.fingerprint", "x'ff'", blob),
        Damage("_import_entity.fingerprint", "NULL", nil),
        Damage("_import_entity.rows_before", "-1", "-1"),
        Damage("_import_entity.rows_before", "x'ff'", blob),
        Damage("_import_entity.inserted", "\(Int64.max)", "\(Int64.max)"),
        Damage("_import_entity.table_name", "x'ff'", blob),
        Damage("_import_job.started", "x'ff'", blob),
        Damage("_import_job.finished", "x'ff'", blob),
        Damage("_import_job.finished", "NULL", nil),
    ]

    @Test(arguments: [true, false]) func saysWhichValueOfAnyColumnIsDamaged(isFinished: Bool) throws {
        let sample = try Sample(isFinished: isFinished)
        let damages = Self.damages.filter { ["tables", "jobs"].contains($0.command) == isFinished }
        for damage in damages { try check(damage, in: sample) }
    }

    private func check(_ damage: Damage, in sample: Sample) throws {
        let command = try #require(Self.commands(sample).first { $0.name == damage.command })
        var statement = "UPDATE OR REPLACE \(damage.table) SET \(damage.column) = \(damage.value)"
        if damage.command == "restart" {
            statement =
                "DELETE FROM _import_addition;"
                + "INSERT INTO _import_addition (job, table_name, kind, name) VALUES (1, 'thing', 'index', 'one of no table');"
                + statement
        }
        try sample.damage(strict: damage.table, statement)
        guard let shown = damage.shown else {
            #expect(throws: Never.self, "\(damage)") { try command.run() }
            return
        }
        let error = #expect(throws: ImportError.self, "\(damage)") { try command.run() }
        #expect(error?.code == .io, "\(damage)")
        let expected = "the store is damaged: \(damage.table).\(damage.column) is \(shown)"
        #expect(error?.message.hasSuffix(expected) ?? false, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func oneBadRejectDoesNotHideTheOthers() throws {
        let sample = try Sample(isFinished: false)
        var all: [Int64] = []
        try StoreInspection(store: sample.store).forEachReject { all.append($0.number) }
        try #require(all.count == 2)
        try sample.damage("UPDATE _import_reject SET errors = '{[' WHERE id = \(all[0])")
        var listed: [Int64] = []
        let inspection = StoreInspection(store: sample.store)
        let error = #expect(throws: ImportError.self) { try inspection.forEachReject { listed.append($0.number) } }
        #expect(listed == [all[1]])
        #expect(error?.code == .io)
        #expect(error?.description.contains("_import_reject.errors is '{['\nReject \(all[0]) cannot be read") ?? false)
        // What can be read is written to a file, too.
        let file = sample.directory.path("fix.ndjson")
        #expect(throws: ImportError.self) { try inspection.exportRejects(as: .raw, toFile: file) }
        #expect(try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").count == 1)
    }
}
