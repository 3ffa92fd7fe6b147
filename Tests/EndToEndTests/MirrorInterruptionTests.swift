import Foundation
import TestSupport
import Testing

/// A mirror that is killed at any moment and resumed ends with the same store, the log by which it is undone included.
struct MirrorInterruptionTests {
    private static let related = """
        {"entities": {
          "user": {"identifier": ["id"], "attributes": {"id": {"type": "string"}, "name": {"type": "string", "optional": true}},
            "relationships": {"messages": {"entity": "message", "toMany": true, "inverse": "user", "deleteRule": "cascade"}}},
          "message": {"identifier": ["id"], "attributes": {"id": {"type": "string"}},
            "relationships": {"user": {"entity": "user", "inverse": "messages", "from": []}}}}}
        """
    private static let flat = """
        {"entities": {"user": {"identifier": ["id"], "attributes": {"id": {"type": "string"},
          "name": {"type": "string", "optional": true}}}}}
        """

    /// A source of users; two of three are in the second one, some with other names, one of which is a reject.
    private static func source(_ version: Int, isRelated: Bool) -> String {
        (1...90).compactMap { number in
            if version == 2, number % 3 == 0 { return nil }
            let name = version == 2 && number == 40 ? "{}" : #""n\#(version == 2 && number % 5 == 0 ? number : 0)""#
            let messages =
                isRelated ? #", "messages": [{"id": "m\#(number)"}, {"id": "m\#(number + 1_000 * version)"}]"# : ""
            return #"{"id": "u\#(number)", "name": \#(name)\#(messages)}"#
        }.joined(separator: "\n")
    }

    /// What must be the same, however often it was interrupted.
    private static func content(_ store: String) throws -> String {
        let log = "SELECT table_name, hex(key), hex(before), hex(after) FROM _import_undo WHERE job = 2 ORDER BY 1, 2"
        let rest = """
            SELECT deleted, withheld, is_done, objects, (SELECT count(*) FROM _import_seen),
                (SELECT group_concat(table_name || ' ' || last_rowid) FROM _import_addition WHERE name IS NULL) FROM _import_mirror WHERE job = 2
            """
        return try [StoreContent.result(store), StoreContent.query(store, log), StoreContent.query(store, rest)]
            .joined(separator: "\n")
    }

    private static func command(_ source: String, _ store: String, _ model: String) -> [String] {
        [
            Project.importer, "import", source, "--into", store, "--model", model, "--entity", "user", "--mirror",
            "--max-delete", "100%", "--commit-every", "7", "--chunk-size", "700", "--workers", "2", "--progress",
            "none",
        ]
    }

    @Test(arguments: [false, true]) func endsWithTheSameStoreWhereverItIsKilled(isRelated: Bool) throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(isRelated ? Self.related : Self.flat, to: "model.json")
        let first = try directory.write(Self.source(1, isRelated: isRelated), to: "first.ndjson")
        let second = try directory.write(Self.source(2, isRelated: isRelated), to: "second.ndjson")
        let start = directory.path("start.sqlite")
        #expect(try run(Self.command(first, start, model)).ending == .exit(0))
        let whole = directory.path("whole.sqlite")
        try FileManager.default.copyItem(atPath: start, toPath: whole)
        let unkilled = try run(Self.command(second, whole, model))
        #expect(unkilled.ending == .exit(0), "\(unkilled.errorText)")
        let expected = try Self.content(whole)
        #expect(
            try StoreContent.query(whole, "SELECT deleted FROM _import_mirror WHERE job = 2")
                == (isRelated ? "90" : "30")
        )
        var kills = 0
        for moment in stride(from: 1, through: 400, by: 23) {
            let folder = try TemporaryDirectory()
            let store = folder.path("store.sqlite")
            try FileManager.default.copyItem(atPath: start, toPath: store)
            let program = try SteppedProgram(Self.command(second, store, model), every: moment, below: folder.path)
            guard program.child.isRunning else { break }
            program.child.signal(SIGKILL)
            #expect(program.child.wait().ending == .signal(SIGKILL))
            kills += 1
            let last = try run(Self.command(second, store, model))
            #expect(last.ending == .exit(0), "\(last.errorText)")
            #expect(try Self.content(store) == expected, "killed before change \(moment)")
            #expect(try runImporter("verify", store).ending == .exit(0))
        }
        #expect(kills >= 5)
    }

    @Test func carryingOnIsAllOrNothingToo() throws {
        let mirror = try MirroredStore()
        _ = try mirror.mirroring(MirroredStore.users(1...30))
        _ = try mirror.mirroring(MirroredStore.users(1...1))
        let before = try StoreContent.digest(mirror.store)
        let command = [
            Project.importer, "mirror", mirror.store, "--job", "2", "--max-delete", "100%", "--progress", "none",
        ]
        for moment in 1...200 {
            let program = try SteppedProgram(command, every: moment, below: mirror.directory.path)
            guard program.child.isRunning else { break }
            program.child.signal(SIGKILL)
            _ = program.child.wait()
            let ids = try mirror.ids()
            if try StoreContent.digest(mirror.store) != before { #expect(ids == "1") }
            if ids == "1" { break }
        }
        #expect(try run(command).ending == .exit(0))
        #expect(try mirror.ids() == "1")
    }
}
