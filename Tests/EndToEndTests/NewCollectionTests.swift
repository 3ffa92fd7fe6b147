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

    /// Imports another night's `d.json`.
    private func night(_ document: String, identifiers: [String] = ["id"], _ options: [String] = []) throws
        -> ChildProcess.Result
    {
        let source = try directory.write(document, to: "d.json")
        return try run(
            [Project.importer, source, "--into", store] + identifiers.flatMap { ["--identifier", $0] } + options
        )
    }

    @Test(arguments: [#"{"users":[{"id":1},{"id":2}],"orders":[]}"#, #"{"users":[{"id":1},{"id":2}]}"#])
    func hasItsTableFromTheNightOnThatBringsIt(first: String) throws {
        #expect(try night(first).ending == .exit(0))
        let second = #"{"users":[{"id":2},{"id":3}],"orders":[{"id":7,"sum":4}]}"#
        let unclear = try night(second)
        #expect(unclear.ending == .exit(64))
        #expect(unclear.errorText.contains("--identifier orders:id"), "\(unclear.errorText)")
        for _ in 0..<2 {
            let result = try night(second, identifiers: ["d:id", "orders:id"])
            #expect(result.ending == .exit(0), "\(result.errorText)")
        }
        let result = try night(
            #"{"users":[],"orders":[{"id":7,"sum":5}],"bills":[{"id":1,"due":"x"}]}"#,
            identifiers: ["d:id", "orders:id", "bills:id"]
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT id FROM d ORDER BY id") == "1\n2\n3")
        #expect(try StoreContent.query(store, "SELECT id, sum FROM orders") == "7|5")
        #expect(try StoreContent.query(store, "SELECT id, due FROM bills") == "1|x")
        let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB '_import*'"
        #expect(try StoreContent.query(store, "\(tables) AND name NOT GLOB 'sqlite*'") == "3")
    }

    @Test func isLeftOutsideWhereTheRecordPathWasAskedFor() throws {
        let path = ["--records", "$.users[*]"]
        #expect(try night(#"{"users":[{"id":1}],"orders":[]}"#, identifiers: [], path).ending == .exit(0))
        let result = try night(
            #"{"users":[{"id":2}],"orders":[{"id":7,"sum":4}]}"#,
            identifiers: [],
            ["--replace-source"]
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM sqlite_schema WHERE name = 'orders'") == "0")
        #expect(result.outputText.contains("$.orders  1 ×"), "\(result.outputText)")
    }

    @Test func isNamedWhereTheTableIsTheOneThatWasAskedFor() throws {
        let entity = ["--entity", "people"]
        #expect(try night(#"{"users":[{"id":1}],"orders":[]}"#, entity).ending == .exit(0))
        let result = try night(#"{"users":[{"id":2}],"orders":[{"id":7,"sum":4}]}"#, entity)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT id FROM people ORDER BY id") == "1\n2")
        #expect(
            result.errorText.contains("outside of the table: array of 1 objects at $.orders[*]"),
            "\(result.errorText)"
        )
    }
}
