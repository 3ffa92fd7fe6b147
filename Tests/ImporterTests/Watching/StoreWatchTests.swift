import Foundation
import GRDB
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportEngine

struct StoreWatchTests {
    private let place: LibraryImport

    init() throws {
        place = try LibraryImport(LibraryImport.items(20))
    }

    private func change(in store: String? = nil, _ sql: String) throws {
        let queue = try DatabaseQueue(path: store ?? place.store)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    private func again() -> ImportPipeline {
        var run = RunOptions()
        run.again = true
        return place.pipeline(JobOptions(), run)
    }

    @Test func showsTheJobThatCommittedLast() throws {
        _ = try place.pipeline().run()
        let watch = StoreWatch(store: place.store)
        #expect(try watch.look()?.job == 1)
        _ = try again().run()
        // As one that was killed leaves it.
        try change("UPDATE _import_job SET state = 'running' WHERE id = 1")
        let look = try #require(try watch.look())
        #expect(look.job == 2)
        #expect(look.state == .finished)
        // A third one begins.
        try change(
            """
            CREATE TEMP TABLE t AS SELECT * FROM _import_job WHERE id = 2;
            UPDATE t SET id = 3, state = 'running', token = 'x';
            INSERT INTO _import_job SELECT * FROM t;
            """
        )
        #expect(try watch.look()?.job == 3)
    }

    /// Nested objects are counted for their entities, also where several share a table.
    @Test func countsNestedObjects() throws {
        let model = """
            {"entities": {
              "shop": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"things": {"entity": "thing", "toMany": true}}},
              "thing": {"identifier": ["code"], "subentity": {"from": "kind", "values": {"b": "book"}},
                "attributes": {"code": {"type": "string"}}},
              "book": {"parent": "thing", "attributes": {"pages": {"type": "integer32", "optional": true}}}}}
            """
        let records = """
            {"id": 1, "things": [{"kind": "b", "code": "x", "pages": 3}, {"code": "y"}, {"kind": "b", "code": "z"}]}
            {"id": 2, "things": [{"kind": "b", "code": "x", "pages": 4}]}

            """
        let place = try LibraryImport(records, named: "shop.ndjson")
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)), entity: "shop")
        _ = try place.pipeline(options).run()
        let look = try #require(try StoreWatch(store: place.store).look())
        #expect(look.entities.map(\.name) == ["shop", "thing", "book"])
        #expect(look.entities.map(\.table) == ["shop", "thing", "thing"])
        let counts = look.entities.map(\.counts.withNested)
        #expect(counts.map(\.inserted) == [2, 1, 2])
        #expect(counts.map(\.updated) == [0, 0, 1])
        #expect(counts.map(\.recordsRead) == [2, 0, 0] && look.records == 2)
    }

    @Test func beginsAnewWithAnotherFile() throws {
        let watch = StoreWatch(store: place.store)
        #expect(try watch.connect() == nil)
        #expect(try watch.look() == nil)
        try Data().write(to: URL(fileURLWithPath: place.store))
        #expect(try watch.look() == nil)
        _ = try place.pipeline().run()
        #expect(try watch.look()?.records == 20)
        #expect(try watch.look() == nil)
        let first = try watch.connect()
        #expect(first != nil && first?.isInPlace == true)
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.moveItem(atPath: place.store + suffix, toPath: place.store + ".old" + suffix)
        }
        #expect(try watch.look() == nil)
        _ = try place.pipeline().run()
        #expect(try watch.look()?.job == 1)
        let second = try watch.connect()
        #expect(second !== first && first?.isInPlace == false)
        try
            "no database, but long enough to be taken for something that has a header, and more than a hundred bytes of it"
            .write(toFile: place.store + ".new", atomically: true, encoding: .utf8)
        try FileManager.default.removeItem(atPath: place.store)
        try FileManager.default.moveItem(atPath: place.store + ".new", toPath: place.store)
        #expect(throws: ImportError.self) { try watch.look() }
    }

    /// Values that became null are counted in their groups also while no reject is new.
    @Test func countsEveryErrorThatIsNew() throws {
        let place = try LibraryImport("[{\"id\": 1}, {\"id\": {}}, {\"id\": 3}]")
        let model = "{\"entities\": {\"item\": {\"attributes\": {\"id\": {\"type\": \"integer64\"}}}}}"
        _ = try place.pipeline(JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))).run()
        let watch = StoreWatch(store: place.store)
        #expect(try watch.look()?.errors.map(\.keyPath) == ["id"])
        func add(_ path: String, _ count: Int) throws {
            try change(
                in: place.store,
                """
                INSERT INTO _import_ledger (
                    job, is_error, entity, attribute, kind, expected, found, count, first_source, first_byte_offset,
                    first_ordinal
                ) VALUES (1, 1, 'item', '\(path)', 'wrongKind', 'string', 'object', \(count), 0, 0, 1)
                """
            )
        }
        try add("a", 3)
        #expect(try watch.look()?.errors.map(\.keyPath) == ["id", "a"])
        try add("b", 9)
        #expect(try watch.look()?.errors.map(\.keyPath) == ["id", "a", "b"])
    }
}
