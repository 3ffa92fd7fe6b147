import Foundation
import TestSupport
import Testing

/// `importer patch`: each line of the table of what changes come to, and the policies for conflicts.
struct PatchTests {
    private let patched: PatchedStore

    init() throws {
        patched = try PatchedStore()
        try patched.make(
            "s.db",
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, city TEXT, note TEXT, mail TEXT UNIQUE CHECK (mail <> 'bad'));
            CREATE TABLE pet(id INTEGER PRIMARY KEY, name TEXT, owner INTEGER REFERENCES p(id) ON DELETE CASCADE);
            CREATE TABLE card(id INTEGER PRIMARY KEY, p INTEGER REFERENCES p(id));
            INSERT INTO p VALUES(1,'Oslo','n','a@x'),(2,'Rome','m','b@x'),(3,'Pune',NULL,NULL);
            INSERT INTO pet VALUES(10,'Rex',1),(11,'Tom',2);
            INSERT INTO card VALUES(20,3);
            """
        )
    }

    private static let entities = """
        {"p":{"identifier":["id"],"attributes":{"id":{"type":"any"},"city":{"type":"any"},"note":{"type":"any"},"mail":{"type":"any"}},\
        "relationships":{"pet":{"entity":"pet","toMany":true,"owned":true}}},\
        "pet":{"identifier":["id"],"attributes":{"id":{"type":"any"},"name":{"type":"any"}},"relationships":{"owner":{"entity":"p"}}}}
        """

    private func write(_ changes: String...) throws { try patched.write(Self.entities, changes) }

    private func updated(_ id: Int, _ old: String, _ new: String) -> String {
        #"{"change":"updated","entityName":"p","identifier":{"id":\#(id)},"attributes":{"old":{\#(old)},"new":{\#(new)}}}"#
    }

    private func inserted(_ id: Int, _ city: String, mail: String = "null") -> String {
        #"{"change":"inserted","entityName":"p","identifier":{"id":\#(id)},"attributes":{"new":{"id":\#(id),"city":"\#(city)","note":null,"mail":\#(mail)}}}"#
    }

    private func deleted(_ id: Int, _ old: String, pets: String = "") -> String {
        let parts = pets.isEmpty ? "" : #","relationships":{"pet":[\#(pets)]}"#
        return
            #"{"change":"deleted","entityName":"p","identifier":{"id":\#(id)},"attributes":{"old":{"id":\#(id),\#(old)}}\#(parts)}"#
    }

    private static let rex =
        #"{"change":"deleted","entityName":"pet","identifier":{"id":10},"attributes":{"old":{"id":10,"name":"Rex"}}}"#

    private func people() throws -> String { try patched.rows("SELECT id, city FROM p ORDER BY id") }

    // MARK: What changes come to

    @Test func writesWhatTheChangeLeadsFromAndCountsWhatIsThereAlready() throws {
        try write(
            updated(1, #""city":"Oslo""#, #""city":"Bonn""#),
            updated(2, #""city":"Wien""#, #""city":"Rome""#),
            inserted(4, "Kiel"),
            inserted(3, "Pune"),
            deleted(9, #""city":"Nice""#)
        )
        #expect(
            try patched.counts(patched.report("patch"))
                == ["records_read": 5, "updated": 1, "inserted": 1, "unchanged": 3]
        )
        #expect(try people() == "1|Bonn\n2|Rome\n3|Pune\n4|Kiel")
        try patched.verify()
    }

    @Test func deletesByTheDeleteRules() throws {
        try write(deleted(1, #""city":"Oslo","note":"n","mail":"a@x""#, pets: Self.rex))
        let report = try patched.report("patch")
        #expect(patched.counts(report) == ["records_read": 1, "deleted": 1])
        let pets = (report["entities"] as? [String: [String: Any]])?["pet"]?["deleted"] as? Int
        #expect(pets == 1)
        #expect(try patched.rows("SELECT count(*) FROM pet") == "1")
        try patched.verify()
    }

    @Test(arguments: [
        (
            #"{"change":"updated","entityName":"p","identifier":{"id":1},"attributes":{"old":{"city":"Bern"},"new":{"city":"Bonn"}}}"#,
            "changed 1 city"
        ),
        (
            #"{"change":"updated","entityName":"p","identifier":{"id":7},"attributes":{"old":{"city":"Bern"},"new":{"city":"Bonn"}}}"#,
            "missing 7"
        ),
        (
            #"{"change":"inserted","entityName":"p","identifier":{"id":2},"attributes":{"new":{"id":2,"city":"Kiel","note":null,"mail":null}}}"#,
            "exists 2"
        ),
        (
            #"{"change":"deleted","entityName":"p","identifier":{"id":3},"attributes":{"old":{"id":3,"city":"Nice","note":null,"mail":null}}}"#,
            "changed 3"
        ),
        (
            #"{"change":"deleted","entityName":"p","identifier":{"id":1},"attributes":{"old":{"id":1,"city":"Oslo","note":"n","mail":"a@x"}}}"#,
            "changed 1"
        ),
    ])
    func stopsAtAConflictAndLeavesTheStoreToTheByte(_ change: String, _ conflict: String) throws {
        try write(change, inserted(4, "Kiel"))
        let before = try patched.bytes
        #expect(try patched.conflicts(patched.report("patch", code: 65)) == [conflict])
        #expect(try patched.bytes == before)
        let text = try patched.patch()
        #expect(text.ending == .exit(65))
        #expect(text.outputText.contains(conflict.split(separator: " ")[0]))
    }

    @Test(arguments: [
        (#""mail":"a@x""#, "mail"), (#""mail":"bad""#, "mail"),
    ])
    func aConstraintStopsBeforeItsCommit(_ value: String, _ attribute: String) throws {
        try write(updated(3, #""mail":null"#, value), inserted(4, "Kiel"))
        #expect(try patched.conflicts(patched.report("patch", code: 65)) == ["constraint 3 \(attribute)"])
        #expect(try people() == "1|Oslo\n2|Rome\n3|Pune")
        // The same command with a policy resumes it; what the table refuses is a reject then.
        #expect(
            try patched.counts(patched.report("patch", "--conflicts", "take"))
                == ["records_read": 2, "inserted": 1, "rejected": 1, "conflicts": 1]
        )
        #expect(try people() == "1|Oslo\n2|Rome\n3|Pune\n4|Kiel")
        try patched.verify()
    }

    @Test func whatOthersReferToIsNotDeleted() throws {
        try write(deleted(3, #""city":"Pune","note":null,"mail":null"#))
        #expect(try patched.conflicts(patched.report("patch", code: 65)) == ["constraint 3"])
        #expect(try patched.counts(patched.report("patch", "--conflicts", "keep"))["rejected"] == 1)
        #expect(try patched.rows("SELECT count(*) FROM p") == "3")
    }

    /// A trigger of the store changes an object after the check has found it as the change says.
    @Test func aConflictThatOnlyTheWritingTransactionFindsStopsBeforeItsCommit() throws {
        try patched.make(
            "s.db",
            """
            CREATE TRIGGER other AFTER UPDATE OF city ON p WHEN new.id = 1
            BEGIN UPDATE p SET city = 'Lima' WHERE id = 2; END
            """
        )
        let before = try patched.digest
        try write(updated(1, #""city":"Oslo""#, #""city":"Bonn""#), updated(2, #""city":"Rome""#, #""city":"Kiel""#))
        let report = try patched.report("patch", "--commit-every", "1", code: 65)
        #expect(try patched.conflicts(report) == ["changed 2 city"])
        #expect(try people() == "1|Bonn\n2|Lima\n3|Pune")
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.digest == before)
    }

    // MARK: Policies

    private func conflicting() throws {
        try write(
            updated(1, #""city":"Bern","note":"n""#, #""city":"Bonn","note":"new""#),
            updated(7, #""city":"Bern""#, #""city":"Bonn""#),
            inserted(2, "Kiel"),
            deleted(3, #""city":"Nice","note":null,"mail":null"#)
        )
    }

    @Test func keepLeavesTheStoresValueAndWritesTheRest() throws {
        try conflicting()
        let counts = try patched.counts(patched.report("patch", "--conflicts", "keep"))
        #expect(counts == ["records_read": 4, "updated": 1, "ignored": 3, "conflicts": 4])
        #expect(try patched.rows("SELECT id, city, note FROM p ORDER BY id") == "1|Oslo|new\n2|Rome|m\n3|Pune|")
        try patched.verify()
    }

    @Test func takeWritesTheChangesValue() throws {
        try patched.make("s.db", "DELETE FROM card")
        try conflicting()
        let counts = try patched.counts(patched.report("patch", "--conflicts", "take"))
        #expect(counts == ["records_read": 4, "updated": 2, "inserted": 1, "deleted": 1, "conflicts": 4])
        #expect(try people() == "1|Bonn\n2|Kiel\n7|Bonn")
        try patched.verify()
    }

    @Test func takeDeletesWithWhatTheObjectOwns() throws {
        try write(deleted(1, #""city":"Oslo","note":"n","mail":"a@x""#))
        #expect(try patched.counts(patched.report("patch", "--conflicts", "take"))["deleted"] == 1)
        #expect(try patched.rows("SELECT id FROM pet") == "11")
        try patched.verify()
    }

    @Test(arguments: [("stop", "m x y"), ("keep", "m x y"), ("take", "x z"), ("reject", "m x y")])
    func partsWithoutIdentifierAreAValueThatMayBeInTheWay(_ policy: String, _ result: String) throws {
        let other = try PatchedStore()
        let sql = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, v);
            CREATE TABLE line(t INTEGER REFERENCES t(id) ON DELETE CASCADE, word TEXT);
            INSERT INTO t VALUES(1, 'a'); INSERT INTO line VALUES(1, 'x');
            """
        try other.make("a.db", sql + "INSERT INTO line VALUES(1, 'y');")
        try other.make("b.db", sql + "INSERT INTO line VALUES(1, 'z');")
        try other.diff()
        try other.make("s.db", "INSERT INTO line VALUES(1, 'm')")
        let report = try other.report("patch", "--conflicts", policy, code: policy == "stop" ? 65 : 0)
        #expect(try other.conflicts(report) == ["changed 1 line"])
        #expect(
            try other.rows("SELECT group_concat(word, ' ') FROM (SELECT word FROM line ORDER BY word)") == result
        )
    }

    @Test func rejectWritesNothingOfTheLine() throws {
        try conflicting()
        let counts = try patched.counts(patched.report("patch", "--conflicts", "reject"))
        #expect(counts == ["records_read": 4, "rejected": 4, "conflicts": 4])
        #expect(try patched.rows("SELECT id, city, note FROM p ORDER BY id") == "1|Oslo|n\n2|Rome|m\n3|Pune|")
        let rejects = try runImporter("rejects", patched.store, "--json", "--show-values")
        #expect(rejects.outputText.split(separator: "\n").count == 4)
        #expect(rejects.outputText.contains(#""code":"conflict""#))
        try patched.verify()
    }

    @Test func aPolicyIsForAnEntityOrAnAttribute() throws {
        try write(updated(1, #""city":"Bern","note":"x""#, #""city":"Bonn","note":"new""#))
        let counts = try patched.counts(
            patched.report("patch", "--conflicts", "p:keep", "--conflicts", "p.city:take", "--conflicts", "stop")
        )
        #expect(counts["updated"] == 1)
        #expect(try patched.rows("SELECT city, note FROM p WHERE id = 1") == "Bonn|n")
        #expect(try patched.patch("--conflicts", "maybe").ending == .exit(64))
        #expect(try patched.patch("--conflicts", ".city:take").ending == .exit(64))
    }

    // MARK: The end counts

    @Test(arguments: [("keep", "Oslo|n|c@x"), ("take", "Bonn|new|c@x")])
    func attributesThatBelongTogetherAreWrittenTogetherOrNotAtAll(_ policy: String, _ result: String) throws {
        let entities = Self.entities.replacing(
            #"{"p":{"identifier":["id"],"#,
            with: #"{"p":{"identifier":["id"],"together":[["city","note"]],"#
        )
        let old = #""city":"Oslo","note":"other","mail":"a@x""#
        try patched.write(entities, [updated(1, old, #""city":"Bonn","note":"new","mail":"c@x""#)])
        let report = try patched.report("patch", "--conflicts", policy)
        #expect(try patched.conflicts(report) == ["changed 1 note"])
        #expect(try patched.rows("SELECT city, note, mail FROM p WHERE id = 1") == result)
    }

    @Test(arguments: [1, 100])
    func uniqueValuesAreSwapped(_ commitEvery: Int) throws {
        try write(
            updated(1, #""mail":"a@x""#, #""mail":"b@x""#),
            updated(2, #""mail":"b@x""#, #""mail":"c@x""#),
            inserted(5, "Kiel", mail: #""a@x""#)
        )
        let counts = try patched.counts(patched.report("patch", "--commit-every", "\(commitEvery)"))
        #expect(counts == ["records_read": 3, "updated": 2, "inserted": 1])
        #expect(try patched.rows("SELECT id, mail FROM p ORDER BY id") == "1|b@x\n2|c@x\n3|\n5|a@x")
        try patched.verify()
    }

    @Test func aReferenceMayComeBeforeItsObject() throws {
        let pet =
            #"{"change":"inserted","entityName":"pet","identifier":{"id":30},"attributes":{"new":{"id":30,"name":"Ace"}},"references":{"owner":{"new":{"id":9}}}}"#
        try write(pet, inserted(9, "Kiel"))
        #expect(try patched.counts(patched.report("patch", "--commit-every", "1"))["inserted"] == 2)
        #expect(try patched.rows("SELECT owner FROM pet WHERE id = 30") == "9")
        try write(
            #"{"change":"updated","entityName":"pet","identifier":{"id":30},"references":{"owner":{"old":{"id":9},"new":{"id":99}}}}"#
        )
        #expect(try patched.conflicts(patched.report("patch", code: 65)) == ["constraint 30 owner"])
    }

    // MARK: Options

    @Test func aPatchTwiceIsAPatchOnce() throws {
        try write(updated(1, #""city":"Oslo""#, #""city":"Bonn""#), inserted(4, "Kiel"))
        _ = try patched.report("patch")
        let digest = try patched.digest
        let again = try run([Project.importer, "patch", patched.store, patched.file, "--progress", "none"])
        #expect(again.ending == .exit(0) && again.outputText.contains("already"), "\(again.outputText)")
        #expect(try patched.counts(patched.report("patch", "--again")) == ["records_read": 2, "unchanged": 2])
        #expect(try patched.digest == digest)
    }

    @Test func aDryRunChangesNoByte() throws {
        try write(updated(1, #""city":"Oslo""#, #""city":"Bonn""#), inserted(4, "Kiel"))
        let before = try patched.bytes
        #expect(
            try patched.counts(patched.report("patch", "--dry-run"))
                == ["records_read": 2, "updated": 1, "inserted": 1]
        )
        #expect(try patched.bytes == before)
        #expect(patched.directory.names() == ["c.changes.ndjson", "s.db"])
    }

    @Test func atomicIsOneTransaction() throws {
        try write(inserted(4, "Kiel"), inserted(5, "Bonn", mail: #""bad""#))
        #expect(try patched.conflicts(patched.report("patch", "--commit-every", "1", "--atomic", code: 65)).count == 1)
        #expect(try people() == "1|Oslo\n2|Rome\n3|Pune")
    }

    @Test func whatIsNotWholeIsRefusedUnlessItIsAskedFor() throws {
        try patched.write(Self.entities, [inserted(4, "Kiel"), #"{"change":"inserted","entityNa"#], hasFooter: false)
        let before = try patched.bytes
        #expect(try patched.patch().ending == .exit(65))
        #expect(try patched.bytes == before)
        #expect(try patched.counts(patched.report("patch", "--partial")) == ["records_read": 1, "inserted": 1])
        #expect(try people().hasSuffix("4|Kiel"))
        try patched.verify()
    }

    @Test(arguments: [
        #"{"change":"inserted","entityName":"p","identifier":{"id":9},"attributes":{"new":{"id":8,"city":"Kiel"}}}"#,
        #"{"change":"updated","entityName":"p","identifier":{"id":1},"attributes":{"old":{"id":1},"new":{"id":8}}}"#,
        #"{"change":"deleted","entityName":"p","identifier":{"id":3},"attributes":{"old":{"id":"3","city":"Pune","note":null,"mail":null}}}"#,
        #"{"change":"updated","entityName":"p","identifier":{"id":1},"relationships":{"pet":[{"change":"inserted","entityName":"pet","identifier":{"id":12},"attributes":{"new":{"id":13,"name":"Ann"}}}]}}"#,
    ])
    func anIdentifierThatTheAttributesContradictIsRefused(_ change: String) throws {
        try write(inserted(4, "Kiel"), change)
        let before = try patched.bytes
        let result = try patched.patch("--conflicts", "take")
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("line 3: "), "\(result.errorText)")
        #expect(try patched.bytes == before)
    }

    @Test func whatIsLeftOutOfAChangeSetThatBreaksOffIsSaid() throws {
        try patched.write(Self.entities, [inserted(4, "Kiel"), "{}", inserted(5, "Bonn")])
        let result = try run([
            Project.importer, "patch", patched.store, patched.file, "--partial", "--progress", "lines",
        ])
        #expect(result.ending == .exit(0))
        #expect(result.errorText.contains("line 3: "))
        #expect(result.errorText.contains("only the changes before that are applied"))
        #expect(try people().hasSuffix("4|Kiel"))
        // Where nothing is whole, nothing was taken.
        try patched.write(Self.entities, ["{}", inserted(5, "Bonn")])
        let before = try patched.bytes
        #expect(try patched.patch("--partial").ending == .exit(65))
        #expect(try patched.bytes == before)
        try Data().write(to: URL(filePath: patched.directory.path("empty")))
        let empty = try run(
            [Project.importer, "patch", patched.store, "-", "--quiet"],
            input: patched.directory.path("empty")
        )
        #expect(empty.ending == .exit(65))
        #expect(empty.errorText.contains("standard input: line 1: the file is empty"))
    }

    @Test func withoutOldValuesItMustBeAskedFor() throws {
        let change =
            #"{"change":"updated","entityName":"p","identifier":{"id":1},"attributes":{"new":{"city":"Bonn"}}}"#
        try patched.write(Self.entities, [change], options: #"{"old":"none"}"#)
        #expect(try patched.patch().ending == .exit(65))
        #expect(try patched.counts(patched.report("patch", "--unchecked"))["updated"] == 1)
        #expect(try people().hasPrefix("1|Bonn"))
    }

    @Test func readsStandardInput() throws {
        try write(inserted(4, "Kiel"))
        let result = try run(
            [Project.importer, "patch", patched.store, "-", "--quiet"],
            input: patched.file
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try people().hasSuffix("4|Kiel"))
        // What was kept of it is gone.
        #expect(patched.directory.names() == ["c.changes.ndjson", "s.db"])
        try patched.verify()
    }

    @Test func entitiesThatTheStoreLacksAreRefusedAndAttributesCounted() throws {
        try patched.write(
            #"{"q":{"identifier":["id"],"attributes":{"id":{"type":"any"}}}}"#,
            [
                #"{"change":"inserted","entityName":"q","identifier":{"id":1},"attributes":{"new":{"id":1}}}"#
            ]
        )
        #expect(try patched.patch().ending == .exit(65))
        try write(updated(1, #""city":"Oslo","fax":"1""#, #""city":"Bonn","fax":"2""#))
        let report = try patched.report("patch")
        let ledger = report["ledger"] as? [String: [String: [String: Int]]]
        #expect(ledger?["p"]?["fax"]?["unknownKey"] == 1)
        #expect(try people().hasPrefix("1|Bonn"))
    }

    @Test func whatAnIncludedReferenceLeadsToIsChangedAsItself() throws {
        let schema = "CREATE TABLE p(id INTEGER PRIMARY KEY, v, next INTEGER REFERENCES p(id));"
        for (name, value) in [("a.db", 0), ("b.db", 1)] {
            try patched.make(
                name,
                schema + "INSERT INTO p VALUES(1,\(value),2),(2,\(value),3),(3,\(value),1);"
                    + (value == 1 ? "INSERT INTO p VALUES(4,1,NULL); UPDATE p SET next = 4 WHERE id = 3;" : "")
            )
        }
        try FileManager.default.removeItem(atPath: patched.store)
        try patched.diff("--include", "p.next", "--root", "p=1")
        #expect(try String(contentsOfFile: patched.file, encoding: .utf8).split(separator: "\n").count == 3)
        let report = try patched.report("patch")
        #expect(patched.counts(report) == ["records_read": 1, "updated": 1])
        #expect(
            try patched.rows("SELECT * FROM p") == StoreContent.query(patched.directory.path("b.db"), "SELECT * FROM p")
        )
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.digest == StoreContent.digest(patched.directory.path("a.db")))
        try patched.verify()
    }
}
