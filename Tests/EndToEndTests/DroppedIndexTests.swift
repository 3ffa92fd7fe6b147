import Foundation
import TestSupport
import Testing

/// Indexes of a table that is there and empty are built at the end, and are then as they were.
struct DroppedIndexTests {
    private static let table = """
        CREATE TABLE thing (key TEXT, part INTEGER, needed TEXT, count INTEGER, note TEXT, mine TEXT, extra TEXT DEFAULT 'x');
        """

    /// One that keeps the identifier unique, one with a name that a new one would get, two that must not go.
    private static let indexes = """
        CREATE UNIQUE INDEX  "odd ""name" ON thing(part  DESC, "key" );
        create index thing_identifier on THING (note /* a comment */ , mine);
        CREATE INDEX upper ON thing (upper(note));
        CREATE INDEX some ON thing (count) WHERE count > 1;
        """

    /// What the store says of its indexes: names, columns, collations and orders.
    private static func indexes(_ store: String) throws -> String {
        try StoreContent.query(
            store,
            """
            SELECT list.name, list."unique", list.partial, (
                SELECT group_concat(coalesce(name, '?') || ' ' || coll || ' ' || "desc") FROM pragma_index_xinfo(list.name)
                WHERE key
            ) FROM pragma_index_list('thing') AS list ORDER BY list.name
            """
        )
    }

    @Test(arguments: MergingTests.policies, [true, false])
    func mergesAsIfEachRecordHadBeenLookedUp(policy: String, areComplete: Bool) throws {
        let files = try MergingTests.files([MergingTests.records(400, seed: 41, areComplete: areComplete)])
        let expected = try MergingTests.expected(policy, of: files)
        var results: Set<String> = []
        for (workers, chunkSize, commitEvery) in [("1", "1", "1"), ("2", "2000", "7"), ("4", "8M", "10000")] {
            let store = try files.makeStore("\(workers).sqlite", Self.table + Self.indexes)
            let before = try Self.indexes(store)
            let options = ["--workers", workers, "--chunk-size", chunkSize, "--commit-every", commitEvery]
            let result = try run(files.command(into: store, options + ["--on-conflict", policy]))
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(try MergingTests.content(store) == expected)
            #expect(try Self.indexes(store) == before)
            #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_waiting_index") == "0")
            #expect(try StoreContent.isWhole(store))
            #expect(try runImporter("verify", store).ending == .exit(0))
            results.insert(try StoreContent.result(store))
        }
        #expect(results.count == 1)
    }

