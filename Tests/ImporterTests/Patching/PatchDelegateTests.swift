import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportChanges

/// What a program has to say in a patch.
struct PatchDelegateTests {
    private let directory: TemporaryDirectory
    private let changes: URL
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        changes = URL(filePath: directory.path("c.changes.ndjson"))
        store = directory.path("s.db")
        let sql = """
            CREATE TABLE p(id INTEGER PRIMARY KEY, city TEXT, age INTEGER);
            CREATE TABLE pet(id INTEGER PRIMARY KEY, name TEXT, owner INTEGER REFERENCES p(id) ON DELETE CASCADE);
            INSERT INTO p VALUES(1,'Oslo',1),(2,'Rome',2),(3,'Pune',3);
            """
        try StoreContent.execute(directory.path("a.db"), sql)
        try StoreContent.execute(
            directory.path("b.db"),
            sql + "UPDATE p SET city = 'Bonn', age = 10; INSERT INTO p VALUES(4,'Kiel',4)"
        )
        try StoreDifference(from: directory.path("a.db"), to: directory.path("b.db")).write(
            to: ChangeSetWriter(changes)
        )
        try StoreContent.execute(store, sql + "UPDATE p SET age = 20 WHERE id = 1; UPDATE p SET age = 5 WHERE id = 2")
    }

    private struct Conflicts: PatchDelegate {
        let resolution: PatchResolution?

        func resolve(_ conflict: PatchConflict) -> PatchResolution? {
            conflict.identifier.values.first?.value == .integer(1) ? resolution : .keep
        }
    }

    private func people() throws -> String { try StoreContent.query(store, "SELECT * FROM p ORDER BY id") }

    @Test(arguments: [
        (PatchResolution.keep, "1|Bonn|20"), (.take, "1|Bonn|10"), (.value(.integer(15)), "1|Bonn|15"),
        (.reject, "1|Oslo|20"),
    ])
    func resolvesConflicts(_ resolution: PatchResolution, _ first: String) throws {
        let report = try PatchPipeline(changes, into: store, delegate: Conflicts(resolution: resolution)).run().report
        #expect(report.conflicts == 2 && report.rejected == (resolution == .reject ? 1 : 0))
        #expect(try people() == "\(first)\n2|Bonn|5\n3|Bonn|10\n4|Kiel|4")
    }

    @Test func withoutAnAnswerTheOptionsCount() throws {
        let before = try Data(contentsOf: URL(filePath: store))
        let error = #expect(throws: ImportError.self) {
            try PatchPipeline(changes, into: store, delegate: Conflicts(resolution: nil)).run()
        }
        #expect(error?.reason == .changesConflict)
        #expect(try Data(contentsOf: URL(filePath: store)) == before)
    }

    private struct Manual: PatchDelegate {
        func patch(_ change: ObjectChange, _ object: [NamedValue]?) -> PatchDecision {
            switch change.identifier.values.first?.value {
            case .integer(1): return .skip
            case .integer(2):
                // What the store has is handed over.
                guard case .text(let city)? = object?.first(where: { $0.name == "city" })?.value else { return .skip }
                return .attributes([NamedValue("city", .text(city + "!")), NamedValue("age", .null)])
            default: return .standard
            }
        }

        func attributesForInserted(_ change: ObjectChange) -> PatchAddition {
            let pet = ObjectChange(
                .inserted,
                entity: "pet",
                identifier: ObjectReference([NamedValue("id", .integer(7))]),
                attributes: [
                    AttributeChange("id", new: .integer(7)), AttributeChange("name", new: .text("Rex")),
                ]
            )
            guard change.entity == "p" else { return PatchAddition() }
            return PatchAddition(relationships: [OwnedChange("pet", .objects([pet]))])
        }
    }

    @Test func patchesByHandAndAddsWhatBelongsToNewObjects() throws {
        let report = try PatchPipeline(changes, into: store, delegate: Manual()).run().report
        #expect(report.recordsRead == 4 && report.ignored == 1 && report.updated == 2 && report.inserted == 1)
        #expect(try people() == "1|Oslo|20\n2|Rome!|\n3|Bonn|10\n4|Kiel|4")
        #expect(try StoreContent.query(store, "SELECT * FROM pet") == "7|Rex|4")
        #expect(try StoreInspection(store: store).verify().allSatisfy(\.holds))
        try UndoPipeline(of: store).run()
        #expect(try people() == "1|Oslo|20\n2|Rome|5\n3|Pune|3")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM pet") == "0")
    }

    private struct Ages: PatchDelegate {
        func value(_ json: JSONValue, of attribute: AttributeDescription) -> StoredValue? {
            attribute.name == "age" && json == .string("four") ? .integer(4) : nil
        }
    }

    @Test func readsValuesThatDoNotFitTheirTypes() throws {
        let text = """
            {"format":"importer-changes","version":1,"program":"0","old":{"name":"a"},"new":{"name":"b"},"entities":{"p":\
            {"identifier":["id"],"attributes":{"id":{"type":"integer64"},"age":{"type":"integer64"}}}},"options":{}}
            {"change":"updated","entityName":"p","identifier":{"id":3},"attributes":{"old":{"age":3},"new":{"age":"four"}}}
            {"end":true,"changes":1}

            """
        try Data(text.utf8).write(to: changes)
        #expect(throws: ImportError.self) { try PatchPipeline(changes, into: store).run() }
        try PatchPipeline(ChangeSetReader(changes), into: store, delegate: Ages()).run()
        #expect(try StoreContent.query(store, "SELECT age, typeof(age) FROM p WHERE id = 3") == "4|integer")
    }

    @Test func othersHearWhatAPatchAndItsUndoHaveChanged() throws {
        let follower = try StoreFollower(store: store)
        func heard() throws -> [Int64] {
            var counts: [Int64] = [0, 0, 0]
            while let merge = try follower.poll() {
                for change in merge.changes where change.entity == "p" {
                    for (place, count) in [change.inserted, change.updated, change.deleted].enumerated() {
                        counts[place] += count
                    }
                }
            }
            return counts
        }
        try PatchPipeline(changes, into: store, delegate: Conflicts(resolution: .take)).run()
        #expect(try heard() == [1, 3, 0])
        try UndoPipeline(of: store).run()
        #expect(try heard() == [0, 3, 1])
    }
}
