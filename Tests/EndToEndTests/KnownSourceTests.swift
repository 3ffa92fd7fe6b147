import Foundation
import TestSupport
import Testing

/// What is in a store already is not imported twice, and is judged by what is there.
struct KnownSourceTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
        try directory.write("[{\"id\":1},{\"id\":2},{\"id\":3}]", to: "a.json")
        try directory.write("[{\"id\":4}]", to: "b.json")
    }

    private func importFiles(_ names: [String], _ options: String...) throws -> ChildProcess.Result {
        try run([Project.importer, "import"] + names.map(directory.path) + ["--into", store] + options)
    }

    private func ids(_ table: String = "a") throws -> String {
        try StoreContent.query(store, "SELECT group_concat(id, ' ') FROM (SELECT id FROM \(table) ORDER BY id)")
    }

    // MARK: Given again

    @Test(arguments: [["a.json", "a.json"], ["b.json", "a.json", "b.json"]])
    func aFileThatIsGivenTwiceIsRefused(names: [String]) throws {
        let result = try importFiles(names, "--entity", "a")
        #expect(result.ending == .exit(64) && result.errorText.contains("more than once"), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: store))
        #expect(try importFiles(names, "--entity", "a", "--again").ending == .exit(0))
    }

    /// `String` takes their names for equal, the system does not.
    @Test func filesWhoseNamesLookAlikeAreAllImported() throws {
        try FileManager.default.createDirectory(atPath: directory.path("d"), withIntermediateDirectories: false)
        try directory.write("[{\"id\":1}]", to: "d/caf\u{E9}.json")
        try directory.write("[{\"id\":2}]", to: "d/cafe\u{301}.json")
        for _ in 1...2 {
            #expect(try importFiles(["d"], "--entity", "a").ending == .exit(0))
            #expect(try ids() == "1 2")
        }
        try directory.write("[{\"id\":3}]", to: "d/cafe\u{300}.json")
        #expect(try importFiles(["d"], "--entity", "a").ending == .exit(0))
        #expect(try ids() == "1 2 3")
    }

    @Test func aPatternThatHasGrownBringsWhatIsNew() throws {
        #expect(try importFiles(["a.json"], "--entity", "a").ending == .exit(0))
        let grown = try importFiles(["a.json", "b.json"], "--entity", "a")
        #expect(grown.ending == .exit(0) && grown.errorText.contains("a.json is in already"), "\(grown.errorText)")
        #expect(try ids() == "1 2 3 4")
        let again = try importFiles(["b.json", "a.json"], "--entity", "a")
        #expect(again.ending == .exit(0) && again.errorText.contains("2 sources are in already"), "\(again.errorText)")
        #expect(again.outputText.contains("nothing was changed"), "\(again.outputText)")
        #expect(try ids() == "1 2 3 4")
        // Asked for, or of another entity, it is another import.
        #expect(try importFiles(["a.json", "b.json"], "--entity", "other").ending == .exit(0))
        #expect(try importFiles(["a.json", "b.json"], "--entity", "a", "--again").ending == .exit(0))
        #expect(try ids() == "1 1 2 2 3 3 4 4")
    }

    /// What is named for the sources of the first night need not be in what is new on the second.
    @Test(arguments: [
        ["--type", "x:string"], ["--storage", "t:unix"], ["--null-text", "s=NA"], ["--parse", "j"],
        ["--identifier", "a:x"], ["--identifier", "a:x", "--identifier", "b:k"],
        ["--identifier", "a:x,s", "--identifier", "c:n"], ["--index", "x"],
        ["--nested", "tables", "--nested-only", "l"],
    ])
    func namesOfOtherSourcesAreKnown(options: [String]) throws {
        let directory = try TemporaryDirectory()
        let folder = directory.path("d")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let a = #"{"x":1,"t":"2024-05-04T01:00:00Z","s":"q","j":"{}","l":[{"q":1}]}"#
        try directory.write(a + "\n", to: "d/a.ndjson")
        try directory.write(#"{"k":1,"z":1}"# + "\n", to: "d/b.ndjson")
        try directory.write(#"{"n":1,"w":"x"}"# + "\n", to: "d/c.ndjson")
        let store = directory.path("s.sqlite")
        func imported(_ more: String...) throws -> ChildProcess.Result {
            try run([Project.importer, "import", folder, "--into", store] + options + more)
        }
        #expect(try imported().ending == .exit(0))
        for grown in [["b"], ["b", "c"]] {
            for name in grown {
                let line = name == "b" ? #"{"k":\#(grown.count + 1),"z":2}"# : #"{"n":2,"w":"y"}"#
                let text = try String(contentsOfFile: "\(folder)/\(name).ndjson", encoding: .utf8)
                try directory.write(text + line + "\n", to: "d/\(name).ndjson")
            }
            let dry = try imported("--dry-run")
            #expect(dry.ending == .exit(0), "\(dry.errorText)")
            let result = try imported()
            #expect(result.ending == .exit(0), "\(result.errorText)")
        }
        #expect(try imported().ending == .exit(0))
        let counts = "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b), (SELECT count(*) FROM c)"
        #expect(try StoreContent.query(store, counts) == "1|3|2")
        // A slip is none of these names.
        #expect(
            try run([Project.importer, "import", folder, "--into", store, "--again", "--type", "xx:string"]).ending
                == .exit(64)
        )
    }

    /// The job was another one's: with other options it says so, and changes nothing.
    @Test func otherOptionsAreSaid() throws {
        #expect(try importFiles(["a.json"], "--lossless").ending == .exit(0))
        let other = try importFiles(["a.json"], "--type", "id:string")
        #expect(other.ending == .exit(0), "\(other.errorText)")
        #expect(
            other.errorText.contains("it was imported without --type, with --lossless"),
            "\(other.errorText)"
        )
        #expect(try ids() == "1 2 3")
    }

    @Test func aPartThatWasImportedIsSaid() throws {
        #expect(try importFiles(["a.json"], "--limit", "2").ending == .exit(0))
        let all = try importFiles(["a.json"])
        #expect(all.ending == .exit(0) && all.errorText.contains("another --skip or --limit"), "\(all.errorText)")
        #expect(try ids() == "1 1 2 2 3")
        #expect(try importFiles(["a.json"]).errorText.isEmpty)
    }

    // MARK: Grown, moved, changed

    private func append(_ text: String, to name: String) throws {
        let file = try #require(FileHandle(forWritingAtPath: directory.path(name)))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    /// Elements that follow in an array are imported alone, however it is written; where one before them is another, it has changed.
    @Test(
        arguments: [
            ("[", ",", "]"), ("[\n  ", ",\n  ", "\n]\n"), ("[ ", " , ", " ]"), ("[\r\n", ",\r\n", "\r\n]\r\n"),
            ("{\"items\":[", ",", "]}"), ("{\n  \"v\": 1,\n  \"items\": [\n    ", ",\n    ", "\n  ]\n}"),
        ]
    )
    func elementsThatFollowAreImported(beginning: String, comma: String, end: String) throws {
        func write(_ ids: [Int]) throws {
            let records = ids.map { "{\"id\":\($0),\"t\":\"],}\"}" }.joined(separator: comma)
            try directory.write(beginning + records + end, to: "l.json")
        }
        try write([1])
        #expect(try importFiles(["l.json"], "--entity", "a").ending == .exit(0))
        for last in [2, 5] {
            try write(Array(1...last))
            let grown = try importFiles(["l.json"], "--entity", "a")
            #expect(grown.ending == .exit(0) && grown.errorText.contains("l.json has grown"), "\(grown.errorText)")
            #expect(try ids() == (1...last).map(String.init).joined(separator: " "))
        }
        #expect(try importFiles(["l.json"], "--entity", "a").outputText.contains("already"))
        #expect(try run([Project.importer, "verify", store]).ending == .exit(0))
        try write([1, 2, 3, 9, 5, 6])
        #expect(try importFiles(["l.json"], "--entity", "a").ending == .exit(65))
        #expect(try ids() == "1 2 3 4 5")
    }

    /// Lines that follow are a job of their own, which knows what came before by its hash; where the file was touched alone, nothing is.
    @Test(arguments: ["", "\n"])
    func linesThatFollowAreImported(end: String) throws {
        try directory.write("{\"id\":1}\n{\"id\":2}\(end)", to: "l.ndjson")
        #expect(try importFiles(["l.ndjson"], "--entity", "a").ending == .exit(0))
        try append("\(end.isEmpty ? "\n" : ""){\"id\":3}\n", to: "l.ndjson")
        let grown = try importFiles(["l.ndjson"], "--entity", "a")
        #expect(grown.ending == .exit(0) && grown.errorText.contains("l.ndjson has grown"), "\(grown.errorText)")
        #expect(try ids() == "1 2 3")
        try append("{\"id\":4}\n", to: "l.ndjson")
        #expect(try importFiles(["l.ndjson", "a.json"], "--entity", "a").ending == .exit(0))
        #expect(try ids() == "1 1 2 2 3 3 4")
        try StoreContent.execute(store, "DELETE FROM a WHERE rowid > 4")
        #expect(try runImporter("verify", store).outputText.contains("4 = 4") == false)
        let positions = "SELECT group_concat(json_extract(description, '$.earlier.job'), ' ') FROM _import_source"
        #expect(try StoreContent.query(store, positions) == "1 2")
    }

    /// What is wrong in a line that was appended is at its place in the whole file.
    @Test func errorsInWhatFollowsNameItsLine() throws {
        try directory.write("{\"id\":1}\n{\"id\":2}\n", to: "l.ndjson")
        #expect(try importFiles(["l.ndjson"], "--entity", "a").ending == .exit(0))
        try append("{\"id\":3}\nbroken\n{\"id\":5}\n", to: "l.ndjson")
        #expect(try importFiles(["l.ndjson"], "--entity", "a").ending == .exit(0))
        #expect(try ids() == "1 2 3 5")
        let rejects = try runImporter("rejects", store).outputText
        #expect(rejects.contains("l.ndjson at byte 27"), "\(rejects)")
    }

    @Test func aFileThatHasMovedIsKnownByItsBytes() throws {
        let lines = (1...3).map { "{\"id\":\($0)}\n" }.joined()
        try directory.write(lines, to: "app.ndjson")
        #expect(try importFiles(["app.ndjson"], "--entity", "a").ending == .exit(0))
        let files = FileManager.default
        try files.moveItem(atPath: directory.path("app.ndjson"), toPath: directory.path("app.1.ndjson"))
        try append("{\"id\":4}\n", to: "app.1.ndjson")
        try directory.write("{\"id\":5}\n", to: "app.ndjson")
        let rotated = try importFiles(["app.1.ndjson", "app.ndjson"], "--entity", "a")
        #expect(rotated.ending == .exit(0), "\(rotated.errorText)")
        #expect(rotated.errorText.contains("app.ndjson and has grown"), "\(rotated.errorText)")
        #expect(try ids() == "1 2 3 4 5")
        // It is found where it is now, without a second look at what it was.
        let known = try importFiles(["app.1.ndjson", "app.ndjson"], "--entity", "a")
        #expect(known.outputText.contains("has all of"), "\(known.outputText)\(known.errorText)")
        try files.copyItem(atPath: directory.path("app.ndjson"), toPath: directory.path("copy.ndjson"))
        let copy = try importFiles(["copy.ndjson", "app.ndjson"], "--entity", "a")
        #expect(copy.errorText.contains("has the same bytes as"), "\(copy.errorText)")
        #expect(try ids() == "1 2 3 4 5 5")
    }

    @Test func newFilesGoWhereTheOthersAre() throws {
        try files.createDirectory(atPath: directory.path("logs"), withIntermediateDirectories: true)
        for day in 1...2 { try directory.write("{\"id\":\(day)}\n", to: "logs/2024-01-0\(day).ndjson") }
        #expect(try importFiles(["logs"]).ending == .exit(0))
        try directory.write("{\"id\":3}\n", to: "logs/2024-01-03.ndjson")
        try directory.write("{\"other\":1,\"x\":2}\n", to: "logs/notes.ndjson")
        #expect(try importFiles(["logs"]).ending == .exit(0))
        #expect(try ids("logs") == "1 2 3")
        #expect(try StoreContent.query(store, "SELECT other FROM notes") == "1")
    }

    private var files: FileManager { .default }

    @Test func whatHasChangedIsMergedOrRefusedOrReplaced() throws {
        let (list, keyed) = ("[{\"v\":1,\"k\":[{\"x\":1},{\"x\":2}]},{\"v\":2,\"k\":[]}]", "[{\"id\":1},{\"id\":2}]")
        try directory.write(list, to: "u.json")
        try directory.write(keyed, to: "k.json")
        #expect(try importFiles(["u.json"], "--nested", "tables").ending == .exit(0))
        #expect(try importFiles(["k.json"], "--identifier", "id").ending == .exit(0))
        try directory.write("[{\"v\":7,\"k\":[{\"x\":9}]}]", to: "u.json")
        try directory.write("[{\"id\":2},{\"id\":3}]", to: "k.json")
        let merged = try importFiles(["k.json"], "--identifier", "id")
        #expect(merged.ending == .exit(0) && merged.errorText.contains("objects are merged"), "\(merged.errorText)")
        #expect(try ids("k") == "1 2 3")
        let refused = try importFiles(["u.json"], "--nested", "tables")
        #expect(refused.ending == .exit(65), "\(refused.errorText)")
        for way in ["--again", "--replace-source", "--identifier"] { #expect(refused.errorText.contains(way)) }
        let before = "1\n2"
        #expect(try StoreContent.query(store, "SELECT v FROM u ORDER BY v") == before)
        let replaced = try importFiles(["u.json"], "--nested", "tables", "--replace-source")
        #expect(replaced.ending == .exit(0) && replaced.outputText.contains("2 deleted"), "\(replaced.outputText)")
        #expect(try StoreContent.query(store, "SELECT v FROM u UNION ALL SELECT x FROM u_k") == "7\n9")
        #expect(try runImporter("verify", store).ending == .exit(0))
        #expect(try importFiles(["u.json"], "--nested", "tables").outputText.contains("already"))
        #expect(try runImporter("undo", store).ending == .exit(0))
        #expect(
            try StoreContent.query(store, "SELECT v FROM u UNION ALL SELECT 10 * x FROM u_k") == "1\n2\n10\n20"
        )
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// Rows that have other row ids by now are not taken for those that an earlier version has brought.
    @Test func whatCannotBeToldIsNotReplaced() throws {
        try directory.write("[{\"v\":1},{\"v\":2},{\"v\":3}]", to: "u.json")
        #expect(try importFiles(["u.json"]).ending == .exit(0))
        try StoreContent.execute(store, "UPDATE u SET rowid = rowid + 10")
        try directory.write("[{\"v\":7}]", to: "u.json")
        let refused = try importFiles(["u.json"], "--replace-source")
        #expect(refused.ending == .exit(64), "\(refused.errorText)")
        #expect(refused.errorText.contains("have other row ids by now"), "\(refused.errorText)")
        #expect(try StoreContent.query(store, "SELECT group_concat(v) FROM u") == "1,2,3")
    }

    @Test func whatIdentifiersTellApartMayComeAgain() throws {
        #expect(try importFiles(["a.json"], "--entity", "a", "--identifier", "id").ending == .exit(0))
        #expect(try importFiles(["a.json", "b.json"], "--entity", "a", "--identifier", "id").ending == .exit(0))
        #expect(try ids() == "1 2 3 4")
    }

    @Test func whatIsNotFinishedIsFinishedFirst() throws {
        try directory.write("[{\"id\":1},{\"id\":2} oops", to: "a.json")
        #expect(try importFiles(["a.json"], "--entity", "a").ending == .exit(65))
        try directory.write("[{\"id\":1},{\"id\":2},{\"id\":3}]", to: "a.json")
        let both = try importFiles(["a.json", "b.json"], "--entity", "a")
        #expect(both.ending == .exit(0), "\(both.errorText)")
        #expect(both.outputText.split(separator: "Imported").count == 2, "\(both.outputText)")
        #expect(try ids() == "1 2 3 4")
        // One that has more than what is given is another import, and is finished first.
        try directory.write("{\"id\":5}\n{\"id\":", to: "c.ndjson")
        #expect(try importFiles(["b.json", "c.ndjson"], "--entity", "c").ending == .exit(65))
        let part = try importFiles(["b.json"], "--entity", "c")
        #expect(part.ending == .exit(64) && part.errorText.contains("resume"), "\(part.errorText)")
    }

    @Test func whatIsUndoneIsNotInAlready() throws {
        #expect(try importFiles(["a.json"], "--entity", "a", "--undo").ending == .exit(0))
        #expect(try runImporter("undo", store).ending == .exit(0))
        #expect(try importFiles(["a.json", "b.json"], "--entity", "a").ending == .exit(0))
        #expect(try ids() == "1 2 3 4")
    }

    // MARK: Judged by what is there

    @Test(arguments: ["DROP TABLE a", "DELETE FROM a", "migrate"])
    func aTableThatIsGoneIsImportedAgain(how: String) throws {
        #expect(try importFiles(["a.json"]).ending == .exit(0))
        #expect(try importFiles(["b.json"]).ending == .exit(0))
        if how == "migrate" {
            let model = try directory.write(
                "{\"entities\":{\"b\":{\"attributes\":{\"id\":{\"type\":\"integer64\"}}}}}",
                to: "model.json"
            )
            #expect(try runImporter("migrate", store, "--model", model, "--allow-loss").ending == .exit(0))
        } else {
            try StoreContent.execute(store, how)
        }
        let again = try importFiles(["a.json"])
        #expect(again.ending == .exit(0) && !again.outputText.contains("already"), "\(again.errorText)")
        #expect(try ids() == "1 2 3")
        #expect(try importFiles(["a.json"]).outputText.contains("has all of"))
        #expect(try ids("b") == "4")
    }

    @Test(arguments: ["id = 1", "id = 2", "id > 1"])
    func rowsThatAreGoneAreSaid(which: String) throws {
        #expect(try importFiles(["a.json"], "--entity", "a").ending == .exit(0))
        #expect(try importFiles(["b.json"], "--entity", "a").ending == .exit(0))
        try StoreContent.execute(store, "DELETE FROM a WHERE \(which) AND id < 4")
        let said = try importFiles(["a.json"], "--entity", "a")
        #expect(said.ending == .exit(0) && said.outputText.contains("deleted since"), "\(said.outputText)")
        #expect(said.outputText.contains("--again") && !said.outputText.contains("has all"), "\(said.outputText)")
        #expect(try importFiles(["b.json"], "--entity", "a").outputText.contains("has all of"))
    }

    /// Rows that are updated, merged or have other row ids are there.
    @Test func rowsThatAreOthersNowAreNotGone() throws {
        try directory.write("[{\"id\":1,\"v\":1},{\"id\":2},{\"id\":1,\"v\":2},{\"id\":3}]", to: "a.json")
        try directory.write("[{\"id\":2,\"v\":5},{\"id\":3,\"v\":5}]", to: "b.json")
        for type in ["integer64", "string"] {
            let options = ["--entity", "a", "--identifier", "id", "--type", "id:\(type)", "--type", "v:double"]
            func importFile(_ name: String) throws -> ChildProcess.Result {
                try run([Project.importer, "import", directory.path(name), "--into", store] + options)
            }
            #expect(try importFile("a.json").ending == .exit(0))
            #expect(try importFile("b.json").ending == .exit(0))
            try StoreContent.execute(store, "UPDATE a SET v = 9; DELETE FROM a WHERE id = 7; VACUUM")
            for name in ["a.json", "b.json"] {
                let again = try importFile(name)
                #expect(again.outputText.contains("has all of"), "\(again.outputText)\(again.errorText)")
            }
            try FileManager.default.removeItem(atPath: store)
        }
    }

    @Test func rejectsAloneLeaveNothingToBeGone() throws {
        try directory.write("[]", to: "a.json")
        #expect(try importFiles(["a.json"]).ending == .exit(0))
        #expect(try importFiles(["a.json"]).outputText.contains("has all of"))
    }

    @Test func anIndexThatIsBuiltIsSaid() throws {
        #expect(try importFiles(["a.json"]).ending == .exit(0))
        let built = try importFiles(["a.json"], "--index", "id")
        #expect(built.outputText.contains("the index a_id was built"), "\(built.outputText)")
        #expect(try importFiles(["a.json"], "--index", "id").outputText.contains("nothing was changed"))
    }
}
