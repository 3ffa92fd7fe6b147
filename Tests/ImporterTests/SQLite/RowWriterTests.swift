import GRDB
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportSQLite

struct RowWriterTests {
    /// A table of items in memory, and what writes its rows.
    private final class Table {
        let database: DatabaseQueue
        let plan: EntityPlan
        private var decoder: RecordDecoder

        /// - Parameters:
        ///   - constraint: of the table's own.
        ///   - triggers: of the table's own, as SQL.
        init(
            _ onConflict: ConflictPolicy = .merge,
            identifier: [String] = ["key"],
            constraint: String = "",
            triggers: String = ""
        ) throws {
            plan = try EntityPlan(
                attributes: """
                    "key": {"type": "string"},
                    "a": {"type": "integer64", "optional": true},
                    "b": {"type": "string", "default": "none"},
                    "must": {"type": "double"}
                    """,
                identifier: identifier,
                onConflict: onConflict
            )
            decoder = RecordDecoder(plan: plan, JobOptions())
            database = try DatabaseQueue()
            try database.write {
                try $0.execute(
                    sql: "CREATE TABLE item (key TEXT, a INTEGER, b TEXT, must REAL\(constraint)); \(triggers)"
                )
                if identifier == ["key"] { try $0.execute(sql: "CREATE UNIQUE INDEX item_key ON item (key)") }
            }
        }

        /// Writes the rows of records.
        ///
        /// - Parameter isGathered: whether rows are only gathered until something has to be known of them.
        /// - Returns: what became of them, and before which of them it had to be known.
        func write(_ records: [String], isGathered: Bool = false) throws -> (effects: [String], settled: [Int]) {
            let decoded = DecodedRecords(records, by: &decoder)
            return try database.write { database in
                let constraints = try TableConstraints(of: plan.entity, database)
                let writer = try RowWriter(database, plan: plan, constraints: constraints)
                if isGathered { writer.presence = PresenceMasks() }
                var effects: [String] = []
                var settled: [Int] = []
                try writer.write(
                    decoded.batch,
                    chunkBytes: decoded.chunk,
                    settle: {
                        settled.append(effects.count)
                        writer.presence = nil
                    }
                ) { index, effect in
                    #expect(index == effects.count)
                    effects.append(Self.text(effect))
                }
                return (effects, settled)
            }
        }

        private static func text(_ effect: RowWriter.Effect) -> String {
            switch effect {
            case .inserted(let rowID): "inserted \(rowID)"
            case .updated(let rowID): "updated \(rowID)"
            case .unchanged: "unchanged"
            case .ignored: "ignored"
            case .duplicate: "duplicate"
            case .incomplete: "incomplete"
            case .waiting: "waiting"
            case .refused(let refusal): "refused \(refusal.columns)"
            }
        }

        var rows: [String] {
            get throws {
                try database.read {
                    try String.fetchAll(
                        $0,
                        sql: """
                            SELECT rowid || '|' || quote(key) || '|' || quote(a) || '|' || quote(b) || '|' || quote(must)
                            FROM item ORDER BY rowid
                            """
                    )
                }
            }
        }
    }

