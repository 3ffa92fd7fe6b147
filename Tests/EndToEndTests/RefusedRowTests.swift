import Foundation
import TestSupport
import Testing

/// Rows that a table refuses where the store has neither triggers nor foreign keys, so that statements stand by themselves.
struct RefusedRowTests {
    private let patched: PatchedStore

    init() throws {
        patched = try PatchedStore()
        try patched.make(
            "s.db",
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL, n INTEGER CHECK (n < 100), u TEXT UNIQUE ON CONFLICT REPLACE);
            CREATE TABLE w(k TEXT PRIMARY KEY, v INTEGER CHECK (v < 100)) WITHOUT ROWID;
            INSERT INTO t VALUES(1,'a',1,'u1'),(2,'b',2,'u2'),(3,'c',3,'u3'),(4,'d',4,'u4'),(5,'e',5,'u5');
            INSERT INTO w VALUES('x',1),('y',2);
            """
        )
    }

    private static let entities = """
        {"t":{"identifier":["id"],"attributes":{"id":{"type":"any"},"a":{"type":"any"},"n":{"type":"any"},"u":{"type":"any"}}},\
        "w":{"identifier":["k"],"attributes":{"k":{"type":"any"},"v":{"type":"any"}}}}
        """

    private func updated(_ id: Int, _ old: String, _ new: String) -> String {
        #"{"change":"updated","entityName":"t","identifier":{"id":\#(id)},"attributes":{"old":{\#(old)},"new":{\#(new)}}}"#
    }

    private func inserted(_ id: Int, _ rest: String) -> String {
        #"{"change":"inserted","entityName":"t","identifier":{"id":\#(id)},"attributes":{"new":{"id":\#(id),\#(rest)}}}"#
    }

    private func things() throws -> String {
        try patched.rows("SELECT id, a, n, u FROM t UNION ALL SELECT k, v, NULL, NULL FROM w ORDER BY 1")
    }

    @Test(arguments: [1, 3, 1_000], [false, true])
    func staysAndTheRestIsAppliedAndTakenBack(_ commitEvery: Int, _ hasTrigger: Bool) throws {
        if hasTrigger {
            try patched.make(
                "s.db",
                "CREATE TABLE unrelated(x); CREATE TRIGGER harmless AFTER INSERT ON unrelated BEGIN SELECT 1; END"
            )
        }
        let before = try patched.digest
        try patched.write(
            Self.entities,
            [
                updated(1, #""a":"a","n":1"#, #""a":"A","n":500"#),
                updated(2, #""a":"b""#, #""a":null"#),
                updated(3, #""u":"u3""#, #""u":"u4""#),
                updated(4, #""a":"d""#, #""a":"D""#),
                inserted(6, #""a":"f","n":6,"u":"u5""#),
                inserted(7, #""a":"g","n":700,"u":"u7""#),
                inserted(8, #""a":"h","n":8,"u":"u8""#),
                #"{"change":"deleted","entityName":"t","identifier":{"id":5},"attributes":{"old":{"id":5,"a":"e","n":5,"u":"u5"}}}"#,
                #"{"change":"updated","entityName":"w","identifier":{"k":"x"},"attributes":{"old":{"v":1},"new":{"v":101}}}"#,
                #"{"change":"updated","entityName":"w","identifier":{"k":"y"},"attributes":{"old":{"v":2},"new":{"v":3}}}"#,
            ]
        )
        let report = try patched.report("patch", "--conflicts", "keep", "--commit-every", "\(commitEvery)")
        #expect(
            patched.counts(report)
                == [
                    "records_read": 10, "inserted": 2, "updated": 2, "deleted": 1, "rejected": 5, "conflicts": 5,
                ]
        )
        #expect(try things() == "1|a|1|u1\n2|b|2|u2\n3|c|3|u3\n4|D|4|u4\n6|f|6|u5\n8|h|8|u8\nx|1||\ny|3||")
        #expect(try patched.rows("SELECT group_concat(number) FROM _import_undo WHERE table_name = 't'") == "4,5,6,8")
        #expect(try patched.rows("SELECT count(*) FROM _import_undo WHERE table_name = 'w'") == "1")
        let after = try patched.digest
        #expect(try patched.counts(patched.report("undo"))["records_read"] == 5)
        #expect(try patched.digest == before)
        #expect(try patched.undo("--job", "2").ending == .exit(0))
        #expect(try patched.digest == after)
        try patched.verify(isStrict: false)
    }

    @Test(arguments: ["t", "w"]) func aTakenValueIsInTheWayOfAnUndo(table: String) throws {
        let isApart = table == "w"
        let sql = """
            CREATE TABLE o(\(isApart ? "k TEXT" : "k INTEGER") PRIMARY KEY, v TEXT, u TEXT UNIQUE)\(isApart ? " WITHOUT ROWID" : "");
            INSERT INTO o VALUES(1,'a','u1'),(2,'b','u2'),(3,'c','u3'),(4,'d','u4'),(5,'e','u5');
            """
        try FileManager.default.removeItem(atPath: patched.store)
        try patched.make("a.db", sql)
        // Two change places, one gives its value up, and one is gone.
        try patched.make(
            "b.db",
            sql + """
                UPDATE o SET u = NULL WHERE k = 1; UPDATE o SET u = 'u1' WHERE k = 2; UPDATE o SET u = 'u2' WHERE k = 1;
                UPDATE o SET u = 'other', v = 'C' WHERE k = 3; DELETE FROM o WHERE k = 4; UPDATE o SET v = 'E' WHERE k = 5;
                """
        )
        try patched.diff()
        #expect(try patched.patch().ending == .exit(0))
        try patched.make("s.db", "INSERT INTO o VALUES(8,'mine','u3'),(9,'mine','u4')")
        let before = try patched.digest
        #expect(try Set(patched.conflicts(patched.report("undo", code: 65))) == ["constraint 3", "constraint 4"])
        #expect(try patched.digest == before)
        #expect(try patched.rows("SELECT count(*) FROM _import_undo WHERE job = 2") == "0")
        #expect(try patched.undo("--conflicts", "keep").ending == .exit(0))
        #expect(
            try patched.rows("SELECT * FROM o ORDER BY CAST(k AS INTEGER)")
                == "1|a|u1\n2|b|u2\n3|C|other\n5|e|u5\n8|mine|u3\n9|mine|u4"
        )
        // Only what was brought back is the undo's own to take back.
        #expect(try patched.rows("SELECT count(*) FROM _import_undo WHERE job = 2") == "3")
        #expect(try patched.undo("--job", "2").ending == .exit(0))
        #expect(try patched.digest == before)
        try patched.verify(isStrict: false)
    }
}