    /// GRDB takes another text for another schema, and may erase the database.
    @Test func keepsTheTextsOfAMigrationsIndexes() throws {
        let store = try TemporaryDirectory()
        let path = store.path("app.sqlite")
        try StoreContent.execute(
            path,
            #"""
            CREATE TABLE "thing" ("id" INTEGER PRIMARY KEY, "name" TEXT COLLATE NOCASE, "born" DATETIME);
            CREATE INDEX "thing_on_born" ON "thing"("born" DESC, "name");
            CREATE UNIQUE INDEX "thing_on_name" ON "thing"("name");
            CREATE INDEX "thing_exact" ON "thing"("name" COLLATE BINARY)
            """#
        )
        let schema =
            "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master WHERE tbl_name = 'thing' ORDER BY name)"
        let before = try StoreContent.query(path, schema)
        let source = try store.write(#"[{"id": 1, "name": "Ada", "born": "1815-12-10T00:00:00Z"}]"#, to: "thing.json")
        #expect(try runImporter("import", source, "--into", path).ending == .exit(0))
        #expect(try StoreContent.query(path, schema) == before)
        #expect(try StoreContent.query(path, "SELECT name FROM thing WHERE name = 'ADA'") == "Ada")
    }

    /// A key that is part of the table, and one that compares texts in a way of its own, are looked up row by row.
    @Test(arguments: [
        "CREATE TABLE thing (key TEXT, part INTEGER, needed TEXT, count INTEGER, note TEXT, mine TEXT, UNIQUE (key, part));",
        "CREATE TABLE thing (key TEXT COLLATE NOCASE, part INTEGER, needed TEXT, count INTEGER, note TEXT, mine TEXT);"
            + "CREATE UNIQUE INDEX k ON thing (key COLLATE BINARY, part);",
        "CREATE TABLE thing (key TEXT, part INTEGER, needed TEXT, count INTEGER CHECK (count <> 9), note TEXT, mine TEXT);"
            + "CREATE UNIQUE INDEX k ON thing (key, part);",
        "CREATE TABLE thing (key TEXT, part INTEGER, needed TEXT, count INTEGER, note TEXT, mine TEXT);",
    ])
    func takesTablesAsTheyAre(sql: String) throws {
        let files = try MergingTests.files([MergingTests.records(200, seed: 42, areComplete: true)])
        let store = try files.makeStore("s.sqlite", sql + "CREATE INDEX notes ON thing (note);")
        let before = try Self.indexes(store).split(separator: "\n")
        let broken = try run(files.command(into: store, ["--on-error", "stop"]))
        #expect(broken.ending == .exit(65))
        #expect(try !Self.indexes(store).contains("notes"))
        let result = try run(files.command(into: store, ["--restart"]))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try MergingTests.content(store) == MergingTests.expected("merge", of: files))
        let after = try Self.indexes(store).split(separator: "\n")
        #expect(before.allSatisfy(after.contains))
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// An import that stopped, and one into the same table after it: anyone who comes finds what was dropped.
    @Test(arguments: ["resume", "restart", "another", "another's restart"])
    func findsWhatAnInterruptedImportHasDropped(way: String) throws {
        let files = try MergingTests.files([
            MergingTests.records(400, seed: 43, areComplete: true),
            MergingTests.records(100, seed: 44, areComplete: true),
        ])
        let whole = try String(contentsOfFile: files.sources[0], encoding: .utf8)
        let plain = try files.makeStore("plain.sqlite", Self.table + Self.indexes)
        let indexes = try Self.indexes(plain)
        let first = [files.sources[0]]
        #expect(try run(files.command(first, into: plain)).ending == .exit(0))
        try String(whole.dropLast(20)).write(toFile: files.sources[0], atomically: true, encoding: .utf8)
        let store = try files.makeStore("store.sqlite", Self.table + Self.indexes)
        #expect(try run(files.command(first, into: store)).ending == .exit(65))
        #expect(try Self.indexes(store).split(separator: "\n").count == 2)
        #expect(try runImporter("verify", store).ending == .exit(0))
        switch way {
        case "resume", "restart":
            try whole.write(toFile: files.sources[0], atomically: true, encoding: .utf8)
            let options = way == "resume" ? [] : ["--restart"]
            #expect(try run(files.command(first, into: store, options)).ending == .exit(0))
            #expect(try StoreContent.digest(store) == StoreContent.digest(plain))
        default:
            let second = [files.sources[1]]
            if way == "another" {
                #expect(try run(files.command(second, into: store)).ending == .exit(0))
            } else {
                // The second one stops too and is restarted: the table is not empty then, and its indexes stay.
                let text = try String(contentsOfFile: files.sources[1], encoding: .utf8)
                try String(text.dropLast(20)).write(toFile: files.sources[1], atomically: true, encoding: .utf8)
                #expect(try run(files.command(second, into: store)).ending == .exit(65))
                #expect(try Self.indexes(store) == indexes)
                try text.write(toFile: files.sources[1], atomically: true, encoding: .utf8)
                #expect(try run(files.command(second, into: store, ["--restart"])).ending == .exit(0))
            }
            #expect(try Self.indexes(store) == indexes)
            try whole.write(toFile: files.sources[0], atomically: true, encoding: .utf8)
            #expect(try run(files.command(first, into: store)).ending == .exit(0))
        }
        #expect(try Self.indexes(store) == indexes)
        let keys = "SELECT count(*) - count(DISTINCT key || '|' || part) FROM thing"
        #expect(try StoreContent.query(store, keys) == "0")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// Taken out of the store again, an import leaves the table as it was.
    @Test func bringsThemBackWhereItIsTakenOut() throws {
        let files = try MergingTests.files([MergingTests.records(200, seed: 42, areComplete: true)])
        let store = try files.makeStore("store.sqlite", Self.table + Self.indexes)
        let indexes = try Self.indexes(store)
        #expect(try run(files.command(into: store, ["--on-error", "stop"])).ending == .exit(65))
        #expect(try Self.indexes(store) != indexes)
        let model = try String(contentsOfFile: files.model, encoding: .utf8)
        try model.replacing(#""records": "$","#, with: #""records": "$", "table": "other","#)
            .write(toFile: files.model, atomically: true, encoding: .utf8)
        // The one in its place stops as well, so nothing is made up for at its end.
        let again = ["--restart", "--on-error", "stop"]
        #expect(try run(files.command(into: store, again)).ending == .exit(65))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM thing") == "0")
        #expect(try Self.indexes(store) == indexes)
    }

    /// What cannot be made again is not dropped: here by a collation that only another program has.
    @Test func leavesAloneWhatItCannotMakeAgain() throws {
        let files = try MergingTests.files([MergingTests.records(20, seed: 47, areComplete: true)])
        let store = try files.makeStore("store.sqlite", Self.table + Self.indexes)
        let script = """
            import sqlite3, sys
            store = sqlite3.connect(sys.argv[1])
            store.create_collation("own", lambda a, b: (a > b) - (a < b))
            store.execute("CREATE INDEX owned ON thing (note COLLATE own)")
            store.commit()
            """
        #expect(try Python.run(text: script, [store]).ending == .exit(0))
        let indexes = try Self.indexes(store)
        let result = try run(files.command(into: store))
        #expect(result.ending == .exit(74))
        #expect(result.errorText.contains("no such collation sequence: own"))
        #expect(try Self.indexes(store).split(separator: "\n").contains { $0.hasPrefix("owned|") })
        // Without that index it continues.
        #expect(
            try Python.run(
                text: script.replacing("CREATE INDEX owned ON thing (note COLLATE own)", with: "DROP INDEX owned"),
                [store]
            ).ending == .exit(0)
        )
        #expect(try runImporter("resume", store).ending == .exit(0))
        let rest = indexes.split(separator: "\n").filter { !$0.hasPrefix("owned|") }
        #expect(try Self.indexes(store) == rest.joined(separator: "\n"))
    }

    /// Killed anywhere, most of all at its beginning and near its end, it comes to the same.
    @Test func isTheSameAfterKills() throws {
        let files = try MergingTests.files([MergingTests.records(6_000, seed: 45, areComplete: true)])
        let options = ["--commit-every", "500", "--chunk-size", "60K"]
        let whole = try files.makeStore("whole.sqlite", Self.table + Self.indexes)
        #expect(try run(files.command(into: whole, options)).ending == .exit(0))
        let expected = try StoreContent.result(whole)
        #expect(try MergingTests.content(whole) == MergingTests.expected("merge", of: files))
        var killed = 0
        for (attempt, rows) in [1, 1, 3_000, 5_500, 5_500, 5_500].enumerated() {
            let store = try files.makeStore("store-\(attempt).sqlite", Self.table + Self.indexes)
            let command = files.command(into: store, options)
            if try InterruptionTests.isKilled(command, in: store, atRows: rows, later: attempt * 2) { killed += 1 }
            #expect(try run(command).ending == .exit(0))
            #expect(try StoreContent.result(store) == expected)
            #expect(try runImporter("verify", store).ending == .exit(0))
        }
        #expect(killed > 1)
    }
}
