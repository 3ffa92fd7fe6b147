import Foundation
import ImportModel
import Synchronization
import TestSupport
import Testing

@testable import Importer

struct RecordViewTests {
    private func ids(_ snapshot: RecordViewSnapshot) -> [Record.Value] {
        snapshot.records.compactMap { $0.values.first }
    }

    @Test func showsASortedWindowInSections() throws {
        let job = try LibraryImport(LibraryImport.items(50))
        _ = try job.pipeline().run()
        let request = FetchRequest(
            entity: "item",
            sortedBy: [RecordSort("name", ascending: false), RecordSort("id")],
            offset: 5,
            limit: 4
        )
        let view = try RecordView(request, sectionKey: "name", in: try StoreReader(store: job.store))
        // n6 is every seventh from the seventh on: ids 44, 37, … 2 in the order of the source.
        #expect(view.snapshot.sections.map(\.name) == [.text("n6"), .text("n5")])
        #expect(view.snapshot.sections.map(\.count) == [2, 2])
        #expect(ids(view.snapshot) == [.integer(37), .integer(44), .integer(3), .integer(10)])
        #expect(view.snapshot.total == 50)
        #expect(view.entity.attributes.map(\.name) == ["id", "name"])
        #expect(try view.refresh() == nil)
        #expect(try view.move(toOffset: 6, limit: 2)?.changes.deletions.count == 2)
        #expect(ids(view.snapshot) == [.integer(44), .integer(3)])
    }

    /// A view that follows an import ends up with what a fresh look at the store shows.
    @Test func followsAnImportToItsEnd() async throws {
        let job = try LibraryImport(LibraryImport.items(30))
        _ = try await job.pipeline().run()
        let request = FetchRequest(entity: "item", sortedBy: [RecordSort("id")], limit: 5)
        let view = try RecordView(request, in: try StoreReader(store: job.store))
        #expect(ids(view.snapshot).first == .integer(1))
        let more = try job.directory.write("[{\"id\":-5,\"name\":\"x\"},{\"id\":0,\"name\":\"y\"}]", to: "more.json")
        let pipeline = ImportPipeline(
            sources: [more],
            into: job.store,
            job: JobOptions(entity: "item"),
            run: RunOptions(commitEvery: 1)
        )
        let notifications = pipeline.merges.notifications()
        let first = view.snapshot
        let following = Task {
            var shown: RecordViewSnapshot? = first
            try await view.follow(notifications) { shown = shown?.applying($0.changes) }
            return shown
        }
        _ = try await pipeline.run()
        #expect(try await following.value == view.snapshot)
        #expect(ids(view.snapshot) == [.integer(-5), .integer(0), .integer(1), .integer(2), .integer(3)])
        #expect(view.snapshot.total == 32)
    }

    /// Files are named by URLs as well as by paths, identifiers by their entity, and a view shows objects.
    @Test func showsObjectsOfFilesThatURLsName() throws {
        struct Item: Decodable, Equatable {
            let id: Int
            let name: String?
        }
        let job = try LibraryImport("[{\"id\":2,\"name\":\"b\"},{\"id\":1},{\"id\":2,\"name\":\"c\"}]")
        let store = URL(filePath: job.directory.path("a store.sqlite"))
        let options = JobOptions(entity: "item", identifiers: ["item": ["id"]])
        let source = URL(filePath: job.source)
        _ = try ImportPipeline(sources: [source], into: store, job: options, run: RunOptions()).run()
        let request = FetchRequest(entity: "item", where: try RecordPredicate("id > 0"), sortedBy: [RecordSort("id")])
        let view = try RecordView(request, in: try StoreReader(store: store))
        #expect(try view.objects(as: Item.self) == [Item(id: 1, name: nil), Item(id: 2, name: "c")])
        #expect(try StoreInspection(store: store).status().updated == 1)
        // No source at all is an error, and no fault of the types.
        let none = ImportPipeline(sources: [], into: store, job: JobOptions(), run: RunOptions())
        #expect(throws: ImportError.self) { try none.run() }
    }

    @Test func readsTextPastANULCharacter() throws {
        let job = try LibraryImport("[{\"text\":\"a\\u0000b\"}]")
        _ = try job.pipeline().run()
        let view = try RecordView(FetchRequest(entity: "item"), in: try StoreReader(store: job.store))
        #expect(ids(view.snapshot) == [.text("a\0b")])
    }

