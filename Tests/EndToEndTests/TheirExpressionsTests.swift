import Foundation
import TestSupport
import Testing

/// Tables whose own expressions and triggers have a say in what is written.
struct TheirExpressionsTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
    }

    @discardableResult
    private func imported(_ lines: [String], into schema: String? = nil, _ options: [String] = [], exit: Int32 = 0)
        throws
        -> ChildProcess.Result
    {
        if let schema { try StoreContent.execute(store, schema) }
        let source = try directory.write(lines.map { $0 + "\n" }.joined(), to: "\(UUID()).ndjson")
        let result = try run([Project.importer, source, "--into", store, "--entity", "t"] + options)
        #expect(result.ending == .exit(exit), "\(result.errorText)")
        return result
    }

    private func counts() throws -> String {
        try StoreContent.query(
            store,
            "SELECT inserted, updated, unchanged, rejected FROM _import_entity ORDER BY job DESC LIMIT 1"
        )
    }

    /// As Django makes them: SQLite before 3.41 does not count its JSON functions as harmless.
    @Test(arguments: [
        "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT NOT NULL CHECK ((JSON_VALID(p) OR p IS NULL)))",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT, g AS (p ->> '$.a'))",
        "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT); CREATE INDEX i ON t(json_extract(p, '$.a'))",
    ])
    func mayCallJSONFunctions(schema: String) throws {
        try imported([#"{"id":1,"p":{"a":1}}"#], into: schema)
        #expect(try StoreContent.query(store, "SELECT p FROM t") == #"{"a":1}"#)
        for command in [["fetch", store, "t"], ["verify", store], ["undo", store]] {
            let result = try run([Project.importer] + command)
            #expect(result.ending == .exit(0), "\(result.errorText)")
        }
    }

    @Test func mayCallNothingElseThatIsNotHarmless() throws {
        let schema =
            "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT, g AS (json(p)), CHECK(p IS NULL OR rtreedepth(p) > 0))"
        let result = try imported([#"{"id":1}"#], into: schema, exit: 73)
        #expect(result.errorText.contains("unsafe use of"), "\(result.errorText)")
        #expect(!result.errorText.contains("damaged"), "\(result.errorText)")
    }

    @Test func aRecordOnWhichAnExpressionFailsIsAReject() throws {
        let records = [#"{"id":1,"n":2}"#, #"{"id":2,"n":-9223372036854775808}"#, #"{"id":3}"#]
        try imported(records, into: "CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, g INT AS (abs(n)) STORED)")
        #expect(try counts() == "2|0|0|1")
        #expect(try StoreContent.query(store, "SELECT id, g FROM t ORDER BY id") == "1|2\n3|")
    }

    @Test func aRecordThatAnIndexCannotTakeIsAReject() throws {
        try imported(
            [#"{"id":1,"p":{"a":1}}"#, #"{"id":2,"p":"no JSON"}"#],
            into: "CREATE TABLE t(id INTEGER PRIMARY KEY, p TEXT); CREATE INDEX i ON t(json_extract(p, '$.a'))"
        )
        #expect(try counts() == "1|0|0|1")
    }

    @Test func aRecordThatChangesNothingIsNotRefusedByTriggers() throws {
        let schema = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, n TEXT DEFAULT 'x'); CREATE TABLE log(x); INSERT INTO t(id) VALUES(1);
            CREATE TRIGGER g AFTER DELETE ON t BEGIN INSERT INTO log VALUES(1); END
            """
        try imported([#"{"id":1}"#, #"{"id":2,"n":"y"}"#], into: schema, ["--on-conflict", "replace"])
        #expect(try counts() == "1|0|1|0")
    }

    /// SQLite takes what is in double quotes for a text where no column has that name.
    @Test func textsInDoubleQuotesAreTexts() throws {
        let schema = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, n TEXT);
            CREATE TRIGGER g BEFORE INSERT ON t WHEN new.n = "no" BEGIN SELECT RAISE(ABORT, 'not this one'); END
            """
        try imported([#"{"id":1,"n":"yes"}"#, #"{"id":2,"n":"no"}"#], into: schema)
        #expect(try counts() == "1|0|0|1")
    }

    /// The affinity of a column makes numbers of texts, which are the same the next night.
    @Test func whatAnAffinityHasMadeIsUnchanged() throws {
        let schema = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, n NUMERIC, d DECIMAL(10, 2), j JSON, k INET); CREATE TABLE log(x);
            CREATE TRIGGER g AFTER UPDATE ON t BEGIN INSERT INTO log VALUES(new.id); END
            """
        let record = #"{"id":1,"n":"7","d":2.0,"j":1.5,"k":"12e3"}"#
        try imported([record], into: schema)
        try imported([record + " "])
        #expect(try counts() == "0|0|1|0")
        try imported([#"{"id":1,"n":"7","d":"2.5","j":1.5}"#])
        #expect(try counts() == "0|1|0|0")
        #expect(try StoreContent.query(store, "SELECT d, (SELECT count(*) FROM log) FROM t") == "2.5|1")
    }

    @Test func aNightOfNullsDecidesNothingOfBytes() throws {
        let schema = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB);
            INSERT INTO t VALUES(9, x'00c8c2ff5cdd3e889f8a0b4602c2602f')
            """
        try imported([#"{"id":1,"b":null}"#], into: schema)
        try imported([#"{"id":2,"b":"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}"#, #"{"id":3,"b":"two words"}"#])
        #expect(try counts() == "1|0|0|1")
        #expect(
            try StoreContent.query(store, "SELECT hex(b) FROM t WHERE id = 2") == "F81D4FAE7DEC11D0A76500A0C91E6BF6"
        )
    }

    @Test func allKeysOfAColumnSayWhatItsBytesAre() throws {
        try imported(
            [#"{"id":1,"b":"gACYuZvyog=="}"#, #"{"id":2,"B":"two words"}"#],
            into: "CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB)"
        )
        #expect(try StoreContent.query(store, "SELECT CAST(b AS TEXT) FROM t ORDER BY id") == "gACYuZvyog==\ntwo words")
    }
}
