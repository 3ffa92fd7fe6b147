import Foundation
import ImportModel
import TestSupport
import Testing

@testable import Importer

/// Views whose records depend on other objects, while these come and go.
struct RelatedViewTests {
    /// The notifications of an import, one for each commit, each taken in before the next record is read.
    private func importing(
        _ records: [String],
        entity: String,
        model: String = OrderSamples.model,
        into job: LibraryImport,
        _ onMerge: @escaping (MergeNotification) throws -> Void
    ) throws {
        let follower = try StoreFollower(store: job.store)
        for record in records {
            let source = try job.directory.write(record + "\n", to: "\(UUID().uuidString).ndjson")
            _ = try ImportPipeline(
                sources: [source],
                into: job.store,
                job: JobOptions(model: ModelDescription(parsing: Array(model.utf8)), entity: entity),
                run: RunOptions(commitEvery: 1)
            ).run()
            while let merge = try follower.poll() { try onMerge(merge) }
        }
    }

    private func order(_ id: Int, _ lines: Int, customer: String = "null") -> String {
        let items = (0..<lines).map { "{\"sku\": \"s\($0)\", \"count\": \($0)}" }.joined(separator: ", ")
        return "{\"id\": \(id), \"customer\": \(customer), \"items\": [\(items)]}"
    }

    private static let requests: [FetchRequest] = [
        FetchRequest(entity: "order", where: RecordPredicate.attribute("lines.count") > 1, limit: 3),
        FetchRequest(entity: "order", where: RecordPredicate.attribute("lines.count") == 0),
        FetchRequest(
            entity: "order",
            where: RecordPredicate.attribute("customer.name") == "Ada",
            sortedBy: [RecordSort("id", ascending: false)],
            limit: 2
        ),
        FetchRequest(
            entity: "order",
            where: RecordPredicate.attribute("customer.orders.count") > 1,
            offset: 1,
            limit: 2
        ),
        FetchRequest(entity: "order", limit: 2, including: ["lines", "customer", "tags"]),
        FetchRequest(entity: "order", sortedBy: [RecordSort("customer.name"), RecordSort("id")], limit: 3),
        FetchRequest(entity: "person", where: RecordPredicate.attribute("orders.count") > 1),
        FetchRequest(entity: "person", including: ["orders.lines"]), FetchRequest(entity: "line", limit: 2),
    ]

    /// After every commit a view shows what a fresh fetch finds.
    @Test(arguments: requests.indices) func showsWhatAFreshFetchFinds(index: Int) throws {
        let request = Self.requests[index]
        let job = try OrderSamples.job(OrderSamples.records)
        let reader = try StoreReader(store: job.store)
        let view = try RecordView(request, in: reader)
        var shown = view.snapshot
        var updates = 0
        func take(_ merge: MergeNotification) throws {
            if let update = try view.merge(merge) {
                updates += 1
                shown = try #require(shown.applying(update.changes))
            }
            #expect(view.snapshot.records == (try reader.records(request)), "after commit \(merge.commit)")
            #expect(shown.records == view.snapshot.records)
            try view.recount()
            var all = request
            (all.offset, all.limit) = (0, nil)
            #expect(view.snapshot.total == (try reader.count(all)))
            shown = view.snapshot
        }
        try importing(
            [
                order(8, 3, customer: "{\"id\": 1}"), order(9, 1), order(7, 0, customer: "3"),
                order(12, 2, customer: "3"),
                "{\"id\": 8, \"items\": []}", order(1, 2, customer: "{\"id\": 4, \"name\": \"Ada\"}"),
                "{\"id\": 9, \"tags\": [\"z\", \"a\"]}",
            ],
            entity: "order",
            into: job,
            take
        )
        try importing(
            ["{\"id\": 3, \"name\": \"Ada\"}", "{\"id\": 1, \"name\": \"Bob\"}", "{\"id\": 4, \"name\": \"Zoe\"}"],
            entity: "person",
            into: job,
            take
        )
        #expect(updates > 1)
    }

    /// Lines that come as records of their own, in jobs after that of their orders.
    @Test func countsWhatComesLater() throws {
        let model = """
            {"entities": {
              "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"lines": {"entity": "line", "toMany": true, "inverse": "order"}}},
              "line": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "sku": {"type": "string", "optional": true}},
                "relationships": {"order": {"entity": "order", "inverse": "lines"}}}}}
            """
        let job = try LibraryImport("{\"id\": 1}\n{\"id\": 2}\n{\"id\": 3}\n", named: "order.ndjson")
        _ = try job.pipeline(JobOptions(model: ModelDescription(parsing: Array(model.utf8)), entity: "order")).run()
        let reader = try StoreReader(store: job.store)
        let requests = [
            FetchRequest(entity: "order", where: RecordPredicate.attribute("lines.count") > 1),
            FetchRequest(entity: "order", including: ["lines"]),
            FetchRequest(entity: "line", where: RecordPredicate.attribute("order.lines.count") > 1),
        ]
        let views = try requests.map { try RecordView($0, in: reader) }
        var counts: [Int] = []
        let lines = [
            "{\"id\": 1, \"order\": 2}\n{\"id\": 2, \"order\": 3}", "{\"id\": 3, \"order\": 2}",
            "{\"id\": 2, \"order\": 1, \"sku\": \"x\"}\n{\"id\": 4, \"order\": 1}", "{\"id\": 1, \"order\": null}",
        ]
        try importing(lines, entity: "line", model: model, into: job) { merge in
            for (request, view) in zip(requests, views) {
                try view.merge(merge)
                #expect(view.snapshot.records == (try reader.records(request)))
            }
            if counts.last != views[0].snapshot.count { counts.append(views[0].snapshot.count) }
        }
        #expect(counts == [0, 1, 2, 1])
    }

    /// A commit that changes nothing that the view depends on does no query: the file may be gone.
    @Test func ignoresWhatItDoesNotDependOn() throws {
        let job = try OrderSamples.job(OrderSamples.records)
        let view = try RecordView(
            FetchRequest(entity: "order", where: RecordPredicate.attribute("lines.count") > 1),
            in: try StoreReader(store: job.store)
        )
        var merges: [MergeNotification] = []
        try importing(["{\"id\": 77, \"name\": \"x\"}"], entity: "person", into: job) { merges.append($0) }
        try FileManager.default.removeItem(atPath: job.store)
        for merge in merges where !merge.isFinished || merge.changes.allSatisfy({ $0.table == "person" }) {
            #expect(try view.merge(merge) == nil)
        }
        #expect(!merges.isEmpty)
    }
}