    /// Rows that came before the window, and that no notification has told of yet, are not counted twice or never.
    @Test(arguments: [90, 110]) func movesWhereTheStoreIsAhead(offset: Int) throws {
        let store = try ViewedStore(isKeyed: false)
        let values = Array(repeating: Record.Value.null, count: 4)
        try store.write { database in for _ in 0..<200 { try store.insert(nil, values, database) } }
        _ = store.notification()
        // The newest rows come first.
        var request = FetchRequest(
            entity: "item",
            sortedBy: [RecordSort("n", ascending: false)],
            offset: 100,
            limit: 5
        )
        let view = try RecordView(request, in: store.reader)
        try store.write { database in for _ in 0..<1_000 { try store.insert(nil, values, database) } }
        request.offset = offset
        try view.move(toOffset: offset)
        #expect(view.snapshot.records == store.snapshot(request, sectionKey: nil) { _ in true }.records)
        try view.merge(store.notification())
        #expect(view.snapshot == store.snapshot(request, sectionKey: nil) { _ in true })
    }

    // MARK: An entity that comes and goes

    /// While the entity is not there nothing is shown; when it comes again, its records are, with the attributes of now.
    @Test(arguments: [false, true]) func followsAnEntityThatIsMadeAgain(needsRefresh: Bool) throws {
        let store = try ViewedStore(isKeyed: false)
        let request = FetchRequest(entity: "item", sortedBy: [RecordSort("id")], limit: 3)
        let view = try RecordView(request, sectionKey: "id", in: store.reader)
        var shown = view.snapshot
        func take(_ update: RecordViewUpdate?) throws {
            let changes = try #require(update).changes
            shown = try #require(shown.applying(changes))
            #expect(shown == view.snapshot)
        }
        var changes = EntityChanges(entity: "item", table: "item")
        changes.insert(1)
        func notification() -> MergeNotification {
            store.notification(of: needsRefresh ? [] : [changes], needsRefresh: needsRefresh)
        }
        try store.execute("DROP TABLE item")
        try take(view.merge(notification()))
        #expect(view.snapshot.sections.isEmpty && view.snapshot.total == 0)
        #expect(try view.move(toOffset: 0) == nil)
        #expect(try view.merge(notification()) == nil)
        #expect(view.entity.attributes.count == 4)
        try store.execute(
            "CREATE TABLE item (extra TEXT, id INTEGER) STRICT; INSERT INTO item VALUES ('x', 8), ('y', 7)"
        )
        try take(view.merge(notification()))
        #expect(view.entity.attributes.map(\.name) == ["extra", "id"])
        #expect(view.snapshot.records.map(\.values) == [[.text("y"), .integer(7)], [.text("x"), .integer(8)]])
        #expect(view.snapshot.total == 2 && view.snapshot.sections.map(\.name) == [.integer(7), .integer(8)])
        // Without what it is sorted by there is nothing to show, and it says so.
        try store.execute("DROP TABLE item; CREATE TABLE item (extra TEXT) STRICT")
        #expect(throws: ImportError.self) { try view.merge(notification()) }
        #expect(view.snapshot == shown)
    }

    /// An import that restarts drops its tables, and makes them as its source is now.
    @Test func followsAnImportThatBeginsAnew() async throws {
        let job = try LibraryImport("[{\"id\":1},{\"id\":2}")
        #expect(throws: ImportError.self) { try job.pipeline().run() }
        let view = try RecordView(FetchRequest(entity: "item"), in: try StoreReader(store: job.store))
        #expect(ids(view.snapshot) == [.integer(1), .integer(2)])
        try job.directory.write("[{\"name\":\"a\",\"n\":1},{\"name\":\"b\",\"n\":2}]", to: "item.json")
        let pipeline = job.pipeline(JobOptions(), RunOptions(commitEvery: 1, restart: true))
        let notifications = pipeline.merges.notifications()
        let following = Task { try await view.follow(notifications) { _ in } }
        _ = try await pipeline.run()
        try await following.value
        #expect(view.entity.attributes.map(\.name) == ["name", "n"])
        #expect(ids(view.snapshot) == [.text("a"), .text("b")])
        #expect(view.snapshot.total == 2)
    }

