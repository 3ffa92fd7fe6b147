import Foundation
import GRDB
import TestSupport
import Testing

@testable import Importer

struct StoreWatchTests {
    private let place: LibraryImport

    init() throws {
        place = try LibraryImport(LibraryImport.items(20))
    }

    private func change(_ sql: String) throws {
        let queue = try DatabaseQueue(path: place.store)
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

    @Test func seesColumnsThatComeLater() throws {
        _ = try place.pipeline().run()
        let watch = StoreWatch(store: place.store)
        let request = StoreWindow.Request(table: try #require(try watch.look()?.entities.first).table, limit: 3)
        let before = try #require(try watch.window(request)).columns
        try change("ALTER TABLE \(request.table.quotedIdentifier) ADD COLUMN later INTEGER DEFAULT 7")
        let after = try #require(try watch.window(request))
        #expect(after.columns == before + ["later"])
        #expect(after.rows.map(\.values.last) == Array(repeating: .integer(7), count: 3))
    }
}
