import TestSupport
import Testing

/// Objects that an import has brought and somebody else has deleted since: a mirror has nothing to delete of them.
struct MirrorAbsentTests {
    private let mirror: MirroredStore

    init() throws { mirror = try MirroredStore() }

    private func delete(_ condition: String) throws {
        try StoreContent.execute(mirror.store, "DELETE FROM user WHERE \(condition)")
    }

    @Test(arguments: [false, true]) func areNotCountedAgainstALimit(hasTrigger: Bool) throws {
        _ = try mirror.mirroring(MirroredStore.users(1...100))
        if hasTrigger {
            try StoreContent.execute(
                mirror.store,
                "CREATE TABLE unrelated(x); CREATE TRIGGER harmless AFTER INSERT ON unrelated BEGIN SELECT 1; END"
            )
        }
        try delete("id BETWEEN 61 AND 95")
        // Forty are not in the source, five of which are there.
        let withheld = try mirror.mirroring(MirroredStore.users(1...60), "--max-delete", "4")
        #expect(withheld.reason == "limit" && withheld.number("withheld") == 5, "\(withheld.errorText)")
        #expect(withheld.ending == .exit(65) && withheld.number("deleted") == 0)
        let listed = withheld.report["deleted_list"] as? [[String: Any]]
        #expect(listed?.compactMap { ($0["identifier"] as? [String: Int])?["id"] } == Array(96...100))
        // Of those that are there, they are more than seven per cent.
        #expect(try mirror.mirroring(MirroredStore.users(1...60), "--max-delete", "7%").reason == "limit")
        let second = try mirror.mirroring(MirroredStore.users(1...60), "--max-delete", "5")
        #expect(second.ending == .exit(0) && second.number("deleted") == 5, "\(second.errorText)")
        #expect(second.number("withheld") == 0)
        #expect(try mirror.query("SELECT count(*) FROM user") == "60")
        #expect(try runImporter("verify", mirror.store).ending == .exit(0))
        #expect(try runImporter("undo", mirror.store, "--quiet").ending == .exit(0))
        #expect(try mirror.query("SELECT count(*) FROM user WHERE id > 60") == "5")
    }

    @Test func areNotCountedWhereThereIsNoLimitToReach() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...100))
        try delete("id BETWEEN 96 AND 98")
        let second = try mirror.mirroring(MirroredStore.users(1...94))
        #expect(second.ending == .exit(0) && second.number("deleted") == 3, "\(second.errorText)")
        #expect((second.report["deleted_list"] as? [Any])?.count == 3)
    }

    @Test(arguments: [[], ["--max-delete", "0"]]) func allOfThemMayBeGone(options: [String]) throws {
        _ = try mirror.mirroring(MirroredStore.users(1...40))
        try delete("id > 10")
        let second = try mirror.importing(MirroredStore.users(1...10), ["--mirror"] + options)
        #expect(second.ending == .exit(0) && second.number("deleted") == 0, "\(second.errorText)")
        #expect(second.number("withheld") == 0 && second.reason == nil)
        #expect((second.report["deleted_list"] as? [Any] ?? []).isEmpty)
        #expect(try mirror.query("SELECT count(*) FROM _import_undo") == "0")
        #expect(try mirror.ids() == "1 2 3 4 5 6 7 8 9 10")
        #expect(try runImporter("verify", mirror.store).ending == .exit(0))
    }

    @Test func anEmptySourceWithholdsWhatIsThere() throws {
        _ = try mirror.mirroring(MirroredStore.users(1...3))
        try delete("id > 1")
        let empty = try mirror.mirroring("[]")
        #expect(empty.ending == .exit(65) && empty.reason == "empty", "\(empty.errorText)")
        #expect(empty.number("withheld") == 1)
        #expect(try mirror.mirroring("[]", "--allow-empty").number("deleted") == 1)
    }

    /// Names that the mirror's own tables and columns have.
    @Test(arguments: ["gone", "own", "import_gone", "t"], ["row", "root", "number"])
    func namesMayBeThoseOfWhatAMirrorKeeps(entity: String, identifier: String) throws {
        let model = """
            {"entities": {"\(entity)": {"identifier": ["\(identifier)"], "attributes": {
              "\(identifier)": {"type": "integer64"}, "key": {"type": "integer64"}}}}}
            """
        let mirror = try MirroredStore(model: model)
        func records(_ numbers: ClosedRange<Int>) -> String {
            "[" + numbers.map { #"{"\#(identifier)": \#($0 * 3), "key": \#($0)}"# }.joined(separator: ",") + "]"
        }
        let options = ["--mirror", "--entity", entity]
        _ = try mirror.importing(records(1...40), options)
        try StoreContent.execute(mirror.store, "DELETE FROM \(entity) WHERE key > 12")
        let second = try mirror.importing(records(3...9), options + ["--max-delete", "5"])
        #expect(second.ending == .exit(0) && second.number("deleted") == 5, "\(second.errorText)")
        let listed = second.report["deleted_list"] as? [[String: Any]]
        #expect(listed?.compactMap { ($0["identifier"] as? [String: Int])?[identifier] } == [3, 6, 30, 33, 36])
        #expect(try mirror.query("SELECT min(key), max(key), count(*) FROM \(entity)") == "3|9|7")
    }
}