    // MARK: What a merge costs

    /// Without the store's file every query is an error: so there is none.
    @Test func doesNoQueryWhereAMergeCannotTouchTheWindow() throws {
        let store = try ViewedStore(isKeyed: true)
        let values = Array(repeating: Record.Value.null, count: 4)
        try store.write { database in for row in 2...20 { try store.insert(Int64(row), values, database) } }
        _ = store.notification()
        func view(_ sort: [RecordSort], offset: Int) throws -> RecordView {
            try RecordView(FetchRequest(entity: "item", sortedBy: sort, offset: offset, limit: 5), in: store.reader)
        }
        let first = try view([], offset: 0)
        let second = try view([RecordSort("id")], offset: 5)
        let last = try view([RecordSort("id", ascending: false)], offset: 3)
        try store.write { database in
            try store.insert(21, values, database)
            try store.insert(22, values, database)
            try store.update(15, values, database)
            try store.delete(14, database)
        }
        let behind = store.notification()
        try store.write { try store.update(3, values, $0) }
        let before = store.notification()
        try FileManager.default.removeItem(atPath: store.job.store)
        try first.merge(behind)
        try second.merge(behind)
        try second.merge(before)
        try last.merge(before)
        #expect(throws: ImportError.self) { try first.merge(before) }
        #expect(throws: ImportError.self) { try last.merge(behind) }
        // The total is known all the same: 20 rows, two more and one less.
        #expect(first.snapshot.total == 21 && second.snapshot.total == 21)
        var other = EntityChanges(entity: "other", table: "other")
        other.insert(1)
        #expect(try first.merge(store.notification(of: [other])) == nil)
    }

