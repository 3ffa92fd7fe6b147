import Foundation
import TestSupport
import Testing

/// What a complete source no longer has goes, and nothing else.
struct MirrorTests {
    private let mirror: MirroredStore

    init() throws { mirror = try MirroredStore() }

    // MARK: What goes

    @Test func deletesWhatNoRecordHadAndCountsIt() throws {
        #expect(try mirror.mirroring(MirroredStore.users(1...5)).number("deleted") == 0)
        let second = try mirror.mirroring(#"[{"id": 1, "name": "u1"}, {"id": 3, "name": "new"}, {"id": 9}]"#)
        #expect(second.ending == .exit(0), "\(second.errorText)")
        #expect(try mirror.ids() == "1 3 9")
        #expect(second.number("deleted") == 3 && second.number("withheld") == 0 && second.reason == nil)
        #expect(second.number("inserted") == 1 && second.number("updated") == 1 && second.number("unchanged") == 1)
        let listed = second.report["deleted_list"] as? [[String: Any]]
        #expect(listed?.compactMap { ($0["identifier"] as? [String: Int])?["id"] } == [2, 4, 5])
        #expect(try runImporter("verify", mirror.store).ending == .exit(0))
        #expect(try runImporter("status", mirror.store, "--job", "2").outputText.contains("deleted"))
    }

    @Test func deletesNothingWithoutTheOption() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...3))
        let plain = try mirror.importing(MirroredStore.users(1...1))
        #expect(plain.report["deleted"] == nil && plain.report["withheld"] == nil)
        #expect(try mirror.ids() == "1 2 3")
    }

    @Test(arguments: ["merge", "ignore", "replace"]) func whatIsSeenStaysWhateverBecomesOfIt(policy: String) throws {
        _ = try mirror.mirroring(MirroredStore.users(1...4))
        let second = try mirror.mirroring(MirroredStore.users([1, 2, 4]), "--on-conflict", policy)
        #expect(second.number("deleted") == 1, "\(second.errorText)")
        #expect(try mirror.ids() == "1 2 4")
    }

    @Test func anObjectIsSeenThoughItsRecordIsRejectedForBeingThere() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...3))
        let second = try mirror.mirroring(MirroredStore.users([1, 2, 7]), "--on-conflict", "error")
        #expect(second.number("rejected") == 2 && second.number("deleted") == 1)
        #expect(try mirror.ids() == "1 2 7")
    }

    @Test func severalSourcesAreOneWhole() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...4))
        let other = try mirror.directory.write(MirroredStore.users([3]), to: "other.json")
        let second = try mirror.importing(MirroredStore.users([1]), [other, "--mirror", "--entity", "user"])
        #expect(second.number("deleted") == 2, "\(second.errorText)")
        #expect(try mirror.ids() == "1 3")
    }

    // MARK: What is refused

    @Test func needsAnIdentifier() throws {
        let source = try mirror.directory.write(#"[{"x": 1}]"#, to: "thing.json")
        let inferred = try mirror.running(["import", source, "--into", mirror.store, "--mirror"])
        #expect(inferred.ending == .exit(64), "\(inferred.errorText)")
        #expect(inferred.errorText.contains("thing has no identifier"))
        #expect(!FileManager.default.fileExists(atPath: mirror.store))
        let named = try mirror.running(["import", source, "--into", mirror.store, "--mirror", "--identifier", "x"])
        #expect(named.ending == .exit(0), "\(named.errorText)")
    }

    @Test(arguments: [["--limit", "1"], ["--skip", "1"]]) func needsAllRecords(option: [String]) throws {
        _ = try mirror.mirroring(MirroredStore.users(1...3))
        let second = try mirror.importing(MirroredStore.users(1...2), ["--mirror"] + option)
        #expect(second.ending == .exit(64), "\(second.errorText)")
        #expect(try mirror.ids() == "1 2 3")
    }

    @Test func needsAllRecordsOfChunksToo() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...3))
        let source = try mirror.directory.write(MirroredStore.users(1...2), to: "user.ndjson")
        for (limit, code) in [(["--limit", "1"], Int32(64)), ([], 0)] {
            let chunks = mirror.directory.path("chunks\(limit.count)")
            #expect(
                try run([Project.importer, "split", source, "--to", chunks, "--entity", "user"] + limit).ending
                    == .exit(0)
            )
            let result = try mirror.running([
                "import", chunks, "--into", mirror.store, "--model", mirror.model, "--mirror",
            ])
            #expect(result.ending == .exit(code), "\(result.errorText)")
            #expect(try mirror.ids() == (code == 0 ? "1 2" : "1 2 3"))
        }
    }

    @Test func aMigrationKeepsWhatIsInScopeAndEndsWhatIsWithheld() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...3))
        _ = try mirror.mirroring("[]")
        try StoreContent.execute(mirror.store, "INSERT INTO user VALUES (50, 'mine')")
        let model = #"""
            {"entities": {"person": {"renamingIdentifier": "user", "identifier": ["id"], "attributes": {"id": {"type": "integer64"},
              "name": {"type": "string", "optional": true}}}}}
            """#
        let file = try mirror.directory.write(model, to: "person.json")
        let migrated = try runImporter("migrate", mirror.store, "--model", file)
        #expect(migrated.ending == .exit(0), "\(migrated.errorText)")
        #expect(try mirror.finishing(job: 2, "--allow-empty").ending == .exit(65))
        let source = try mirror.directory.write(MirroredStore.users(1...2), to: "person.ndjson")
        let next = try mirror.running([
            "import", source, "--into", mirror.store, "--model", file, "--entity", "person", "--mirror",
        ])
        #expect(next.number("deleted") == 1, "\(next.errorText)")
        #expect(try mirror.ids("person") == "1 2 50")
    }

    @Test(arguments: [["--allow-empty"], ["--max-delete", "3"], ["--mirror-scope", "all"], ["--despite-rejects"]])
    func itsOptionsNeedIt(option: [String]) throws {
        let result = try mirror.importing(MirroredStore.users(1...2), option)
        #expect(result.ending == .exit(64))
        #expect(result.errorText.contains("needs --mirror"), "\(result.errorText)")
    }

    @Test(arguments: ["nothing = 1", "name >", "id = 'x'"]) func refusesAScopeThatMakesNoSense(scope: String) throws {
        let result = try mirror.mirroring(MirroredStore.users(1...2), "--mirror-scope", scope)
        #expect(result.ending == .exit(64), "\(result.errorText)")
        #expect(result.errorText.contains("--mirror-scope"), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: mirror.store))
    }

    @Test func aSourceThatBreaksOffDeletesNothingBeforeItIsWhole() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...3))
        let broken = try mirror.mirroring(#"[{"id": 1, "name": "u1"}, {"id": 2"#, as: "next.json")
        #expect(broken.ending == .exit(65))
        #expect(try mirror.ids() == "1 2 3")
        try mirror.directory.write(#"[{"id": 1, "name": "u1"}, {"id": 2}]"#, to: "next.json")
        let resumed = try mirror.running(["resume", mirror.store])
        #expect(resumed.number("deleted") == 1, "\(resumed.errorText)")
        #expect(try mirror.ids() == "1 2")
    }

    @Test func tooManyRejectsEndItBeforeAnythingIsDeleted() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...3))
        let second = try mirror.mirroring(#"[{"id": 1}, {"id": 2, "name": [1]}]"#, "--max-errors", "10%")
        #expect(second.ending == .exit(65))
        #expect(try mirror.ids() == "1 2 3")
    }

    // MARK: What is withheld

    @Test func anEmptySourceDeletesNothingUnlessItMay() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...3))
        let empty = try mirror.mirroring("[]")
        #expect(empty.ending == .exit(65) && empty.reason == "empty" && empty.number("withheld") == 3)
        #expect(empty.errorText.contains("importer mirror"), "\(empty.errorText)")
        #expect(try mirror.ids() == "1 2 3")
        let allowed = try mirror.mirroring("[]", "--allow-empty")
        #expect(allowed.ending == .exit(0) && allowed.number("deleted") == 3, "\(allowed.errorText)")
        #expect(try mirror.ids().isEmpty)
        #expect(try mirror.mirroring("[]").ending == .exit(0))
    }

    @Test func aRejectThatNobodyCanTellDeletesNothingUnlessItMay() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...3))
        for text in [#"[{"id": 1}, {"id": "what?"}]"#, #"[{"id": 1}, {"name": "x"}]"#, #"[{"id": 1}, 7]"#] {
            let second = try mirror.mirroring(text)
            #expect(second.ending == .exit(65) && second.reason == "rejects", "\(text) \(second.errorText)")
        }
        #expect(try mirror.ids() == "1 2 3")
        #expect(try mirror.mirroring(#"[{"id": 1}, {"id": "what?"}]"#, "--despite-rejects").number("deleted") == 2)
        #expect(try mirror.ids() == "1")
    }

    @Test func aRejectProtectsItsObjectInAnyFormOfIdentifier() throws {
        let model = """
            {"entities": {"user": {"identifier": ["host", "id"], "records": "$.*", "attributes": {
              "host": {"type": "string", "from": "$key", "transform": ["uppercase"]}, "id": {"type": "integer64", "from": "a.id"},
              "name": {"type": "string", "optional": true}}}}}
            """
        let mirror = try MirroredStore(model: model)
        let first = try mirror.mirroring(#"{"x": {"a": {"id": 1}}, "y": {"a": {"id": "2"}}, "z": {"a": {"id": 3}}}"#)
        #expect(first.number("inserted") == 3, "\(first.errorText)")
        let second = try mirror.mirroring(#"{"x": {"a": {"id": 1}}, "y": {"a": {"id": "2"}, "name": {}}}"#)
        #expect(second.number("deleted") == 1 && second.number("rejected") == 1, "\(second.errorText)")
        #expect(try mirror.query("SELECT host, id FROM user ORDER BY 1") == "X|1\nY|2")
    }

    @Test func moreThanTheLimitIsWithheldAndTenMayAlwaysGo() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...200))
        let many = try mirror.mirroring(MirroredStore.users(22...200))
        #expect(many.ending == .exit(65) && many.reason == "limit" && many.number("withheld") == 21)
        #expect(try mirror.query("SELECT count(*) FROM user") == "200")
        #expect(try mirror.mirroring(MirroredStore.users(21...200)).number("deleted") == 20)
        #expect(try mirror.mirroring(MirroredStore.users(30...200), "--max-delete", "8").reason == "limit")
        #expect(try mirror.mirroring(MirroredStore.users(31...200), "--max-delete", "5%").reason == "limit")
        #expect(try mirror.mirroring(MirroredStore.users(30...200), "--max-delete", "5%").number("deleted") == 9)
        #expect(try mirror.mirroring(MirroredStore.users(21...30), "--max-delete", "0").reason == "limit")
    }

    @Test func ofFewObjectsTenMayGoAndElevenMayNot() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...20))
        #expect(try mirror.mirroring(MirroredStore.users(12...20)).reason == "limit")
        #expect(try mirror.mirroring(MirroredStore.users(11...20)).number("deleted") == 10)
    }

    @Test func additionsAndUpdatesStayWhereDeletionsAreWithheld() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...20))
        let second = try mirror.mirroring(#"[{"id": 1, "name": "new"}, {"id": 77}]"#)
        #expect(second.reason == "limit" && second.number("withheld") == 19)
        #expect(try mirror.query("SELECT count(*), (SELECT name FROM user WHERE id = 1) FROM user") == "21|new")
        #expect(try runImporter("status", mirror.store, "--job", "2").outputText.contains("withheld"))
    }

    // MARK: Carrying on

    @Test func carriesOnWithoutTheSource() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...20))
        _ = try mirror.mirroring(MirroredStore.users([1, 500]))
        try FileManager.default.removeItem(atPath: mirror.directory.path("user.json"))
        let small = try mirror.finishing(job: 2, "--max-delete", "10%")
        #expect(small.ending == .exit(65) && small.reason == "limit", "\(small.errorText)")
        let all = try mirror.finishing(job: 2, "--max-delete", "100%")
        #expect(
            all.ending == .exit(0) && all.number("deleted") == 19 && all.number("withheld") == 0,
            "\(all.errorText)"
        )
        #expect(try mirror.ids() == "1 500")
        #expect(try mirror.finishing(job: 2).ending == .exit(0))
        #expect(try runImporter("verify", mirror.store).ending == .exit(0))
    }

    @Test func carriesOnWithNothingThatALaterJobMayHaveUsed() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...20))
        _ = try mirror.mirroring(MirroredStore.users([1]))
        _ = try mirror.importing(MirroredStore.users([5]))
        let late = try mirror.finishing(job: 2, "--max-delete", "100%")
        #expect(late.ending == .exit(65), "\(late.errorText)")
        #expect(late.errorText.contains("job 3"), "\(late.errorText)")
        #expect(try mirror.query("SELECT count(*) FROM user") == "20")
    }

    @Test func aRetryIsALaterJob() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...3))
        _ = try mirror.mirroring(#"[{"id": 1}, {"id": "2x"}]"#)
        let file = mirror.directory.path("fix.ndjson")
        #expect(try runImporter("rejects", mirror.store, "--to", file).ending == .exit(0))
        let text = try String(contentsOfFile: file, encoding: .utf8).replacing(#""2x""#, with: "2")
        try mirror.directory.write(text, to: "fix.ndjson")
        let retried = try mirror.running(["retry", mirror.store, file])
        #expect(retried.ending == .exit(0) && retried.report["deleted"] == nil, "\(retried.errorText)")
        #expect(try mirror.ids() == "1 2 3")
        #expect(try mirror.finishing(job: 2, "--despite-rejects").ending == .exit(65))
        #expect(try mirror.mirroring(MirroredStore.users(1...2)).number("deleted") == 1)
    }

    @Test func carriesOnWithMirrorsOnlyThatAreFinished() throws {
        _ = try mirror.importing(MirroredStore.users(1...3))
        #expect(try mirror.finishing(job: 1).ending == .exit(64))
        #expect(try mirror.finishing(job: 9).ending == .exit(66))
        _ = try mirror.mirroring(#"[{"id": 1}, {"#, as: "cut.json")
        #expect(try mirror.finishing(job: 2).ending == .exit(64))
    }

    @Test func rowsThatHaveOtherRowIDsNowAreNotTakenForThoseThatWereSeen() throws {
        let model = MirroredStore.users.replacing("integer64", with: "string")
        let mirror = try MirroredStore(model: model)
        func users(_ ids: ClosedRange<Int>) -> String {
            "[" + ids.map { #"{"id": "\#($0)"}"# }.joined(separator: ",") + "]"
        }
        _ = try mirror.mirroring(users(1...40))
        _ = try mirror.mirroring(users(30...40))
        try StoreContent.execute(mirror.store, "UPDATE user SET rowid = 1000 - rowid")
        let late = try mirror.finishing(job: 2, "--max-delete", "100%")
        #expect(late.ending == .exit(65), "\(late.errorText)")
        #expect(try mirror.query("SELECT count(*) FROM user") == "40")
    }

    // MARK: Scope

    @Test func whatSomebodyHasAddedStaysUnlessAllIsInScope() throws {
        _ = try mirror.importing(MirroredStore.users(1...3))
        try StoreContent.execute(mirror.store, "INSERT INTO user VALUES (50, 'mine')")
        #expect(try mirror.mirroring(MirroredStore.users(1...2)).number("deleted") == 1)
        #expect(try mirror.ids() == "1 2 50")
        #expect(try mirror.mirroring(MirroredStore.users(1...2), "--mirror-scope", "all").number("deleted") == 1)
        #expect(try mirror.ids() == "1 2")
    }

    @Test func aRowIDThatIsGivenAgainIsAnothersRow() throws {
        let mirror = try MirroredStore(model: MirroredStore.users.replacing("integer64", with: "string"))
        _ = try mirror.mirroring(#"[{"id": "a"}, {"id": "b"}]"#)
        _ = try mirror.mirroring(#"[{"id": "a"}]"#)
        try StoreContent.execute(mirror.store, "INSERT INTO user (id) VALUES ('mine')")
        #expect(try mirror.query("SELECT rowid FROM user WHERE id = 'mine'") == "2")
        #expect(try mirror.mirroring(#"[{"id": "a"}]"#).number("deleted") == 0)
        #expect(try mirror.ids() == "a mine")
    }

    @Test func scatteredRowIDsAreKnownHoweverManyACommitHas() throws {
        let ids = (0..<30_000).map { $0 * 7 }
        _ = try mirror.importing(MirroredStore.users(ids), ["--commit-every", "100000"])
        try StoreContent.execute(mirror.store, "INSERT INTO user VALUES (1, 'mine'), (8, 'mine')")
        let second = try mirror.mirroring(MirroredStore.users(ids.dropFirst(2)))
        #expect(second.number("deleted") == 2, "\(second.errorText)")
        #expect(try mirror.query("SELECT count(*) FROM user WHERE id < 10") == "2")
    }

    @Test func aPredicateIsTheScopeOfAPartOfAnExport() throws {
        _ = try mirror.mirroring(#"[{"id": 1, "name": "p"}, {"id": 2, "name": "p"}, {"id": 3, "name": "q"}]"#)
        let part = try mirror.mirroring(#"[{"id": 2, "name": "p"}]"#, "--mirror-scope", "name = 'p'")
        #expect(part.number("deleted") == 1, "\(part.errorText)")
        #expect(try mirror.ids() == "2 3")
    }

    // MARK: Looking first

    @Test func aDryRunSaysWhatWouldGoAndChangesNothing() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...300))
        let before = try StoreContent.result(mirror.store)
        let files = mirror.directory.names()
        let source = try mirror.directory.write(MirroredStore.users(26...300), to: "next.json")
        let command = [
            Project.importer, source, "--into", mirror.store, "--model", mirror.model, "--mirror", "--dry-run",
        ]
        let text = try run(command + ["--entity", "user"])
        #expect(text.ending == .exit(0), "\(text.errorText)")
        #expect(text.outputText.contains("Would be deleted: 25 user\n  user id 1\n"), "\(text.outputText)")
        #expect(text.outputText.contains("  user id 20\n  … and 5 more"), "\(text.outputText)")
        let json = try run(command + ["--entity", "user", "--json", "--max-delete", "3"])
        let preview = try JSONSerialization.jsonObject(with: json.output) as? [String: Any]
        let report = (preview?["mirror"] as? [String: Any])?["report"] as? [String: Any]
        #expect(report?["withheld_reason"] as? String == "limit" && report?["withheld"] as? Int == 25)
        #expect((report?["deleted_list"] as? [Any])?.count == 20)
        #expect(try StoreContent.result(mirror.store) == before)
        #expect(mirror.directory.names() == (files + ["next.json"]).sorted())
    }
}
