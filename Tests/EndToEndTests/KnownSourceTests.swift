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

    @Test func aPatternThatHasGrownIsRefused() throws {
        #expect(try importFiles(["a.json"], "--entity", "a").ending == .exit(0))
        let grown = try importFiles(["a.json", "b.json"], "--entity", "a")
        #expect(grown.ending == .exit(64), "\(grown.errorText)")
        #expect(grown.errorText.contains("has \(directory.path("a.json")) already"), "\(grown.errorText)")
        #expect(grown.errorText.contains("(\(directory.path("b.json")))"), "\(grown.errorText)")
        #expect(try ids() == "1 2 3")
        #expect(try importFiles(["b.json"], "--entity", "a").ending == .exit(0))
        #expect(try importFiles(["b.json", "a.json"], "--entity", "a").ending == .exit(64))
        #expect(try ids() == "1 2 3 4")
        // Asked for, or of another entity, it is another import.
        #expect(try importFiles(["a.json", "b.json"], "--entity", "other").ending == .exit(0))
        #expect(try importFiles(["a.json", "b.json"], "--entity", "a", "--again").ending == .exit(0))
        #expect(try ids() == "1 1 2 2 3 3 4 4")
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
        let grown = try importFiles(["a.json", "b.json"], "--entity", "a")
        #expect(grown.ending == .exit(64) && grown.errorText.contains("resume"), "\(grown.errorText)")
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try ids() == "1 2 3")
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