    @Test func insertsWhatRecordsMentionAndDefaults() throws {
        let table = try Table(identifier: [])
        let records = [
            #"{"key": "x", "must": 1}"#, #"{"must": 2.5, "a": null, "key": "\u00e9\"", "b": "own"}"#,
            #"{"key": "x", "a": 9223372036854775807, "must": 1e300, "b": ""}"#,
        ]
        #expect(try table.write(records).effects == ["inserted 1", "inserted 2", "inserted 3"])
        #expect(
            try table.rows == [
                "1|'x'|NULL|'none'|1.0", "2|'é\"'|NULL|'own'|2.5", "3|'x'|9223372036854775807|''|1.0e+300",
            ]
        )
    }

    // MARK: Objects that are there

    /// The same as a dictionary of objects, in the slowest and most obvious way.
    private struct Model {
        let policy: ConflictPolicy
        private(set) var objects: [String: (rowID: Int, a: String, b: String, must: String)] = [:]

        var rows: [String] {
            objects.sorted { $0.value.rowID < $1.value.rowID }
                .map { "\($1.rowID)|'\($0)'|\($1.a)|\($1.b)|\($1.must)" }
        }

        mutating func write(_ key: String, a: String?, b: String?, must: String?) -> String {
            guard let old = objects[key] else {
                guard let must else { return "incomplete" }
                objects[key] = (objects.count + 1, a ?? "NULL", b ?? "'none'", must)
                return "inserted \(objects.count)"
            }
            if policy == .ignore { return "ignored" }
            if policy == .error { return "duplicate" }
            var new = old
            new.a = a ?? (policy == .replace ? "NULL" : old.a)
            new.b = b ?? (policy == .replace ? "'none'" : old.b)
            new.must = must ?? old.must
            objects[key] = new
            return new == old ? "unchanged" : "updated \(old.rowID)"
        }
    }

    @Test(arguments: [ConflictPolicy.merge, .replace, .ignore, .error])
    func treatsObjectsThatAreThereAsThePolicySays(_ policy: ConflictPolicy) throws {
        let table = try Table(policy)
        var model = Model(policy: policy)
        var random = SeededGenerator(seed: 11)
        for _ in 0..<20 {
            var records: [String] = []
            var expected: [String] = []
            for _ in 0..<20 {
                let key = "k\(random.next(60))"
                let a = [nil, "NULL", "1", "2"][random.next(4)]
                let b = [nil, "'v'", "'none'"][random.next(3)]
                // Records that must have all are rejects before they are rows.
                let mayLack = policy == .merge || policy == .ignore
                let must = random.next(3) == 0 && mayLack ? nil : "\(random.next(2)).5"
                var members = ["\"key\": \"\(key)\""]
                if let a { members.append("\"a\": \(a == "NULL" ? "null" : a)") }
                if let b { members.append("\"b\": \(b.replacing("'", with: "\""))") }
                if let must { members.append("\"must\": \(must)") }
                records.append("{\(members.shuffled(using: &random).joined(separator: ", "))}")
                expected.append(model.write(key, a: a, b: b, must: must))
            }
            #expect(try table.write(records).effects == expected)
            #expect(try table.rows == model.rows)
        }
    }

    /// Rows are gathered as they come until one of them needs to know which objects there are.
    @Test func asksForWhatIsThereOnceItMatters() throws {
        let table = try Table()
        let records = [
            #"{"key": "x", "must": 1}"#, #"{"key": "y", "must": 2}"#, #"{"key": "y"}"#, #"{"key": "x", "must": 3}"#,
            #"{"key": "z", "a": 1}"#, #"{"key": "z", "must": 1}"#,
        ]
        let (effects, settled) = try table.write(records, isGathered: true)
        #expect(settled == [2])
        #expect(effects == ["inserted 1", "inserted 2", "unchanged", "updated 1", "incomplete", "inserted 3"])
        #expect(try table.rows == ["1|'x'|NULL|'none'|3.0", "2|'y'|NULL|'none'|2.0", "3|'z'|NULL|'none'|1.0"])
    }

    /// Where incomplete records may wait, none of them needs to know which objects there are, and none is written.
    @Test func letsIncompleteRecordsWait() throws {
        let table = try Table()
        table.plan.keepsIncomplete = true
        let records = [
            #"{"key": "x"}"#, #"{"key": "x", "must": 1}"#, #"{"key": "x", "a": 2}"#, #"{"key": "y", "must": 3}"#,
        ]
        let (effects, settled) = try table.write(records, isGathered: true)
        #expect(settled == [])
        #expect(effects == ["waiting", "inserted 1", "waiting", "inserted 2"])
        #expect(try table.rows == ["1|'x'|NULL|'none'|1.0", "2|'y'|NULL|'none'|3.0"])
    }

    private static let triggers = ["INSERT", "UPDATE"]
        .map {
            "CREATE TRIGGER on_\($0) BEFORE \($0) ON item WHEN new.a >= 10 OR new.b = 'no' "
                + "BEGIN SELECT RAISE(ABORT, 'no'); END;"
        }
        .joined()

    /// A row that the table refuses is not there, neither inserted nor updated, and the rows beside it are.
    @Test(arguments: [(", CHECK (a < 10 AND b <> 'no')", ""), ("", triggers)])
    func leavesOutWhatTheTableRefuses(constraint: String, triggers: String) throws {
        let table = try Table(constraint: constraint, triggers: triggers)
        let records = [
            #"{"key": "x", "a": 1, "must": 1}"#, #"{"key": "y", "a": 10, "must": 1}"#,
            #"{"key": "x", "b": "no", "must": 2}"#, #"{"key": "y", "a": 9, "must": 1}"#,
        ]
        let effects = try table.write(records).effects
        #expect(effects.map { $0.prefix { $0 != " " } } == ["inserted", "refused", "refused", "inserted"])
        #expect(try table.rows == ["1|'x'|1|'none'|1.0", "2|'y'|9|'none'|1.0"])
    }
}
