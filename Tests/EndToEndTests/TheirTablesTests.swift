import Foundation
import TestSupport
import Testing

/// Tables that an app, a migration or a person has made.
struct TheirTablesTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
    }

    @discardableResult
    private func night(_ lines: String, _ options: [String] = [], exit: Int32 = 0) throws -> ChildProcess.Result {
        let source = directory.path("\(UUID()).ndjson")
        try Data((lines + "\n").utf8).write(to: URL(filePath: source))
        let result = try run([Project.importer, "import", source, "--into", store, "--entity", "t"] + options)
        #expect(result.ending == .exit(exit), "\(result.errorText)")
        return result
    }

    private func columns() throws -> String {
        try StoreContent.query(store, "SELECT group_concat(name) FROM pragma_table_info('t')")
    }

    private func rows(_ columns: String) throws -> String {
        try StoreContent.query(store, "SELECT group_concat(\(columns), ' ') FROM (SELECT * FROM t ORDER BY rowid)")
    }

    @Test func findsColumnsWithoutRegardToCaseAndByWords() throws {
        try StoreContent.execute(store, "CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT, country_code TEXT)")
        let lines = """
            {"ID": 1, "Kind": "a", "countryCode": "NO", "extra": {"a": 1}}
            {"id": 2, "kind": "b", "CountryCode": "SE", "Kind": "c", "more": 1}
            """
        for night in 1...2 {
            let result = try self.night(lines, night == 2 ? ["--again"] : [])
            #expect(try columns() == "id,kind,country_code")
            #expect(try rows("id || kind || country_code") == "1aNO 2bSE")
            let notice = "keys without a column are left out: extra.a, more (--alter adds columns)"
            #expect(result.errorText.contains(notice), "\(result.errorText)")
            #expect(result.errorText.contains("t: id is the primary key: records are merged by it (--on-conflict)"))
            #expect(result.outputText.contains("extra"))
            #expect(result.outputText.contains(night == 2 ? "unchanged 2" : "inserted  2"), "\(result.outputText)")
        }
        try night(lines, ["--again", "--alter"])
        #expect(try columns() == "id,kind,country_code,extra_a,more")
        #expect(try rows("ifnull(extra_a, '') || ifnull(more, '')") == "1 1")
    }

    @Test func putsObjectsIntoOneColumnOrTheirPartsIntoSeveral() throws {
        try StoreContent.execute(store, "CREATE TABLE t (address TEXT, address_city TEXT, geo_lat REAL, GeoLon REAL)")
        try night(#"{"address": {"city": "Oslo"}, "geo": {"lat": 59.5, "lon": 10.5}}"#)
        #expect(try rows("address || ifnull(address_city, '-') || geo_lat || GeoLon") == #"{"city":"Oslo"}-59.510.5"#)
    }

    @Test func leavesDefaultsAndComputedColumnsToTheTable() throws {
        try StoreContent.execute(
            store,
            "CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT NOT NULL DEFAULT 'none', up TEXT AS (upper(kind)) STORED)"
        )
        let result = try night(#"{"id": 1, "UP": "no"}"#, ["--alter"])
        #expect(try columns() == "id,kind")
        #expect(try rows("id || kind || up") == "1noneNONE")
        #expect(result.errorText.contains("left out: UP"))
    }

    @Test(arguments: [
        ("a TEXT PRIMARY KEY, b TEXT", "a is the primary key", "1x 2y"),
        ("a TEXT, b TEXT, PRIMARY KEY (b, a)", "b, a are the primary key", "1old 1x 2y"),
        ("id INTEGER PRIMARY KEY, a TEXT NOT NULL UNIQUE, b TEXT", "a is unique and never null", "1x 2y"),
    ])
    func mergesByTheTablesKey(declared: String, notice: String, expected: String) throws {
        try StoreContent.execute(store, "CREATE TABLE t (\(declared)); INSERT INTO t (a, b) VALUES ('1', 'old')")
        let result = try night("{\"a\": \"1\", \"b\": \"x\"}\n{\"a\": \"2\", \"b\": \"y\"}")
        #expect(result.errorText.contains("t: \(notice)"), "\(result.errorText)")
        #expect(try rows("a || b") == expected)
    }

    @Test func hasNoIdentifierWhereSomeRecordLacksIt() throws {
        try StoreContent.execute(store, "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)")
        let result = try night("{\"id\": 7, \"a\": \"x\"}\n{\"a\": \"y\"}\n{\"id\": null, \"a\": \"z\"}")
        #expect(!result.errorText.contains("merged"))
        #expect(try rows("id || a") == "7x 8y 9z")
    }

    @Test func identifiersMayBeNamedOrNone() throws {
        let made = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES (1, 'x')"
        try StoreContent.execute(store, made)
        let none = try night("{\"id\": 1, \"a\": \"y\"}\n{\"id\": 2, \"a\": \"y\"}", ["--identifier", "none"])
        #expect(none.outputText.contains("rejected  1"), "\(none.outputText)")
        #expect(!none.errorText.contains("merged"))
        #expect(try rows("id || a") == "1x 2y")
        #expect(try night(#"{"a": "x"}"#, ["--identifier", "a"]).outputText.contains("unchanged 1"))
    }

    @Test func storesValuesAsTheRowsAre() throws {
        try StoreContent.execute(
            store,
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, at DATETIME, born DATE, u UUID, j JSON, n NUMERIC, x, s STRING);
            INSERT INTO t (at, born, u) VALUES
                (1577836800, '1970-01-01 00:00:00.000', '{61F0C404-5CB3-11E7-907B-A6006AD3DBA0}')
            """
        )
        let record = """
            {"at": "2020-01-01T00:00:02Z", "born": "1999-12-31", "u": "61f0c404-5cb3-11e7-907b-a6006ad3dba1", "j": [1, {"a": 2}],
             "n": "2.50", "x": "1", "s": "007"}
            """.replacing("\n", with: "")
        let result = try night(record)
        let stored = try StoreContent.query(
            store,
            "SELECT at || '|' || born || '|' || u || '|' || j || '|' || n || '|' || typeof(x) || '|' || s FROM t WHERE id = 2"
        )
        let dates = "1577836802|1999-12-31 00:00:00.000"
        #expect(stored == dates + "|{61F0C404-5CB3-11E7-907B-A6006AD3DBA1}|[1,{\"a\":2}]|2.5|text|7")
        #expect(result.outputText.contains("digits"))
        let fetched = try run([Project.importer, "fetch", store, "t", "--where", "id = 2", "--format", "ndjson"])
        #expect(fetched.outputText.contains(#""at":"2020-01-01T00:00:02.000Z","born":"1999-12-31T00:00:00.000Z""#))
        #expect(fetched.outputText.contains(#""j":[1,{"a":2}],"n":2.5,"x":"1","s":7"#), "\(fetched.outputText)")
        #expect(try night(record, ["--lossless", "--again"], exit: 65).outputText.contains("rejected  1"))
    }

    /// What `infer --into` prints is what an import decides, and says why.
    @Test func infersTheModelOfATable() throws {
        let made = """
            CREATE TABLE t (id INTEGER PRIMARY KEY, at DATETIME, country_code TEXT, u BLOB, x);
            INSERT INTO t (id, at) VALUES (1, 1577836800)
            """
        let other = directory.path("other.sqlite")
        for store in [store, other] { try StoreContent.execute(store, made) }
        let records = """
            {"ID": 1, "at": "2020-01-01T00:00:02Z", "countryCode": 47, "u": "61f0c404-5cb3-11e7-907b-a6006ad3dba0", "x": 1.5, "y": 1}
            {"ID": 2, "at": "2020-01-01T00:00:03Z", "countryCode": 46, "u": "61f0c404-5cb3-11e7-907b-a6006ad3dba1", "x": [1]}
            """
        let source = try directory.write(records, to: "t.ndjson")
        let before = try Data(contentsOf: URL(filePath: store))
        let inferred = try runImporter("infer", source, "--into", store, "--entity", "t")
        #expect(inferred.ending == .exit(0), "\(inferred.errorText)")
        #expect(try Data(contentsOf: URL(filePath: store)) == before)
        for line in [
            "t: id: INTEGER: integer64\n", "t: at: DATETIME: date as unix, as its rows are\n",
            "t: country_code: TEXT: string\n", "t: u: BLOB: binary of uuid, and no rows to look at\n",
            "t: x: no declared type: binary of any\n", "t: keys without a column are left out: y",
            "t: id is the primary key",
        ] {
            #expect(inferred.errorText.contains(line), "\(inferred.errorText)")
        }
        let model = try directory.write(inferred.output, to: "t.model.json")
        try night(records)
        let result = try runImporter("import", source, "--into", other, "--model", model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let content =
            "SELECT group_concat(id || ' ' || at || ' ' || country_code || ' ' || hex(u) || ' ' || x, ';') FROM t"
        let expected =
            "1 1577836802 47 61F0C4045CB311E7907BA6006AD3DBA0 1.5;2 1577836803 46 61F0C4045CB311E7907BA6006AD3DBA1 [1]"
        for store in [store, other] { #expect(try StoreContent.query(store, content) == expected) }
        #expect(try runImporter("infer", source, "--into", directory.path("none.sqlite")).ending == .exit(66))
        #expect(try runImporter("infer", source, "--into", "postgresql://localhost/none").ending == .exit(64))
        try StoreContent.execute(
            store,
            "CREATE TABLE w (id INTEGER PRIMARY KEY); CREATE VIEW v AS SELECT * FROM w"
        )
        for command in ["infer", "import"] {
            #expect(try runImporter(command, source, "--into", store, "--entity", "v").ending == .exit(64))
        }
    }

    /// Rows without row ids are known by their primary key.
    @Test(arguments: ["id", "v, id"])
    func mergesIntoTablesWithoutRowIDs(key: String) throws {
        try StoreContent.execute(
            store,
            "CREATE TABLE t(id INTEGER, v, n CHECK(n < 10), d DEFAULT 'x', PRIMARY KEY(\(key))) WITHOUT ROWID; INSERT INTO t VALUES(1, 'a', 1, 'y')"
        )
        func content() throws -> String {
            try StoreContent.query(
                store,
                "SELECT group_concat(id || v || n || d, ' ') FROM (SELECT * FROM t ORDER BY id)"
            )
        }
        try night(#"{"id":2,"v":"b","n":2}"# + "\n" + #"{"id":1,"v":"a","n":5}"# + "\n" + #"{"id":3,"v":"c","n":20}"#)
        #expect(try content() == "1a5y 2b2x")
        #expect(try StoreContent.query(store, "SELECT inserted, updated, rejected FROM _import_entity") == "1|1|1")
        let verified = try runImporter("verify", store)
        #expect(verified.ending == .exit(0), "\(verified.outputText)")
        try night(#"{"id":2,"v":"b","n":3}"# + "\n" + #"{"id":4,"v":"d","n":4}"#, ["--undo"])
        #expect(try content() == "1a5y 2b3x 4d4x")
        #expect(try runImporter("undo", store).ending == .exit(0))
        #expect(try content() == "1a5y 2b2x")
        try night(#"{"id":2,"v":"b","n":4}"#, ["--on-conflict", "ignore"])
        try night(#"{"id":2,"v":"b"}"#, ["--on-conflict", "replace"])
        #expect(try content() == "1a5y")
        #expect(try StoreContent.query(store, "SELECT n IS NULL FROM t WHERE id = 2") == "1")
        for arguments in [
            ["fetch", store, "t"], ["explain", store, "t", "--rowid", "2"],
            [
                "import", directory.path("."), "--include", "*.ndjson", "--into", store, "--entity", "t", "--mirror",
                "--again",
            ],
        ] {
            let refused = try run([Project.importer] + arguments)
            #expect(refused.ending == .exit(65))
            #expect(refused.errorText.contains("WITHOUT ROWID"), "\(refused.errorText)")
        }
    }

    /// A folder with a file for each table: the names say where the records go, however like each other these are.
    @Test func putsSourcesIntoTheTablesOfTheirNames() throws {
        try StoreContent.execute(
            store,
            "CREATE TABLE team (id TEXT PRIMARY KEY, name TEXT); CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team TEXT)"
        )
        let folder = directory.path("league")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func write(_ name: String, _ text: String) throws { _ = try directory.write(text, to: "league/\(name).json") }
        try write("player", #"[{"id": 1, "name": "Ada", "team": "a"}, {"id": 2, "name": "Grace", "team": "b"}]"#)
        try write("team", #"[{"id": "a", "name": "Analysts"}, {"id": "b", "name": "Compilers"}]"#)
        try write("player-2024-01-31", #"[{"id": 3, "name": "Alan", "team": "a"}]"#)
        try write("stadium", #"[{"id": 7, "name": "Oval"}]"#)
        let content = """
            SELECT (SELECT group_concat(id || name || team, ' ') FROM (SELECT * FROM player ORDER BY id)) || '; ' ||
                (SELECT group_concat(id || name, ' ') FROM team) || '; ' || (SELECT group_concat(id || name, ' ') FROM stadium)
            """
        func night(_ expected: String) throws {
            let result = try runImporter("import", folder, "--into", store)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(try StoreContent.query(store, content) == expected)
        }
        try night("1Adaa 2Graceb 3Alana; aAnalysts bCompilers; 7Oval")
        try write("team", #"[{"id": "a", "name": "Analysts"}, {"id": "b", "name": "Bugs"}]"#)
        try night("1Adaa 2Graceb 3Alana; aAnalysts bBugs; 7Oval")
        let inferred = try runImporter("infer", folder, "--into", store)
        #expect(inferred.errorText.contains("team: id: TEXT: string"), "\(inferred.errorText)")
    }

    @Test func countsASecondKeyForAColumn() throws {
        try StoreContent.execute(store, "CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT)")
        let record = #"{"id": 1, "Kind": "far", "kind": "near"}"#
        let result = try night(record + "\n" + #"{"id": 2, "Kind": "x"}"#)
        #expect(try rows("id || kind") == "1near 2x")
        #expect(result.outputText.contains("Kind"), "\(result.outputText)")
        #expect(try night(record, ["--lossless"], exit: 65).outputText.contains("rejected  1"))
    }

    @Test func stopsAtTriggersThatSQLiteRefuses() throws {
        try StoreContent.execute(
            store,
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);
            CREATE VIRTUAL TABLE t_fts USING fts5 (a, content = 't', content_rowid = 'id');
            CREATE TRIGGER t_added AFTER INSERT ON t BEGIN INSERT INTO t_fts (rowid, a) VALUES (new.id, new.a); END
            """
        )
        let refused = try night(#"{"id": 1, "a": "hello world"}"#, exit: 64)
        #expect(refused.errorText.contains("the trigger t_added of t: unsafe use of virtual table"))
        #expect(refused.errorText.contains("--trust-triggers"))
        try night(#"{"id": 1, "a": "hello world"}"#, ["--trust-triggers"])
        #expect(try StoreContent.query(store, "SELECT rowid FROM t_fts WHERE t_fts MATCH 'world'") == "1")
    }

    @Test func aModelAddsNoColumnUnlessAsked() throws {
        try StoreContent.execute(store, "CREATE TABLE t (id INTEGER PRIMARY KEY)")
        let model = directory.path("m.json")
        let text = #"{"entities": {"t": {"attributes": {"id": {"type": "integer64"}, "x": {"type": "string"}}}}}"#
        try Data(text.utf8).write(to: URL(filePath: model))
        let source = directory.path("s.ndjson")
        try Data(#"{"id": 1, "x": "y"}"#.utf8).write(to: URL(filePath: source))
        let call = [Project.importer, "import", source, "--into", store, "--model", model]
        let refused = try run(call)
        #expect(refused.ending == .exit(65) && refused.errorText.contains("--alter"), "\(refused.errorText)")
        #expect(try columns() == "id")
        #expect(try run(call + ["--alter"]).ending == .exit(0))
        #expect(try rows("id || x") == "1y")
    }

    @Test func changesAndModelsHaveValuesOfAllKinds() throws {
        let declared = "id INTEGER PRIMARY KEY, a, n NUMERIC, at DATETIME, u UUID, s TEXT"
        let first = "'61F0C404-5CB3-11E7-907B-A6006AD3DBA0'"
        try StoreContent.execute(
            store,
            "CREATE TABLE t (\(declared)); INSERT INTO t VALUES (1, x'00ff', 2.5, '2020-01-01 00:00:00', \(first), 'x')"
        )
        try night(#"{"id": 2, "a": "1", "n": "x", "at": "2020-01-01T00:00:02Z", "s": [1]}"#)
        let (old, changes) = (directory.path("old.sqlite"), directory.path("changes.ndjson"))
        try FileManager.default.copyItem(atPath: store, toPath: old)
        try StoreContent.execute(
            store,
            "UPDATE t SET a = x'01', n = 'y', at = '2021-01-01 00:00:00' WHERE id = 1; INSERT INTO t (a) VALUES (1.5), ('z')"
        )
        for arguments in [["diff", old, store, "--output", changes], ["patch", old, changes], ["verify", store]] {
            let result = try run([Project.importer] + arguments)
            #expect(result.ending == .exit(0), "\(arguments[0]): \(result.errorText)")
        }
        let content = "SELECT group_concat(quote(a) || quote(n) || ifnull(at || u, '-'), ' ') FROM t"
        #expect(try StoreContent.query(old, content) == StoreContent.query(store, content))
        // The printed model is one to import with.
        let model = directory.path("m.json")
        let printed = try run([Project.importer, "model", "print", store])
        try Data(printed.outputText.utf8).write(to: URL(filePath: model))
        let source = directory.path("s.ndjson")
        try Data(#"{"id": 9, "a": {"b": 1}, "n": "7", "at": "2020-01-01T00:00:02Z"}"#.utf8).write(
            to: URL(filePath: source)
        )
        let result = try run([Project.importer, "import", source, "--into", store, "--model", model, "--entity", "t"])
        #expect(result.ending == .exit(0), "\(result.errorText)\(printed.outputText)")
        let last = try StoreContent.query(store, "SELECT a || n || at FROM t WHERE id = 9")
        #expect(last == #"{"b":1}72020-01-01 00:00:02"#)
    }

    /// A key that its column cannot hold is not the key of another object.
    @Test func noKeyLosesDigits() throws {
        let made =
            "CREATE TABLE t (id UUID PRIMARY KEY, v); INSERT INTO t VALUES ('550e8400e29b41d4a716446655440000', 1)"
        try StoreContent.execute(store, made)
        let keys = ["12345678123412341234123456789012", "12345678123412341234123456789013"]
        try night(keys.map { "{\"id\":\"\($0)\",\"v\":2}" }.joined(separator: "\n"), exit: 65)
        let rejects = try run([Project.importer, "rejects", store])
        #expect(rejects.outputText.contains("more digits"), "\(rejects.outputText)")
        #expect(try rows("id || v") == "550e8400e29b41d4a7164466554400001")
    }

    /// Where some record has no primary key, no other key changes it.
    @Test func aUniqueColumnDoesNotChangeThePrimaryKey() throws {
        let made =
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE NOT NULL); INSERT INTO t VALUES (1, 'x'), (2, 'y')"
        try StoreContent.execute(store, made)
        try night(#"{"id":7,"a":"y"}"# + "\n" + #"{"a":"z"}"#)
        #expect(try rows("id || a") == "1x 2y 3z")
    }

    /// A day is that of the writer's clock, also where rows have a midnight.
    @Test func aDayIsAsItIsWritten() throws {
        try StoreContent.execute(
            store,
            "CREATE TABLE t (id INTEGER PRIMARY KEY, d DATE); INSERT INTO t VALUES (1, '2015-01-31 00:00:00.000')"
        )
        try night(#"{"id":2,"d":"2016-02-29T00:00:00-05:00"}"# + "\n" + #"{"id":3,"d":"2016-03-01"}"#)
        #expect(
            try rows("d") == "2015-01-31 00:00:00.000 2016-02-29 00:00:00.000 2016-03-01 00:00:00.000"
        )
    }
}
