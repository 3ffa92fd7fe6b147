import Foundation
import TestSupport
import Testing

/// What the page shows beside records: related objects, distributions, rejects, metrics, and the state of the import.
struct ServeDetailTests {
    private static let model = """
        {"entities": {
            "orders": {"records": "$", "identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"customer": {"entity": "customers", "inverse": "orders"},
                    "lines": {"entity": "lines", "toMany": true, "deleteRule": "cascade"}}},
            "customers": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "name": {"type": "string"}},
                "relationships": {"orders": {"entity": "orders", "toMany": true, "inverse": "customer", "from": []}}},
            "lines": {"attributes": {"sku": {"type": "string"}}}}}
        """

    @Test func aRecordLeadsToThoseThatItIsRelatedTo() throws {
        let directory = try TemporaryDirectory()
        let lines = (1...60).map { #"{"sku": "s\#($0)"}"# }.joined(separator: ", ")
        let records = [
            #"{"id": 5, "customer": {"id": 7, "name": "Ada"}, "lines": [\#(lines)]}"#,
            #"{"id": 6, "customer": {"id": 7, "name": "Ada"}, "lines": []}"#, #"{"id": 8, "lines": []}"#,
        ]
        let files = try ImportFiles(records: [records], model: Self.model)
        let store = directory.path("orders.sqlite")
        let result = try run(files.command(into: store, ["--quiet"]))
        try #require(result.ending == .exit(0), "\(result.errorText)")
        let served = try ServedStore(store)
        let order = try #require(try served.json("/api/record/orders/5")["relationships"] as? [String: [String: Any]])
        let customer = try #require(order["customer"])
        #expect(customer["to_many"] as? Bool == false && customer["entity"] as? String == "customers")
        let titles = (customer["records"] as? [[String: Any]])?.compactMap { $0["title"] as? String }
        #expect(titles == ["Ada"])
        let ordered = try #require(order["lines"])
        #expect(ordered["count"] as? Int == 60)
        let links = try #require(ordered["records"] as? [[String: Any]])
        #expect(links.compactMap { $0["title"] as? String } == (1...50).map { "s\($0)" })
        let key = try #require((customer["records"] as? [[String: Any]])?.first?["key"] as? String)
        let back = try #require(
            try served.json("/api/record/customers/\(key)")["relationships"] as? [String: [String: Any]]
        )
        let orders = (back["orders"]?["records"] as? [[String: Any]])?.compactMap { $0["key"] as? String }
        #expect(orders.map(Set.init) == ["5", "6"])
        let none = try #require(try served.json("/api/record/orders/8")["relationships"] as? [String: [String: Any]])
        #expect((none["customer"]?["records"] as? [Any])?.isEmpty == true)
        let entities = try #require(try served.json("/api/entities")["entities"] as? [[String: Any]])
        let relationships = try #require(entities.first?["relationships"] as? [[String: Any]])
        #expect(relationships.compactMap { $0["name"] as? String } == ["customer", "lines"])
        #expect(relationships[1]["owned"] as? Bool == true && relationships[1]["to_many"] as? Bool == true)
        #expect(entities.compactMap { $0["count"] as? Int } == [3, 1, 60])
    }

    @Test func distributionsAreCounted() throws {
        let directory = try TemporaryDirectory()
        let records = (0..<400).map {
            #"{"n": \#($0 % 4 == 3 ? "null" : "\($0 % 40)"), "city": "\#($0 % 100 < 60 ? "Oslo" : "c\($0 % 100)")"}"#
        }
        let files = try ImportFiles(records: [records])
        let store = directory.path("cities.sqlite")
        try run(files.command(into: store, ["--entity", "cities", "--quiet"]))
        let served = try ServedStore(store)
        let numbers = try served.json("/api/distribution/cities/n")
        #expect(numbers["count"] as? Int == 400 && numbers["nulls"] as? Int == 100)
        #expect((numbers["distinct"] as? [String: Any])?["value"] as? Int == 30)
        #expect((numbers["distinct"] as? [String: Any])?["at_least"] as? Bool == false)
        let bins = try #require(numbers["histogram"] as? [[String: Any]])
        #expect(bins.compactMap { $0["count"] as? Int }.reduce(0, +) == 300)
        #expect(bins.first?["from"] as? Double == 0 && bins.last?["to"] as? Double == 38)
        // Of whole numbers, ranges begin at whole numbers.
        #expect(bins.compactMap { $0["from"] as? Int } == Array(stride(from: 0, through: 38, by: 2)))
        #expect(bins.dropLast().compactMap { $0["to"] as? Int } == Array(stride(from: 2, through: 38, by: 2)))
        #expect(numbers["sampled"] == nil)
        let cities = try served.json("/api/distribution/cities/city")
        let top = try #require(cities["top"] as? [[String: Any]])
        #expect(top.count == 20)
        #expect(top.first?["value"] as? String == "Oslo" && top.first?["count"] as? Int == 240)
        #expect((cities["distinct"] as? [String: Any])?["value"] as? Int == 41)
        #expect((cities["histogram"] as? [Any])?.isEmpty == true)
    }

