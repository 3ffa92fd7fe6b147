import Foundation
import ImportModel
import Testing

@testable import Importer

struct RecordViewTests {
    private func ids(_ snapshot: RecordView.Snapshot) -> [Record.Value] {
        snapshot.records.compactMap { $0.values.first }
    }

    @Test func showsASortedWindow() throws {
        let job = try LibraryImport(LibraryImport.items(50))
        _ = try job.pipeline().run()
        let request = RecordView.Request(
            table: "item",
            sort: [RecordView.Sort("name", ascending: false), RecordView.Sort("id")],
            offset: 2,
            limit: 3
        )
        let view = try RecordView(store: job.store, request)
        // n6 is every seventh from the seventh on: ids 44, 37, … 2 in the order of the source.
        #expect(ids(view.snapshot) == [.integer(16), .integer(23), .integer(30)])
        #expect(view.snapshot.total == 50)
        #expect(view.snapshot.columns == ["id", "name"])
        #expect(try view.refresh() == nil)
    }

    /// A view that follows an import ends up with what a fresh look at the store shows.
    @Test func followsAnImportToItsEnd() async throws {
        let job = try LibraryImport(LibraryImport.items(30))
        _ = try job.pipeline().run()
        let request = RecordView.Request(table: "item", sort: [RecordView.Sort("id")], limit: 5)
        let view = try RecordView(store: job.store, request)
        #expect(ids(view.snapshot).first == .integer(1))
        let more = try job.directory.write("[{\"id\":-5,\"name\":\"x\"},{\"id\":0,\"name\":\"y\"}]", to: "more.json")
        let pipeline = ImportPipeline(
            sources: [more],
            into: job.store,
            job: JobOptions(entity: "item"),
            run: RunOptions(commitEvery: 1)
        )
        let notifications = pipeline.merges.notifications()
        let following = Task { try await view.follow(notifications) { _ in } }
        _ = try pipeline.run()
        try await following.value
        #expect(ids(view.snapshot) == [.integer(-5), .integer(0), .integer(1), .integer(2), .integer(3)])
        #expect(view.snapshot.total == 32)
    }

    @Test func readsTextPastANULCharacter() throws {
        let job = try LibraryImport("[{\"text\":\"a\\u0000b\"}]")
        _ = try job.pipeline().run()
        let view = try RecordView(store: job.store, RecordView.Request(table: "item"))
        #expect(ids(view.snapshot) == [.text("a\0b")])
    }

    @Test func saysWhichTableOrColumnIsNotThere() throws {
        let job = try LibraryImport(LibraryImport.items(1))
        _ = try job.pipeline().run()
        #expect(throws: ImportError.self) { try RecordView(store: job.store, RecordView.Request(table: "nope")) }
        #expect(throws: ImportError.self) {
            try RecordView(store: job.store, RecordView.Request(table: "item", sort: [RecordView.Sort("nope")]))
        }
        #expect(throws: ImportError.self) {
            try RecordView(store: job.directory.path("nope.sqlite"), RecordView.Request(table: "item"))
        }
    }
}
