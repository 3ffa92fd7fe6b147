import Foundation
import TestSupport
import Testing

/// Objects that another program has deleted without what belongs to them.
struct DeletedObjectTests {
    private static let orders = [
        #"{"no": "A", "lines": [{"sku": "x"}]}"#, #"{"no": "B", "lines": [{"sku": "y"}, {"sku": "z"}]}"#,
    ]

    /// - Returns: what the command prints.
    @discardableResult
    private func importLines(
        _ lines: [String],
        _ options: [String],
        _ directory: TemporaryDirectory
    ) throws -> String {
        let source = try directory.write(lines.joined(separator: "\n") + "\n", to: "\(UUID().uuidString).ndjson")
        let command = [Project.importer, "import", source, "--into", directory.path("s.sqlite"), "--entity", "orders"]
        let result = try run(command + options)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return result.outputText
    }

    /// - Parameter came: what comes after B is deleted, and which lines which order has then.
    @Test(
        arguments: [
            ([#"{"no": "B", "lines": [{"sku": "q"}]}"#, #"{"no": "C", "lines": [{"sku": "r"}]}"#], "A|x\nB|q\nC|r"),
            ([#"{"no": "B", "lines": []}"#, #"{"no": "C", "lines": [{"sku": "r"}]}"#], "A|x\nB|\nC|r"),
            ([#"{"no": "B"}"#, #"{"no": "C"}"#], "A|x\nB|\nC|"),
        ],
        ["no", nil]
    )
    func aNewObjectInheritsNothing(came: ([String], String), identifier: String?) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        let options = ["--nested", "tables"] + (identifier.map { ["--identifier", $0] } ?? [])
        try importLines(Self.orders, options, directory)
        try StoreContent.execute(store, "DELETE FROM orders WHERE no = 'B'")
        let verified = try runImporter("verify", store)
        #expect(verified.ending != .exit(0))
        #expect(verified.outputText.contains("orders.lines has 2"), "\(verified.outputText)")
        let printed = try importLines(came.0, options, directory)
        let (own, link) = identifier == nil ? ("row_id", "orders_row_id") : ("no", "orders_no")
        let found = try StoreContent.query(
            store,
            "SELECT o.no, l.sku FROM orders AS o LEFT JOIN orders_lines AS l ON l.\(link) = o.\(own) ORDER BY 1, 2"
        )
        #expect(found == came.1)
        #expect(printed.contains("orphan deleted"), "\(printed)")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test(arguments: [[], ["--identifier", "k"]])
    func aMissingKeyLeavesTheDefaultOfATable(options: [String]) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        let key = options.isEmpty ? "" : " PRIMARY KEY"
        try StoreContent.execute(
            store,
            """
            CREATE TABLE orders(k INTEGER\(key), a TEXT DEFAULT 'x', n INTEGER NOT NULL DEFAULT 7, e TEXT DEFAULT (upper('e')))
            """
        )
        let lines = [
            #"{"k": 1, "a": "y", "n": 1, "e": "f"}"#, #"{"k": 2, "a": null, "n": 2}"#, #"{"k": 3, "e": null}"#,
            #"{"k": 4}"#,
        ]
        try importLines(lines, options, directory)
        let found = try StoreContent.query(store, "SELECT k, quote(a), n, quote(e) FROM orders ORDER BY k")
        #expect(found == "1|'y'|1|'f'\n2|NULL|2|'E'\n3|'x'|7|NULL\n4|'x'|7|'E'")
    }
}
