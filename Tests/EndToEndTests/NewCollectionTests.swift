import Foundation
import TestSupport
import Testing

/// A collection of a document that was empty, or not there, in earlier imports becomes a table when it has records.
struct NewCollectionTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("s.sqlite")
    }

    /// Imports another night's `d.json`, of a folder of its own or in the place of the last one.
    private func night(_ document: String, of folder: String = "", _ options: [String] = []) throws
        -> ChildProcess.Result
    {
        try FileManager.default.createDirectory(atPath: directory.path(folder), withIntermediateDirectories: true)
        let source = try directory.write(document, to: folder.isEmpty ? "d.json" : "\(folder)/d.json")
        let result = try run([Project.importer, source, "--into", store] + options)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return result
    }

    private func query(_ sql: String) throws -> String { try StoreContent.query(store, sql) }
    private func tables() throws -> String {
        let own = "type = 'table' AND name NOT GLOB '_import*' AND name NOT GLOB 'sqlite*'"
        return try query("SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE \(own) ORDER BY name)")
    }

    @Test(arguments: [#"{"users":[{"id":1},{"id":2}],"orders":[]}"#, #"{"users":[{"id":1},{"id":2}]}"#])
    func hasItsTableFromTheNightOnThatBringsIt(first: String) throws {
        _ = try night(first, of: "1")
        _ = try night(#"{"users":[{"id":3}],"orders":[{"id":7,"sum":4}]}"#, of: "2")
        _ = try night(#"{"users":[],"orders":[{"id":8,"sum":5}],"bills":[{"id":1,"due":"x"}]}"#, of: "3")
        #expect(try tables() == "bills,d,orders")
        #expect(try query("SELECT group_concat(id) FROM d") == "1,2,3")
        #expect(try query("SELECT group_concat(id || sum, ' ') FROM orders") == "74 85")
        #expect(try query("SELECT id, due FROM bills") == "1|x")
    }

    /// A list within a record that has a key is no collection of the document.
    @Test func isNoListWithinARecord() throws {
        _ = try night(#"{"users":{"u1":{"n":1},"u2":{"n":2}}}"#, of: "1")
        let result = try night(#"{"users":{"u2":{"n":2,"orders":[{"o":1},{"o":2}]}}}"#, of: "2")
        #expect(!result.errorText.contains("outside of the table"), "\(result.errorText)")
        #expect(try tables() == "d")
        #expect(try query("SELECT n FROM d ORDER BY rowid") == "1\n2\n2")
    }

    /// What is merged night after night goes on as it was.
    @Test(arguments: [["--identifier", "id"], ["--entity", "d", "--identifier", "id"]])
    func isNamedWhereRecordsAreMerged(options: [String]) throws {
        _ = try night(#"{"users":[{"id":1,"n":1}],"orders":[]}"#, of: "", options)
        for (second, number) in [(options, 2), ([], 3), (options, 4)] {
            let document = "{\"users\":[{\"id\":1,\"n\":\(number)}],\"orders\":[{\"id\":7,\"sum\":4}]}"
            let result = try night(document, of: "", options.first == "--entity" ? options : second)
            #expect(result.errorText.contains("array of 1 objects at $.orders[*]"), "\(result.errorText)")
            #expect(result.outputText.contains("$.orders  1 ×"), "\(result.outputText)")
            #expect(try query("SELECT id, n FROM d") == "1|\(number)")
        }
        #expect(try tables() == "d")
    }

    @Test func isLeftOutsideWhereTheRecordPathWasAskedFor() throws {
        _ = try night(#"{"users":[{"id":1}],"orders":[]}"#, of: "1", ["--records", "$.users[*]"])
        let result = try night(#"{"users":[{"id":2}],"orders":[{"id":7,"sum":4}]}"#, of: "2")
        #expect(try tables() == "d")
        #expect(result.outputText.contains("$.orders  1 ×"), "\(result.outputText)")
    }
}
