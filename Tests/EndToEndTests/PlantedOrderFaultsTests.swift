import Foundation
import TestSupport
import Testing

/// Faults planted in nested objects, at every depth: each rejects its record with the right path and byte, and repaired they all
/// come in.
struct PlantedOrderFaultsTests {
    /// What `scripts/generate-orders` says of a fault.
    private struct Fault: Decodable, Hashable {
        let line: Int
        let keyPath: String
        let code: String
        let byte: Int
    }

    private static let records = 600
    private static let faults = 75

    private let directory: TemporaryDirectory
    private let store: String
    private let planted: [Fault]

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
        let generator = Project.root.appending(path: "scripts/generate-orders").path
        let arguments = ["--records", "\(Self.records)", "--faults", "\(Self.faults)"]
        let generated = try run([Project.python, generator, directory.path] + arguments)
        try #require(generated.ending == .exit(0), "\(generated.errorText)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let expected = try Data(contentsOf: URL(filePath: directory.path("expected.json")))
        planted = try decoder.decode([Fault].self, from: expected)
        try #require(planted.count == Self.faults)
    }

    private func importing(_ source: String, into store: String, _ options: [String] = []) throws -> Report {
        let command = [Project.importer, "import", directory.path(source), "--into", store, "--json"]
        let result = try run(command + ["--model", directory.path("model.json")] + options)
        try #require(result.ending == .exit(0), "\(result.errorText)")
        return try Report(result.output)
    }

    /// One object in the place of a list is a fault where nothing is taken that other programs write.
    @Test(arguments: [
        ["--strict", "--workers", "1"], ["--strict", "--workers", "4", "--chunk-size", "20K", "--commit-every", "37"],
    ])
    func haveTheirPathsAndBytes(_ options: [String]) throws {
        let report = try importing("orders.ndjson", into: store, options)
        #expect(report.read == Self.records && report.rejected == Self.faults)
        let listed = try runImporter("rejects", store, "--json").output.split(separator: UInt8(ascii: "\n"))
        var found: [Fault] = []
        for line in listed {
            let reject = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
            let number = try #require(reject["ordinal"] as? Int)
            for error in try #require(reject["errors"] as? [[String: Any]]) {
                let (path, code) = (error["key_path"] as? String ?? "", error["code"] as? String ?? "")
                found.append(Fault(line: number, keyPath: path, code: code, byte: error["byte_offset"] as? Int ?? -1))
            }
        }
        // One fault is one error, and not the cause of others.
        #expect(found == planted, "\(Set(found).symmetricDifference(planted).sorted { $0.line < $1.line }.prefix(4))")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func comeInWholeOnceTheyAreRepaired() throws {
        _ = try importing("orders.ndjson", into: store, ["--chunk-size", "50K"])
        let exported = directory.path("fix.ndjson")
        #expect(try runImporter("rejects", store, "--to", exported).ending == .exit(0))
        let mended = try TemporaryDirectory()
        try FileManager.default.copyItem(
            atPath: directory.path("mended.ndjson"),
            toPath: mended.path("records.ndjson")
        )
        let edited = directory.path("edited.ndjson")
        try RepairJob.check("edit", exported, mended.path, edited)
        let retry = try runImporter("retry", store, edited, "--json")
        try #require(retry.ending == .exit(0), "\(retry.errorText)")
        #expect(try Report(retry.output).inserted == Self.faults)
        #expect(try runImporter("rejects", store).outputText.isEmpty)
        #expect(try runImporter("verify", store).ending == .exit(0))

        // But for the order of rows, the store is that of the mended records.
        let other = directory.path("mended.sqlite")
        #expect(try importing("mended.ndjson", into: other).rejected == 0)
        for sql in [
            #"SELECT * FROM "order" ORDER BY id"#, "SELECT * FROM customer ORDER BY id",
            "SELECT code, price FROM product ORDER BY code", "SELECT * FROM maker ORDER BY id",
            "SELECT * FROM order_tags ORDER BY 1, 2", "SELECT name FROM tag ORDER BY name",
            "SELECT street, zip, customer_id FROM address ORDER BY customer_id",
            "SELECT sku, count, product_code, order_id, order_position FROM line ORDER BY order_id, order_position",
            """
            SELECT name, weight, maker_id, order_id, order_position, line_position
            FROM part JOIN line ON line.row_id = line_row_id ORDER BY 4, 5, 6
            """,
        ] {
            #expect(try StoreContent.query(store, sql) == StoreContent.query(other, sql), "\(sql)")
        }
    }
}