    @Test func rangesOfTheLargestNumbersAreWhole() throws {
        let directory = try TemporaryDirectory()
        let store = try ServedStore.store(
            directory,
            of: "numbers",
            [("whole", "integer64"), ("few", "integer16"), ("part", "double")],
            """
            INSERT INTO numbers VALUES (-9223372036854775808, 3, 0.5), (9223372036854775807, 5, 1), (0, 3, 1), (1, 4, 2)
            """
        )
        let served = try ServedStore(store)
        func bins(_ name: String) throws -> [[String: Any]] {
            try #require(try served.json("/api/distribution/numbers/\(name)")["histogram"] as? [[String: Any]])
        }
        let whole = try bins("whole")
        #expect(whole.count == 30 && whole.compactMap { $0["count"] as? Int }.reduce(0, +) == 4)
        #expect(whole.first?["from"] as? String == "-9223372036854775808")
        #expect(whole.last?["to"] as? String == "9223372036854775807")
        let ends = whole.compactMap { ($0["from"] as? String).flatMap { Int64($0) } ?? $0["from"] as? Int64 }
        #expect(ends.count == 30 && ends == ends.sorted())
        #expect(try bins("few").compactMap { $0["from"] as? Int } == [3, 4, 5])
        #expect(try bins("few").compactMap { $0["count"] as? Int } == [2, 1, 1])
        #expect(try bins("part").count == 30)
    }

