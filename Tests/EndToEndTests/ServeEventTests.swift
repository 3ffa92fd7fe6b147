import Foundation
import TestSupport
import Testing

/// Events while an import runs: complete, and at nobody's cost.
struct ServeEventTests {
    private func inserted(_ event: EventReader.Event) -> Int {
        let entities = event.data["entities"] as? [String: [String: Any]]
        return entities?["people"]?["inserted"] as? Int ?? 0
    }

    @Test func aPageIsNotifiedOfEveryRow() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let child = try records.startImport()
        try records.feed(FedRecords.first)
        try wait(for: "rows") { try StoreContent.rowCountNow(records.store).map { $0 > 0 } == true ? true : nil }
        let served = try ServedStore(records.store)
        let stream = try EventReader(served.client)
        let progress = try stream.next("progress")
        #expect(progress.data["state"] as? String == "importing" || progress.data["state"] as? String == "starting")
        let first = try served.json("/api/records/people?sort=-id&limit=1")
        #expect((first["records"] as? [Any])?.count == 1)
        try records.feed(200)
        var keys: Set<String> = []
        var sequences: [Int] = []
        func take(_ merge: EventReader.Event) {
            let entities = merge.data["entities"] as? [String: [String: Any]]
            keys.formUnion(entities?["people"]?["keys"] as? [String] ?? [])
            sequences.append(merge.data["sequence"] as? Int ?? 0)
        }
        take(try stream.next("merge"))
        records.close()
        #expect(child.wait().ending == .exit(0))
        while true {
            let event = try stream.next("merge", "finished")
            if event.name == "finished" {
                #expect(event.data["state"] as? String == "finished")
                break
            }
            take(event)
        }
        #expect(sequences == sequences.sorted())
        #expect(keys.isSuperset(of: (301...400).filter { $0 % 50 != 7 }.map(String.init)))
    }

    /// A reader that comes back gets what it has missed, or is to read everything again.
    @Test func aReaderContinuesWhereItStopped() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let child = try records.startImport()
        try records.feed(FedRecords.first)
        try wait(for: "rows") { try StoreContent.rowCountNow(records.store).map { $0 > 0 } == true ? true : nil }
        let served = try ServedStore(records.store)
        let first = try EventReader(served.client)
        let other = try EventReader(served.client)
        // From here on the server follows the store: what was committed before is no event.
        _ = try first.next("progress")
        try records.feed(200)
        let seen = try first.next("merge")
        let id = try #require(seen.id)
        first.close()
        records.close()
        #expect(child.wait().ending == .exit(0))
        // All that the one who stayed has got is what the other has missed.
        var expected: [String] = []
        while true {
            let event = try other.next("merge", "finished")
            if event.name == "finished" { break }
            if let id = event.id { expected.append(id) }
        }
        let place = try #require(expected.firstIndex(of: id))
        let missed = Array(expected[(place + 1)...])
        let again = try EventReader(served.client, headers: ["Last-Event-ID": id])
        var got: [String] = []
        while true {
            let event = try again.next("merge", "progress", "refresh")
            if event.name == "progress" { break }
            #expect(event.name == "merge")
            if let id = event.id { got.append(id) }
        }
        #expect(got == missed)
        let unknown = try EventReader(served.client, headers: ["Last-Event-ID": "12-345"])
        #expect(try unknown.next("refresh", "progress").name == "refresh")
        let fresh = try EventReader(served.client)
        #expect(try fresh.next("refresh", "merge", "progress").name == "progress")
    }

    @Test func streamsAreLimitedAndGivenBack() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(FedRecords.finishedStore(directory))
        let sockets = try socketCount(of: served)
        let streams = try (0..<32).map { _ in try EventReader(served.client) }
        #expect(streams.allSatisfy { $0.answer.status == 200 })
        let refused = try served.client.ask("/events")
        #expect(refused.status == 503)
        #expect(try refused.errorCode == "too_many_streams")
        #expect(try served.client.ask("/api/status").status == 200)
        for stream in streams { stream.close() }
        // Those who are gone are known by what is written to them, and so are their descriptors.
        try wait(for: "a place") { try EventReader(served.client).answer.status == 200 ? true : nil }
        try wait(for: "few descriptors") { try socketCount(of: served) <= sockets + 1 ? true : nil }
    }

    /// How many sockets a server has open, those that it was started with included.
    private func socketCount(of served: ServedStore) throws -> Int {
        let folder = "/proc/\(served.child.processIdentifier)/fd"
        return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
            return target?.hasPrefix("socket:") == true
        }
    }

    @Test func aStreamSaysThatItIsStillThere() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(FedRecords.finishedStore(directory))
        let stream = try EventReader(served.client)
        #expect(try stream.nextComment().hasPrefix(":"))
    }

    /// Readers that never read, and others that leave, hold up neither the import nor those who read.
    @Test func slowAndVanishedReadersCostNobodyAnything() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let served = try ServedStore(records.store)
        let slow = try (0..<10).map { _ in
            let connection = try HTTPClient.Connection(port: served.client.port)
            try connection.send("GET /events HTTP/1.1\r\nHost: \(served.client.host)\r\n\r\n")
            return connection
        }
        for _ in 0..<10 {
            let connection = try HTTPClient.Connection(port: served.client.port)
            try connection.send("GET /api/status HTTP/1.1\r\nHost: \(served.client.host)\r\n\r\n")
            connection.close()
        }
        let reader = try EventReader(served.client)
        let child = try records.startImport()
        try records.feed(3_000)
        records.close()
        #expect(child.wait().ending == .exit(0))
        #expect(try reader.next("finished").data["state"] as? String == "finished")
        #expect(try served.json("/api/entities")["entities"] is [[String: Any]])
        for connection in slow { connection.close() }
    }

    @Test func anotherStoreInItsPlaceIsShown() throws {
        let directory = try TemporaryDirectory()
        let store = try FedRecords.finishedStore(directory)
        let served = try ServedStore(store)
        let stream = try EventReader(served.client)
        #expect(try stream.next("progress").data["records"] as? Int == 400)
        let other = try TemporaryDirectory()
        let new = try FedRecords.finishedStore(other, count: 100)
        #expect(rename(new, store) == 0)
        _ = try stream.next("refresh")
        try wait(for: "the other store") {
            try served.json("/api/status")["records_read"] as? Int == 100 ? true : nil
        }
        let page = try served.json("/api/records/people?limit=500")
        #expect((page["records"] as? [Any])?.count == 98)
    }
}
