import Foundation
import TestSupport
import Testing

/// What somebody types who does not know the importer yet is answered with what they have meant.
struct NewUserTests {
    private let directory: TemporaryDirectory
    private let store: String
    private let source: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("orders.sqlite")
        let orders = (0..<200).map { id in
            #"{"id": \#(id), "address": {"city": "Oslo"}, "placed": "2024-05-0\#(1 + id % 9)T0\#(id % 10):00:00Z"}"#
        }
        source = try directory.write("[\(orders.joined(separator: ","))]", to: "orders.json")
    }

    private func imported() throws {
        #expect(try runImporter("import", source, "--into", store, "-q").ending == .exit(0))
    }

    @Test(arguments: [
        (["--identifier", "idd"], "; did you mean id?"), (["--type", "plced:string"], "; did you mean placed?"),
        (["--identifier", "city"], "; did you mean address_city?"),
        (["--table", "x"], "'--table'; did you mean '--entity'?"),
        (["--pk", "id"], "'--pk'; did you mean '--identifier'?"),
        (["--out", "x"], "'--out'; did you mean '--into'?"),
        (["--overwrite"], "'--overwrite'; did you mean '--restart'?"),
        (["--tabel", "x"], "'--tabel'; did you mean '--entity'?"),
        (["--batch-size", "9"], "; did you mean '--commit-every'?"),
        (["--verbose"], "'--verbose'; did you mean '--progress'?"),
    ])
    func isToldTheNameThatIsMeant(options: [String], answer: String) throws {
        let result = try run([Project.importer, "import", source, "--into", store] + options)
        #expect(result.ending == .exit(64) && result.errorText.contains(answer), "\(result.errorText)")
    }

    /// An import that would refuse a name is refused as a dry run, too: all of the source has been read.
    @Test(arguments: [
        (["--identifier", "idd"], "orders has no attribute idd; did you mean id?\n  orders has: id, "),
        (["--type", "plced:string"], "there is no attribute plced; did you mean placed?"),
        (["--storage", "plced:unix"], "there is no attribute plced; did you mean placed?"),
        (
            ["--nested", "tables", "--nested-only", "linez"],
            "objects at linez; did you mean lines?\n  Arrays of objects"
        ),
        (["--null-text", "satte=NA"], "--null-text: there is no attribute satte; did you mean state?"),
        (["--null-text", "lines.sku=NA"], "--null-text: there is no attribute lines.sku"),
        (["--parse", "lgo.text"], "--parse: no record has the key lgo; did you mean log?"),
    ])
    func isToldTheAttributeThatIsMeant(options: [String], answer: String) throws {
        let record =
            #"{"id": 1, "placed": "2024-05-04T01:00:00Z", "state": "NA", "log": "{}", "lines": [{"sku": "NA"}]}"#
        let source = try directory.write("[\(record)]", to: "orders.json")
        for dryRun in [[], ["--dry-run"]] {
            let result = try run([Project.importer, "import", source, "--into", store] + options + dryRun)
            #expect(result.ending == .exit(64) && result.errorText.contains(answer), "\(result.errorText)")
            #expect(result.outputText.isEmpty && !FileManager.default.fileExists(atPath: store))
        }
    }

    @Test func isToldThatAModelHasNoSuchAttribute() throws {
        let model =
            #"{"entities": {"orders": {"attributes": {"city": {"type": "string", "optional": true, "from": "address.city"}}}}}"#
        let options = ["--into", store, "--model", try directory.write(model, to: "m.json"), "--null-text"]
        let result = try run([Project.importer, "import", source] + options + ["adress.city=Oslo"])
        let answer = "--null-text: there is no attribute adress.city"
        #expect(result.ending == .exit(64) && result.errorText.contains(answer), "\(result.errorText)")
        #expect(
            try run([Project.importer, "import", source, "-q"] + options + ["address.city=Oslo"]).ending == .exit(0)
        )
        #expect(try StoreContent.query(store, "SELECT count(*), count(city) FROM orders") == "200|0")
    }

    @Test func isToldThatNoRecordHasTheKeyOfItsKind() throws {
        let result = try runImporter("import", source, "--into", store, "--entity-by", "placd")
        let notice = "no record has a value at placd, so all are in other (--entity-by KEY); did you mean placed?\n"
        #expect(result.ending == .exit(0) && result.errorText.contains(notice), "\(result.errorText)")
        let right = try runImporter("import", source, "--into", directory.path("r.sqlite"), "--entity-by", "placed")
        #expect(!right.errorText.contains("no record has"), "\(right.errorText)")
    }

    @Test(arguments: [("--type", "id:strng", "is not a type; did you mean string? There are string, ")])
    func isToldTheTypeThatIsMeant(option: String, value: String, answer: String) throws {
        let result = try runImporter("import", source, "--into", store, option, value)
        #expect(result.ending == .exit(64) && result.errorText.contains(answer), "\(result.errorText)")
        let form = try runImporter("import", source, "--into", store, "--storage", "placed:hex")
        #expect(form.errorText.contains(" more patterns\n") && form.errorText.count < 600, "\(form.errorText)")
    }

    /// A number in one record makes texts of all, and how many have needed it is said.
    @Test func isToldHowManyNumbersMakeTexts() throws {
        let records =
            #"{"n":12345678901234567890,"m":1.1234567890123456789}"#
            + String(repeating: #",{"n":1,"m":2}"#, count: 1_999)
        let big = try directory.write("[\(records)]", to: "big.json")
        let result = try runImporter("import", big, "--into", store)
        let notice =
            "big: n, m: stored as decimal text, as SQLite's numbers would lose digits in 2 of 4,000 values; "
            + "in SQL, compare CAST(… AS REAL) (--type NAME:TYPE for a double)\n"
        #expect(result.ending == .exit(0) && result.errorText.contains(notice), "\(result.errorText)")
        let kinds = try directory.write("[\"x\"" + String(repeating: ",1", count: 1_234) + "]", to: "kinds.json")
        let mixed = try runImporter("import", kinds, "--into", directory.path("k.sqlite"))
        #expect(mixed.errorText.contains("kinds vary: 1,234 × number, 1 × string\n"), "\(mixed.errorText)")
    }

    @Test(arguments: [
        (["rejects", "--entity", "ordrs"], 66, "has no entity ordrs; did you mean orders?"),
        (["rejects", "--entity", "ordrs", "--raw"], 66, "has no entity ordrs; did you mean orders?"),
        (["rejects", "--job", "9"], 66, "has no job 9"), (["rejects", "--entity", "orders"], 0, "no open rejects"),
        (
            ["fetch", "orders", "--where", "address_city == Oslo"], 64,
            "no attribute Oslo\n  address_city == Oslo\n                  ^~~~\n  Texts are in single quotes."
        ),
        (["fetch", "orders", "--where", "address_city in 'Oslo'"], 64, "in parentheses: in ('Oslo', 'Rome')"),
    ])
    func isToldWhatIsNotThere(arguments: [String], code: Int32, answer: String) throws {
        try imported()
        let result = try run([Project.importer, arguments[0], store] + arguments.dropFirst())
        #expect(result.ending == .exit(code) && result.errorText.contains(answer), "\(result.errorText)")
    }

    @Test func isToldThatTheFolderIsNotThere() throws {
        let folder = directory.path("none")
        for options in [[], ["--dry-run"]] {
            let result = try run([Project.importer, "import", source, "--into", "\(folder)/x.sqlite"] + options)
            #expect(result.ending == .exit(73) && result.errorText.contains("the folder \(folder) does not exist"))
            #expect(result.errorText.split(separator: "\n").count == 2, "\(result.errorText)")
        }
    }

    @Test func isToldHowTheStoreIsGiven() throws {
        for arguments in [[source, store], ["import", source, store]] {
            let result = try run([Project.importer] + arguments)
            #expect(
                result.ending == .exit(64) && result.errorText.contains("give the store with --into \(store)\n"),
                "\(result.errorText)"
            )
        }
        #expect(try runImporter("version").errorText.contains("'version'; did you mean '--version'?"))
        let query = try runImporter("query", source, "select 1")
        #expect(query.errorText.contains("memory \(source) 'select 1'\n"), "\(query.errorText)")
    }

    @Test(arguments: [
        (#"[{"a":1,}]"#, "a comma before }"), (#"[{"a":1},]"#, "no value before ]"),
        (#"[{"a":}]"#, "no value before }"),
    ])
    func isToldOfACommaTooMany(text: String, answer: String) throws {
        let result = try runImporter("import", directory.write(text, to: "comma.json"), "--into", store, "--strict")
        #expect(result.ending == .exit(65) && result.errorText.contains(answer), "\(result.errorText)")
    }

    @Test func isToldInWhatOrderAQueryIsTyped() throws {
        let orders = [("query", "the store comes first"), ("memory", "the statement comes last")]
        for (command, answer) in orders {
            let result = try runImporter(command, "select 1", source)
            #expect(result.ending == .exit(64) && result.errorText.contains(answer), "\(result.errorText)")
        }
    }

    @Test(arguments: [
        ("[{\"a\":Nan}]", "no NaN"), ("[{\"a\":None}]", "write null"), ("[{\"a\":True}]", "small letters"),
        ("[{'a':1}]", "double quotes"), ("[{\"a\":undefined}]", "small letters"),
    ])
    func isToldWhatOtherLanguagesWrite(text: String, answer: String) throws {
        let source = try directory.write(text, to: "other.json")
        let result = try runImporter("import", source, "--into", store)
        #expect(result.ending == .exit(65) && result.errorText.contains(answer), "\(result.errorText)")
    }

    @Test(arguments: [
        ("placed = '2024-05-04'", 22), ("placed != '2024-05-04'", 178), ("placed <= '2024-05-01'", 23),
        ("placed > '2024-05-08'", 22), ("placed in ('2024-05-04', '2024-05-05')", 44),
        ("placed between '2024-05-04' and '2024-05-05'", 44), ("not placed in ('2024-05-04')", 178),
    ])
    func meansTheWholeDay(predicate: String, count: Int) throws {
        try imported()
        let result = try runImporter("fetch", store, "orders", "--where", predicate, "--format", "ndjson")
        #expect(result.outputText.split(separator: "\n").count == count, "\(result.errorText)")
    }

    @Test(arguments: ["-id", "id desc", "id:DESC"])
    func writesAnOrderAsElsewhere(sort: String) throws {
        try imported()
        let result = try runImporter("fetch", store, "orders", "--sort", sort, "--limit", "1", "--format", "ndjson")
        #expect(result.outputText.contains("\"id\":199"), "\(result.outputText) \(result.errorText)")
    }

    /// Any database is read, also one that no import has written.
    @Test func fetchesFromAnyDatabase() throws {
        let other = directory.path("other.db")
        let sql = "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO items VALUES (1, 'a'), (2, 'b')"
        #expect(try run(["sqlite3", other, sql]).ending == .exit(0))
        let fetched = try runImporter("fetch", other, "items", "--where", "id > 1", "--format", "ndjson")
        #expect(fetched.outputText == "{\"id\":2,\"name\":\"b\"}\n", "\(fetched.errorText)")
        #expect(try runImporter("status", other).ending == .exit(66))
        try imported()
        #expect(try runImporter("strip", store).ending == .exit(0))
        let stripped = try runImporter("fetch", store, "orders", "--where", "id = 7", "--format", "ndjson")
        #expect(stripped.outputText.contains("\"id\":7"), "\(stripped.errorText)")
        let json = try runImporter("fetch", source, "orders")
        #expect(
            json.errorText.contains("Give the path of a store, or of another SQLite database."),
            "\(json.errorText)"
        )
        #expect(try run(["sqlite3", directory.path("empty.db"), "VACUUM"]).ending == .exit(0))
        #expect(try runImporter("fetch", directory.path("empty.db"), "x").errorText.contains("has no tables"))
    }

    @Test func answersInSQL() throws {
        try imported()
        func query(_ sql: String, _ format: String = "ndjson") throws -> ChildProcess.Result {
            try runImporter("query", store, sql, "--format", format)
        }
        let count = try query("select address_city, count(*), count(*) from orders group by 1;")
        #expect(
            count.outputText == "{\"address_city\":\"Oslo\",\"count(*)\":200,\"count(*)_2\":200}\n",
            "\(count.errorText)"
        )
        #expect(try query("select id from orders where id > 197", "table").outputText == " id\n---\n198\n199\n")
        #expect(try query("select null, '', x'00', 1.5", "csv").outputText.hasSuffix(",\"\",AA==,1.5\n"))
        #expect(try query("select 1 where 0", "json").outputText == "[]\n")
        for (sql, answer) in [
            ("select * form orders", "near \"form\": syntax error"), ("", "empty"),
            ("select 1; select 2", "more than one"),
            ("select * from ordes", "did you mean orders?"), ("select city from orders", "did you mean address_city?"),
            ("delete from orders", "the statement writes"), ("delete from orders returning id", "the statement writes"),
            ("pragma journal_mode = off", "the statement writes"), ("attach 'x' as x", "the statement writes"),
            ("vacuum into 'x'", "the statement writes"),
            ("select json(placed) from orders", "malformed JSON"),
        ] {
            let result = try query(sql)
            #expect(result.ending == .exit(64) && result.errorText.contains(answer), "\(sql): \(result.errorText)")
        }
        #expect(try query("select count(*) as n from orders").outputText == "{\"n\":200}\n")
        let ended = try run([
            "sh", "-c", "$0 query $1 'select * from orders as a, orders as b' --format csv | head -1", Project.importer,
            store,
        ])
        #expect(ended.ending == .exit(0) && ended.errorText.isEmpty && ended.outputText.hasPrefix("id,"))
        #expect(try runImporter("query", directory.path("none"), "select 1").ending == .exit(66))
    }

    @Test func answersInSQLWithoutAStore() throws {
        let temporary = directory.path("tmp")
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
        let other = try directory.write("[{\"order\":1},{\"order\":\"x\"}]", to: "line.json")
        func memory(_ arguments: String...) throws -> ChildProcess.Result {
            try run(["env", "TMPDIR=\(temporary)", Project.importer, "memory"] + arguments)
        }
        let sql = "select count(*) as n from orders join line on \"order\" = id"
        let result = try memory(source, other, sql, "--format", "ndjson", "-q")
        #expect(result.outputText == "{\"n\":1}\n" && result.errorText.isEmpty, "\(result.errorText)")
        let rejected = try memory(
            other,
            "select count(*) as n from line",
            "--type",
            "order:integer64",
            "--format",
            "json"
        )
        #expect(
            rejected.outputText == "[\n{\"n\":1}\n]\n" && rejected.errorText.contains("1 of 2 records are left out")
        )
        #expect(try memory(source, "selct 1").ending == .exit(64))
        #expect(try memory(source, "select * from ordr").errorText.contains("did you mean orders?"))
        #expect(try memory(source).ending == .exit(64))
        #expect(try memory(directory.path("none.json"), "select 1").ending == .exit(66))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
    }

    /// Records of a new table that meet by an identifier that is perhaps none.
    @Test(arguments: ["merge", "replace", "ignore"]) func isToldOfRecordsThatMeet(policy: String) throws {
        let options = ["--identifier", "address_city", "--on-conflict", policy]
        let notice =
            "orders: 199 of 200 records have the same address_city as an earlier record, so they are the same object (--on-conflict \(policy))\n"
        for dryRun in [["--dry-run"], []] {
            let result = try run([Project.importer, "import", source, "--into", store] + options + dryRun)
            #expect(result.ending == .exit(0) && result.errorText.contains(notice), "\(result.errorText)")
        }
        // What was there before this import may have the same objects.
        let again = try run([Project.importer, "import", source, "--into", store, "--again"] + options)
        #expect(again.ending == .exit(0) && !again.errorText.contains("earlier one"), "\(again.errorText)")
        let other = try runImporter("import", source, "--into", directory.path("id.sqlite"), "--identifier", "id")
        #expect(!other.errorText.contains("earlier one"), "\(other.errorText)")
    }

    @Test(arguments: [
        ("$.users", "--records '$.users[*]' makes records of its 2 values"), ("$.keyed", "--records '$.keyed.*' makes"),
        ("$.list[*]", "--records '$.list[*][*]' makes records of its 2 values"),
    ])
    func isToldOfRecordsWithinARecord(path: String, notice: String) throws {
        let text =
            #"{"users": [{"id":1},{"id":2}], "keyed": {"a":{"x":1},"b":{"x":2}}, "list": [[{"id":1}],[{"id":2}]]}"#
        let source = try directory.write(text, to: "doc.json")
        let result = try runImporter("import", source, "--into", store, "--records", path)
        #expect(result.ending == .exit(0) && result.errorText.contains(notice), "\(result.errorText)")
        let right = try runImporter("import", source, "--into", directory.path("r.sqlite"), "--records", "$.users[*]")
        #expect(!right.errorText.contains("makes records"), "\(right.errorText)")
    }

    @Test func isToldWhereTheRecordsAre() throws {
        let source = try directory.write(#"{"users": [{"id":1},{"id":2}], "meta": {}}"#, to: "doc.json")
        let result = try runImporter("import", source, "--into", store, "--records", "$.items[*]", "-q")
        #expect(result.ending == .exit(65))
        #expect(
            result.errorText.contains("record path $.items[*]; there are records at $.users[*]"),
            "\(result.errorText)"
        )
    }

    /// A migration says what it takes from undo, and advice names the store that is meant.
    @Test(arguments: [["--undo"], []])
    func isToldWhatAMigrationDrops(options: [String]) throws {
        #expect(try run([Project.importer, "import", source, "--into", store, "-q"] + options).ending == .exit(0))
        let model = #"{"entities": {"orders": {"attributes": {"id": {"type": "double", "optional": true}}}}}"#
        let other = try directory.write(model, to: "m.json")
        for option in ["--dry-run", "--json"] {
            let result = try runImporter("migrate", store, "--model", other, "--allow-loss", option)
            #expect(
                result.ending == .exit(0) && result.outputText.contains("of job 1 is no longer possible"),
                "\(result.outputText)"
            )
        }
        #expect(try runImporter("migrate", store, "--model", other, "--allow-loss").ending == .exit(0))
        let undo = try runImporter("undo", store)
        #expect(undo.ending == .exit(65) && undo.errorText.contains("migrated to another model"), "\(undo.errorText)")
        let unknown = try runImporter("undo", store, "--job", "7")
        #expect(unknown.errorText.contains("importer status \(store)`") && !unknown.errorText.contains("STORE"))
    }

    @Test func progressIsTrue() throws {
        let limited = try runImporter("import", source, "--into", store, "--limit", "10", "--undo")
        #expect(!limited.errorText.contains("%"), "\(limited.errorText)")
        let time = try #require(limited.errorText.firstMatch(of: /done in ([0-9.]+ s)/)?.output.1)
        #expect(limited.outputText.contains("in \(time)"), "\(limited.outputText)")
        let undone = try runImporter("undo", store)
        #expect(undone.errorText.contains("apply 10 records, done in "), "\(undone.errorText)")
    }

    @Test func verifySaysHowManyValuesItHasCompared() throws {
        try imported()
        let text = try runImporter("verify", store).outputText
        #expect(text.contains("200 rows; the values of 200 of them were compared\n"), "\(text)")
    }
}
