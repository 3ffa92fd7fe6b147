import Foundation
import TestSupport
import Testing

/// The command: ports, signals, exit codes, and an import that is served.
struct ServeCommandTests {
    @Test func ctrlCEndsItAtOnce() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(directory.path("none.sqlite"))
        #expect(served.address == "http://127.0.0.1:\(served.client.port)/")
        let stream = try EventReader(served.client)
        let result = served.end()
        #expect(result.ending == .exit(130))
        #expect(result.outputText == served.address + "\n")
        #expect(throws: NeverCame.self) { while true { _ = try stream.next("nothing") } }
    }

    /// Nothing is left beside a store that nobody has open.
    @Test func noFilesAreLeftBesideTheStore() throws {
        let directory = try TemporaryDirectory()
        let store = try FedRecords.finishedStore(directory)
        let before = directory.names()
        let served = try ServedStore(store)
        #expect(try served.client.ask("/api/records/people").status == 200)
        #expect(served.end().ending == .exit(130))
        #expect(directory.names() == before)
        let source = try directory.write("{\"id\": 1}\n", to: "more.ndjson")
        let importing = try ServedStore(
            command: ["import", source, "--into", directory.path("more.sqlite"), "--serve", "--port", "0"]
        )
        try wait(for: "the import") { importing.child.outputSoFar.contains("inserted") ? true : nil }
        #expect(try importing.client.ask("/api/records/more").status == 200)
        #expect(importing.end().ending == .exit(0))
        #expect(directory.names() == (before + ["more.ndjson", "more.sqlite"]).sorted())
    }

    @Test func aPortThatIsTakenIsRefused() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("none.sqlite")
        let served = try ServedStore(store)
        let result = try runImporter("serve", store, "--port", "\(served.client.port)")
        #expect(result.ending == .exit(73))
        #expect(result.errorText.contains("port \(served.client.port) is taken"))
        #expect(result.outputText.isEmpty)
    }

    @Test func anotherFileThanAStoreIsRefused() throws {
        let directory = try TemporaryDirectory()
        let result = try runImporter("serve", directory.write("{\"id\": 1}\n", to: "people.json"), "--port", "0")
        #expect(result.ending == .exit(74))
        #expect(result.errorText.contains("is not an SQLite database"), "\(result.errorText)")
        #expect(result.outputText.isEmpty)
    }

    @Test func withoutAPortTheNextFreeOneIsUsed() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("none.sqlite")
        let one = try ServedStore(command: ["serve", store])
        let other = try ServedStore(command: ["serve", store])
        #expect((8_087...8_106).contains(one.client.port))
        #expect((8_087...8_106).contains(other.client.port))
        #expect(one.client.port != other.client.port)
    }

    @Test(arguments: [
        ["serve", "none.sqlite", "--bind", "nowhere"], ["serve", "none.sqlite", "--port", "65536"],
        ["serve", ""], ["import", "a.json", "--into", "b.sqlite", "--port", "0"],
    ])
    func whatMakesNoSenseIsAUsageError(arguments: [String]) throws {
        #expect(try run([Project.importer] + arguments).ending == .exit(64))
    }

    @Test func anImportIsServedUntilCtrlC() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write((1...500).map { "{\"id\": \($0)}\n" }.joined(), to: "people.ndjson")
        let store = directory.path("people.sqlite")
        let served = try ServedStore(command: ["import", source, "--into", store, "--serve", "--port", "0"])
        let stream = try EventReader(served.client)
        while try stream.next("progress").data["state"] as? String != "finished" {}
        #expect(try served.json("/api/status")["inserted"] as? Int == 500)
        #expect((try served.json("/api/records/people?limit=500")["records"] as? [Any])?.count == 500)
        #expect(served.child.isRunning)
        let result = served.end()
        #expect(result.ending == .exit(0))
        #expect(result.outputText.contains("inserted  500"))
    }

    @Test func aFailedImportIsServedTooAndItsCodeCounts() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"id\": 1}, {\"id\": ", to: "people.json")
        let served = try ServedStore(
            command: ["import", source, "--into", directory.path("people.sqlite"), "--serve", "--port", "0"]
        )
        let stream = try EventReader(served.client)
        while try stream.next("progress").data["state"] as? String != "failed" {}
        let result = served.end()
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("the source ends inside a value"))
    }

    @Test func anImportThatCannotBeServedImportsNothing() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(directory.path("none.sqlite"))
        let source = try directory.write("{\"id\": 1}\n", to: "people.ndjson")
        let store = directory.path("people.sqlite")
        let port = "\(served.client.port)"
        let result = try runImporter("import", source, "--into", store, "--serve", "--port", port)
        #expect(result.ending == .exit(73))
        #expect(!FileManager.default.fileExists(atPath: store))
        let missing = try runImporter("import", directory.path("no.json"), "--into", store, "--serve", "--port", "0")
        #expect(missing.ending == .exit(66))
    }

    @Test func anInterruptedImportEndsAsAnyOther() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let child = try records.startImport(["--serve", "--port", "0"])
        try records.feed(FedRecords.first)
        try wait(for: "rows") { try StoreContent.rowCountNow(records.store).map { $0 > 0 } == true ? true : nil }
        child.signal(SIGINT)
        #expect(child.wait().ending == .exit(130))
    }
}