    /// From a key on, every record is found by a search in the index, and nothing is sorted.
    @Test func readsFromAKeyOnByTheIndex() throws {
        let store = try ViewedStore(isKeyed: false)
        try store.execute("CREATE INDEX i ON item (s, n)")
        try store.execute("CREATE INDEX j ON item (s COLLATE NOCASE)")
        let row = [Record.Value.integer(1), .text("a\0b"), .integer(1), .real(1)]
        try store.write { database in
            try store.insert(2, row, database)
            try store.insert(3, [row[0], row[1], .null, .null], database)
        }
        let sorts = [
            [RecordSort("s"), RecordSort("n")],
            [RecordSort("s", ascending: false), RecordSort("n", ascending: false)],
            [RecordSort("s", collation: .nocase)],
            [RecordSort("s")],
        ]
        for sort in sorts {
            try store.reader.read { database in
                let entity = try store.reader.entity(named: "item", database)
                let query = try WindowQuery(FetchRequest(entity: "item", sortedBy: sort), of: entity, database)
                #expect(try query.isIndexed(database) == (sort != [RecordSort("s")]))
                for offset in 0..<3 {
                    let window = try query.window(.offset(offset), limit: 1, database)
                    let key = try #require(window.first)
                    guard try query.isIndexed(database) else { continue }
                    for statement in query.statements(.key(key)) + query.statements(beside: key, backwards: true) {
                        let plan = try RawRowCursor(database, SQLFragment("EXPLAIN QUERY PLAN ") + statement)
                        defer { plan.reset() }
                        var details: [String] = []
                        while let row = try plan.next() {
                            if case .text(let detail) = row.stored(at: 3) { details.append(detail) }
                        }
                        #expect(
                            details.count == 1 && details[0].hasPrefix("SEARCH item USING"),
                            "\(statement.sql) \(details)"
                        )
                    }
                }
            }
        }
    }

    /// What was read already needs no second look, and what another program has done is found by looking again.
    @Test func looksAgainOnlyForWhatItHasNotSeen() throws {
        let store = try ViewedStore(isKeyed: false)
        let values = Array(repeating: Record.Value.null, count: 4)
        let view = try RecordView(
            FetchRequest(entity: "item", sortedBy: [RecordSort("s")], offset: 1),
            in: store.reader
        )
        try store.execute("INSERT INTO item (s) VALUES ('b'), ('a')")
        #expect(try view.refresh()?.changes.insertions.count == 2)
        #expect(view.snapshot.total == 3)
        try store.execute("DELETE FROM item WHERE s = 'a'")
        #expect(try view.merge(store.notification(of: [], needsRefresh: true))?.changes.deletions.count == 1)
        try store.write { try store.insert(3, values, $0) }
        let first = store.notification()
        try store.write { try store.delete(3, $0) }
        let second = store.notification()
        try view.merge(first)
        #expect(view.snapshot.total == 2)
        try view.refresh()
        try FileManager.default.removeItem(atPath: store.job.store)
        #expect(try view.merge(second) == nil)
        #expect(view.snapshot.total == 2)
    }

    /// Ranges that have many more rows in them than have changed are not searched where reading the window takes less.
    @Test func readsAWindowNearTheBeginningRatherThanCoarseRanges() throws {
        let store = try ViewedStore(isKeyed: true)
        try store.execute("CREATE INDEX i ON item (s)")
        try store.write { database in
            for row in 2...300 {
                try store.insert(Int64(row), [.null, .text(row < 50 ? "a" : "b"), .null, .null], database)
            }
        }
        try store.reader.read { database in
            let entity = try store.reader.entity(named: "item", database)
            let request = FetchRequest(entity: "item", sortedBy: [RecordSort("s")])
            let query = try WindowQuery(request, of: entity, database)
            let source = RecordView.Source(entity: entity.description, query: query, sections: nil, isIndexed: true)
            func isRead(_ changed: ClosedRange<Int64>, offset: Int) throws -> Bool {
                var state = RecordView.State(offset: offset, limit: 5)
                state.take(try query.window(.offset(offset), limit: 5, database))
                var changes = EntityChanges(entity: "item", table: "item")
                changes.insert(changed.lowerBound)
                if changed.count > 1 { changes.insert(changed.upperBound) }
                let rows = ChangedRows([changes.coarsened(to: 1)], of: entity.description)
                return try rows.start(of: &state, source, database) != nil
            }
            #expect(try isRead(100...300, offset: 2))
            #expect(try !isRead(100...100, offset: 2))
            #expect(try !isRead(270...300, offset: 45))
        }
    }

    /// What is nearer to the end than to the beginning is found from there.
    @Test func readsFromTheNearerEnd() throws {
        let store = try ViewedStore(isKeyed: true)
        try store.write { database in
            for row in 2...100 {
                try store.insert(Int64(row), [.null, .text("a\0\(row % 7)"), .null, .null], database)
            }
        }
        try store.reader.read { database in
            let entity = try store.reader.entity(named: "item", database)
            func start(at offset: Int, _ predicate: RecordPredicate? = nil) throws -> WindowQuery.Start {
                let query = try WindowQuery(FetchRequest(entity: "item", where: predicate), of: entity, database)
                var state = RecordView.State(offset: 0, limit: 5)
                var total = RecordCounter(table: entity.description.table, query: query, clock: ToldClock().view)
                try total.count(database)
                state.total = total
                return try RecordView.start(at: offset, state, database)
            }
            guard case .offset(50) = try start(at: 50), case .end(49) = try start(at: 51),
                case .offset(100) = try start(at: 100),
                case .offset(99) = try start(at: 99, RecordPredicate("n is null"))
            else {
                Issue.record("read from the wrong end")
                return
            }
        }
        let sort = [RecordSort("s", ascending: false)]
        let all = try RecordView(FetchRequest(entity: "item", sortedBy: sort), in: store.reader).snapshot.records
        let view = try RecordView(FetchRequest(entity: "item", sortedBy: sort, limit: 5), in: store.reader)
        for offset in [97, 3, 60, 95, 100, 99, 0] {
            try view.move(toOffset: offset)
            #expect(view.snapshot.records == Array(all.dropFirst(offset).prefix(5)), "\(offset)")
        }
    }

    /// Values that are cut neither change the order nor the places of pages, and end between two characters.
    @Test func showsTheBeginningsOfValues() throws {
        let store = try ViewedStore(isKeyed: false)
        let beginning = "ab\0東東"
        try store.write { database in
            for row in 2...40 {
                let text = Record.Value.text(beginning + String(repeating: "x", count: 99 - row % 9))
                try store.insert(Int64(row), [.integer(Int64(row)), text, .null, .real(0.5)], database)
            }
        }
        for bytes in 3...9 {
            let sort = [RecordSort("s"), RecordSort("id", ascending: false)]
            let request = FetchRequest(entity: "item", sortedBy: sort, limit: 7)
            let view = try RecordView(request, valueBytes: bytes, in: store.reader)
            let whole = try RecordView(request, in: store.reader)
            let cut = ["ab\0", "ab\0", "ab\0", "ab\0東", "ab\0東", "ab\0東", "ab\0東東"][bytes - 3]
            for offset in [0, 7, 14, 35, 28, 1] {
                try view.move(toOffset: offset)
                try whole.move(toOffset: offset)
                #expect(view.snapshot.records.map(\.rowID) == whole.snapshot.records.map(\.rowID))
                for record in view.snapshot.records where record.rowID > 1 {
                    #expect(record.values[1].isSame(as: .text(cut)))
                    #expect(record.values[0] == .integer(record.rowID) && record.values[3] == .real(0.5))
                }
            }
        }
    }

    /// The total follows from one job to the next, without a second look at all records.
    @Test func takesTheTotalOfALaterJob() throws {
        let job = try LibraryImport(LibraryImport.items(9))
        let model = """
            {"entities": {"item": {"identifier": ["id"], "attributes": {
                "id": {"type": "integer64"}, "name": {"type": "string"}}}}}
            """
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
        _ = try job.pipeline(options).run()
        let view = try RecordView(
            FetchRequest(entity: "item", limit: 2),
            sectionKey: nil,
            in: try StoreReader(store: job.store),
            clock: ToldClock().view
        )
        #expect(view.snapshot.total == 9)
        let follower = try StoreFollower(store: job.store)
        for count in [4, 30, 40] {
            let source = try job.directory.write(LibraryImport.items(count), to: "items\(count).json")
            _ = try ImportPipeline(sources: [source], into: job.store, job: options, run: RunOptions()).run()
            while let merge = try follower.poll() { try view.merge(merge) }
            let rows = try StoreContent.query(job.store, "SELECT count(*) FROM item")
            #expect(rows.trimmingCharacters(in: .newlines) == "\(view.snapshot.total)")
            #expect(view.totalIsDue == nil)
        }
    }

    /// What an earlier job adds is not in what a later one has counted, so it has to be counted.
    @Test func countsAgainWhenAnEarlierJobGoesOn() throws {
        let store = try ViewedStore(isKeyed: false)
        try store.execute("UPDATE _import_entity SET job = 2")
        let clock = ToldClock()
        let view = try RecordView(FetchRequest(entity: "item"), sectionKey: nil, in: store.reader, clock: clock.view)
        #expect(view.snapshot.total == 1)
        try store.execute("INSERT INTO item (s) VALUES ('a')")
        var changes = EntityChanges(entity: "item", table: "item")
        changes.insert(2)
        try view.merge(
            MergeNotification(
                job: 1,
                commit: 2,
                changes: [changes],
                totals: [EntityTotals(entity: "item", table: "item")],
                marker: Marker(),
                isFinished: false,
                position: StorePosition(store: 1, sequence: 1_000, stamp: 1)
            )
        )
        #expect(view.snapshot.count == 2 && view.totalIsDue != nil)
        clock.advance(by: .seconds(1))
        try view.recount()
        #expect(view.snapshot.total == 2)
    }

    /// Tables are distinguished by their names' bytes.
    @Test func takesTheTotalOfItsOwnTable() throws {
        let store = try ViewedStore(isKeyed: false)
        try store.execute("UPDATE _import_entity SET table_name = 'e' || char(769)")
        try store.reader.read { database in
            let entity = try store.reader.entity(named: "item", database)
            let query = try WindowQuery(FetchRequest(entity: "item"), of: entity, database)
            var total = RecordCounter(table: "e\u{301}", query: query, clock: ToldClock().view)
            try total.count(database)
            #expect(total.value == 1)
            var totals = ["\u{e9}", "e\u{301}"].map { EntityTotals(entity: $0, table: $0) }
            totals[0].rows = 99
            totals[1].rows = 7
            total.bringUp(
                MergeNotification(
                    job: 1,
                    commit: 1,
                    changes: [],
                    totals: totals,
                    marker: Marker(),
                    isFinished: false,
                    position: StorePosition(store: 1, sequence: 1_000, stamp: 1)
                )
            )
            #expect(total.value == 7)
        }
    }

    /// A damaged store may count any number of rows.
    @Test func survivesCountsThatAreTooLarge() throws {
        let store = try ViewedStore(isKeyed: false)
        try store.execute("UPDATE _import_entity SET rows_before = 9223372036854775807, inserted = 9223372036854775807")
        let view = try RecordView(FetchRequest(entity: "item"), in: store.reader)
        #expect(view.snapshot.total == 1)
        try store.execute("UPDATE _import_entity SET inserted = 0, rows_before = -9223372036854775807")
        try view.refresh()
        var changes = EntityChanges(
            of: EntityTotals(entity: "item", table: "item"),
            position: 0,
            inserted: (.max, [1...1]),
            updated: (.max, [1...1]),
            deleted: (.max, [1...1])
        )
        changes.add(changes)
        #expect(changes.inserted == .max)
        try view.merge(store.notification(of: [changes]))
        #expect(view.snapshot.count == 1)
        var totals = EntityTotals(entity: "item", table: "item")
        for _ in 0..<2 { totals.add(changes, recordsRead: .max) }
        #expect(totals.recordsRead == .max && totals.updated == .max && totals.rows == 0)
    }

    // MARK: Following

    /// An alarm that is no longer needed wakes nobody: a reader that waits does not turn in circles.
    @Test func sleepsUntilItIsTime() async throws {
        let inlet = NotificationBuffer()
        let (stream, feed) = AsyncStream<MergeNotification>.makeStream()
        let taking = Task { await inlet.take(from: stream) }
        let clock = StoppedClock()
        let merge = try ViewedStore(isKeyed: false).notification()
        async let first = inlet.next(until: .seconds(100), clock.view)
        while clock.sleeps.begun < 1 { await Task.yield() }
        feed.yield(merge)
        guard case .merge = try await first else {
            Issue.record("something else came")
            return
        }
        async let second = inlet.next(until: .seconds(200), clock.view)
        // The first alarm has ended, and has had every opportunity to wake the second wait.
        while clock.sleeps.begun < 2 || clock.sleeps.ended < 1 { await Task.yield() }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(clock.sleeps.begun == 2)
        clock.set(.seconds(200))
        guard case .time = try await second else {
            Issue.record("it is not time")
            return
        }
        feed.finish()
        await taking.value
    }

    /// Updates come no faster than a screen shows them, and the last one reports everything.
    @Test func updatesAtMostSixtyTimesASecond() async throws {
        let store = try ViewedStore(isKeyed: false)
        let clock = ToldClock()
        let view = try RecordView(FetchRequest(entity: "item"), sectionKey: nil, in: store.reader, clock: clock.view)
        let (stream, feed) = AsyncStream<MergeNotification>.makeStream()
        let values = Array(repeating: Record.Value.null, count: 4)
        var times: [Duration] = []
        var shown: RecordViewSnapshot? = view.snapshot
        let updates = view.updates(following: stream).makeAsyncIterator()
        for _ in 0..<50 {
            try store.write { try store.insert(nil, values, $0) }
            feed.yield(store.notification())
            guard let update = try await updates.next() else { continue }
            times.append(clock.now)
            shown = shown?.applying(update.changes)
            #expect(shown == update.snapshot)
            if times.count == 10 {
                for _ in 0..<30 {
                    try store.write { try store.insert(nil, values, $0) }
                    feed.yield(store.notification())
                }
            }
        }
        feed.finish()
        while let update = try await updates.next() { shown = shown?.applying(update.changes) }
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= .seconds(1) / 60 })
        #expect(shown == view.snapshot && shown?.total == 81 && shown?.count == 81)
    }

    /// Under a predicate the total is counted once a second at most, and is right in the end.
    @Test func countsUnderAPredicateOnceASecond() throws {
        let store = try ViewedStore(isKeyed: false)
        let clock = ToldClock()
        let request = FetchRequest(entity: "item", where: try RecordPredicate("n = 1"), limit: 1)
        let view = try RecordView(request, sectionKey: nil, in: store.reader, clock: clock.view)
        var totals: [Int] = []
        for _ in 0..<40 {
            try store.write { try store.insert(nil, [.integer(0), .null, .integer(1), .null], $0) }
            try view.merge(store.notification())
            totals.append(view.snapshot.total)
            clock.advance(by: .milliseconds(100))
        }
        #expect(Set(totals).count <= 5)
        #expect(view.totalIsDue != nil)
        clock.advance(by: .seconds(1))
        try view.recount()
        #expect(view.snapshot.total == 40 && view.totalIsDue == nil)
    }

    /// A query that takes long keeps no other task from running.
    @Test func leavesItsThreadWhileItReads() async throws {
        let store = try ViewedStore(isKeyed: false)
        let reader = store.reader
        let view = try RecordView(FetchRequest(entity: "item"), in: reader)
        let isHeld = Shared(false)
        let isReleased = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            // The view's connection has nobody else's time meanwhile.
            try? reader.read { _ in
                isHeld.change { $0 = true }
                isReleased.wait()
            }
        }
        while !isHeld.value { await Task.yield() }
        let ranOthers = try await leavesItsThreadToOthers(release: { isReleased.signal() }) {
            for try await _ in view.updates(following: AsyncStream { $0.finish() }) {}
        }
        #expect(ranOthers)
    }

    /// Nobody waits for a reader that has gone.
    @Test func endsWhenItsTaskIsCancelled() async throws {
        let store = try ViewedStore(isKeyed: false)
        let view = try RecordView(FetchRequest(entity: "item"), in: store.reader)
        let (stream, feed) = AsyncStream<MergeNotification>.makeStream()
        let following = Task { try await view.follow(stream) { _ in } }
        following.cancel()
        try await following.value
        feed.finish()
    }

    /// What an observer throws ends its following, and the view continues.
    @Test func handsOnWhatItsObserverThrows() async throws {
        let store = try ViewedStore(isKeyed: false)
        let view = try RecordView(FetchRequest(entity: "item"), in: store.reader)
        try store.write { try store.insert(nil, Array(repeating: .null, count: 4), $0) }
        let (stream, _) = AsyncStream<MergeNotification>.makeStream()
        await #expect(throws: CancellationError.self) {
            try await view.follow(stream) { _ in throw CancellationError() }
        }
        #expect(view.snapshot.count == 2)
    }

    // MARK: Bad input

    @Test func saysWhatIsNotThere() throws {
        let job = try LibraryImport(LibraryImport.items(1))
        _ = try job.pipeline().run()
        let reader = try StoreReader(store: job.store)
        func message(_ request: FetchRequest, sectionKey: String? = nil) -> String {
            do {
                _ = try RecordView(request, sectionKey: sectionKey, in: reader)
                return "nothing is wrong"
            } catch let error as ImportError {
                return error.message
            } catch {
                return "\(error)"
            }
        }
        #expect(message(FetchRequest(entity: "itme")).hasSuffix("has no entity itme; did you mean item?"))
        #expect(message(FetchRequest(entity: "item", sortedBy: [RecordSort("nope")])) == "item has no attribute nope")
        #expect(message(FetchRequest(entity: "item"), sectionKey: "nope") == "item has no attribute nope")
        #expect(
            message(FetchRequest(entity: "item", sortedBy: [RecordSort("id"), RecordSort("name")]), sectionKey: "name")
                == "item: sections by name need records that are sorted by name"
        )
    }

    /// A view never mixes two stores: it says that its own is gone, and continues showing what it showed.
    @Test func noticesThatItsStoreIsReplacedOrDeleted() throws {
        let job = try LibraryImport(LibraryImport.items(3))
        _ = try job.pipeline().run()
        let other = try LibraryImport(LibraryImport.items(9))
        _ = try other.pipeline().run()
        let view = try RecordView(FetchRequest(entity: "item"), in: try StoreReader(store: job.store))
        let shown = view.snapshot
        try FileManager.default.removeItem(atPath: job.store)
        #expect(throws: ImportError.self) { try view.refresh() }
        try FileManager.default.copyItem(atPath: other.store, toPath: job.store)
        #expect(throws: ImportError.self) { try view.refresh() }
        #expect(throws: ImportError.self) { try view.move(toOffset: 1) }
        #expect(view.snapshot == shown)
    }
}