    @Test func aRecordSaysWhereItCameFrom() throws {
        let directory = try TemporaryDirectory()
        let files = try ImportFiles(records: [(1...50).map { #"{"n": \#($0)}"# }])
        let store = directory.path("people.sqlite")
        let result = try run(files.command(into: store, ["--entity", "people", "--quiet"]))
        try #require(result.ending == .exit(0), "\(result.errorText)")
        try StoreContent.execute(store, "INSERT INTO people (n) VALUES (51)")
        let served = try ServedStore(store)
        let job = try #require(try served.json("/api/jobs")["jobs"] as? [[String: Any]])
        let origin = try #require(try served.json("/api/record/people/50")["origin"] as? [String: Any])
        #expect(origin["job"] as? Int == 1)
        #expect(origin["source"] as? String == (job.first?["sources"] as? [String])?.first)
        #expect(origin["first_byte"] as? Int ?? -1 >= 0)
        #expect(origin["end_byte"] as? Int ?? 0 > origin["first_byte"] as? Int ?? .max)
        // Somebody else has inserted it.
        #expect(try served.json("/api/record/people/51")["origin"] == nil)
    }

    @Test func jobsHaveTheirOptions() throws {
        let directory = try TemporaryDirectory()
        let files = try ImportFiles(records: [(1...50).map { #"{"n": \#($0), "secret": "hush"}"# }])
        let store = directory.path("people.sqlite")
        let options = [
            "--entity", "people", "--identifier", "n", "--on-error", "null", "--max-errors", "5%", "--mirror",
            "--mirror-scope", "secret = 'hush'", "--quiet",
        ]
        let result = try run(files.command(into: store, options))
        try #require(result.ending == .exit(0), "\(result.errorText)")
        let expected = [
            "model": "inferred", "entity": "people", "identifier": "n", "on_error": "null", "max_errors": "5%",
            "mirror": "yes", "mirror_scope": "secret = 'hush'",
        ]
        let jobs = try #require(try ServedStore(store).json("/api/jobs")["jobs"] as? [[String: Any]])
        #expect(jobs.first?["options"] as? [String: String] == expected)
        let hidden = try #require(try ServedStore(store, "--hide-values").json("/api/jobs")["jobs"] as? [[String: Any]])
        #expect((hidden.first?["options"] as? [String: String])?["mirror_scope"] == nil)
        #expect((hidden.first?["options"] as? [String: String])?["mirror"] == "yes")
    }

    @Test func rejectsAreGroupedAndPaged() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(FedRecords.finishedStore(directory, count: 2_000))
        let found = try served.json("/api/rejects")
        #expect(found["open"] as? Int == 40)
        let groups = try #require(found["groups"] as? [[String: Any]])
        #expect(groups.count == 1)
        let group = try #require(groups.first)
        #expect(group["key_path"] as? String == "age" && group["count"] as? Int == 40)
        #expect((group["text"] as? String)?.contains("`people.age`: 40 ") == true, "\(group)")
        let name = try #require(group["group"] as? String)
        var ordinals: [Int] = []
        var after = ""
        repeat {
            let page = try served.json("/api/rejects?group=\(name)&limit=7" + (after.isEmpty ? "" : "&after=\(after)"))
            let rejects = try #require(page["rejects"] as? [[String: Any]])
            ordinals += rejects.compactMap { $0["ordinal"] as? Int }
            after = page["next"] as? String ?? ""
        } while !after.isEmpty
        #expect(ordinals == (1...2_000).filter { $0 % 50 == 7 })
        let reject = try served.json("/api/reject/2")
        let record = try #require(reject["record"] as? String)
        #expect(record.hasPrefix(#"{"id": 57,"#))
        #expect(reject["record_base64"] as? String == Data(record.utf8).base64EncodedString())
        let error = try #require((reject["errors"] as? [[String: Any]])?.first)
        let (start, end) = (try #require(error["start"] as? Int), try #require(error["end"] as? Int))
        #expect(String(decoding: Array(record.utf8)[start..<end], as: UTF8.self) == #""old""#)
        let commands = try #require(reject["repair"] as? [String])
        #expect(
            commands == [
                "importer rejects store.sqlite --to rejects.ndjson", "importer retry store.sqlite rejects.ndjson",
            ]
        )
        for query in ["group=x", "group=\(name)&after=x", "group=\(name)&limit=0"] {
            #expect(try served.client.ask("/api/rejects?\(query)").status == 400, "\(query)")
        }
    }

    @Test func theStateIsThatOfTheStatusCommand() throws {
        let directory = try TemporaryDirectory()
        let store = try FedRecords.finishedStore(directory)
        let served = try ServedStore(store)
        let printed = try JSONSerialization.jsonObject(with: runImporter("status", store, "--json").output)
        let status = try #require(printed as? [String: Any])
        let answer = try served.json("/api/status")
        for (key, value) in status {
            #expect((answer[key] as? NSObject)?.isEqual(value) == true, "\(key)")
        }
        #expect(answer["store"] as? String == "store.sqlite")
        #expect(answer["position"] as? Int ?? 0 > 0)
        let samples = (answer["throughput"] as? [String: Any])?["samples"] as? [[String: Any]]
        #expect(samples?.last?["records"] as? Int == 400)
        let jobs = try #require(try served.json("/api/jobs")["jobs"] as? [[String: Any]])
        #expect((jobs.first?["report"] as? [String: Any])?["records_read"] as? Int == 400)
    }

    @Test func metricsAreWhatPrometheusReads() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(FedRecords.finishedStore(directory))
        let answer = try served.client.ask("/metrics")
        #expect(answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let lines = answer.text.split(separator: "\n")
        #expect(lines.contains(#"importer_records_total{entity="people",outcome="inserted"} 392"#))
        #expect(lines.contains(#"importer_records_total{entity="people",outcome="rejected"} 8"#))
        #expect(lines.contains(#"importer_job_state{state="finished"} 1"#))
        #expect(lines.contains(#"importer_job_state{state="running"} 0"#))
        #expect(lines.contains { $0.hasPrefix("importer_rejects_total{code=") && $0.hasSuffix("} 8") })
        for line in lines where !line.hasPrefix("#") {
            #expect(line.wholeMatch(of: /[a-z_]+(\{([a-z]+="([^"\\]|\\.)*",?)+\})? [0-9.e+]+/) != nil, "\(line)")
        }
    }

    @Test func aStoreThatIsNotThereIsWaitedFor() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(directory.path("store.sqlite"))
        #expect(try served.json("/api/status")["state"] as? String == "waiting")
        #expect((try served.json("/api/entities")["entities"] as? [Any])?.isEmpty == true)
        #expect((try served.json("/api/rejects")["groups"] as? [Any])?.isEmpty == true)
        #expect(try served.client.ask("/api/records/people").status == 404)
        let stream = try EventReader(served.client)
        #expect(try stream.next("progress").data["state"] as? String == "waiting")
        _ = try FedRecords.finishedStore(directory)
        // A reader that is to read everything again finds everything.
        _ = try stream.next("refresh")
        _ = try served.json("/api/entities")
        while try stream.next("progress").data["state"] as? String != "finished" {}
        #expect(try served.json("/api/status")["inserted"] as? Int == 392)
        let entities = try #require(try served.json("/api/entities")["entities"] as? [[String: Any]])
        #expect(entities.first?["count"] as? Int == 392)
        #expect(try served.client.ask("/api/records/people").status == 200)
    }
}
