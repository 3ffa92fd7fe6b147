import Foundation
import TestSupport
import Testing

/// The documentation's table of what happens to the `i_` files of JSONTestSuite is what happens to them.
@Suite(.enabled(if: SharedData.isPresent, "there is no shared/data beside the package"))
struct OddJSONTests {
    static let folder = "JSONTestSuite/test_parsing"
    static let page = "Sources/Importer/Importer.docc/OddJSON.md"

    /// A row of the table.
    struct Row: Sendable, Equatable, CustomTestStringConvertible {
        let name: String
        let split: String
        let imported: String
        let stored: String

        var testDescription: String { name }

        init(name: String, split: String, imported: String, stored: String) {
            (self.name, self.split, self.imported, self.stored) = (name, split, imported, stored)
        }

        /// A row of an `i_` file, or nil for every other line.
        init?(_ line: Substring) {
            guard line.hasPrefix("| `i_") else { return nil }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4 else { return nil }
            name = cells[0].trimmingCharacters(in: ["`"])
            (split, imported, stored) = (cells[1], cells[2], cells[3])
        }
    }

    static let rows: [Row] = {
        let text = try? String(contentsOf: Project.root.appending(path: page), encoding: .utf8)
        return (text ?? "").split(separator: "\n").compactMap { Row($0) }
    }()

    @Test func everyFileIsInTheTable() {
        let files = SharedData.names(in: Self.folder).filter { $0.hasPrefix("i_") }
        #expect(!files.isEmpty)
        #expect(Self.rows.map { $0.name + ".json" }.sorted() == files)
    }

    @Test(arguments: rows)
    func happensAsTheTableSays(row: Row) throws {
        let source = SharedData.path("\(Self.folder)/\(row.name).json")
        let split = try SplitResult(source)
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let imported = try runImporter("import", source, "--into", store, "--entity", "t")
        let (outcome, stored) = try Self.outcome(of: imported, in: store)
        let found = Row(
            name: row.name,
            split: try Self.answer(to: split.ending, split.messages),
            imported: outcome,
            stored: stored
        )
        #expect(found == row, "\(split.messages) \(imported.errorText)")
    }

    private static func answer(to ending: ChildProcess.Ending, _ messages: String) throws -> String {
        switch ending {
        case .exit(0): "accepted"
        case .exit(65): "refused"
        default: throw StoreContent.Failure("\(ending): \(messages)")
        }
    }

    /// What became of the one record, in the table's words.
    private static func outcome(of result: ChildProcess.Result, in store: String) throws -> (String, String) {
        // Where the one record is a reject, nothing was accepted, but the store has the reject.
        let isRefused = try answer(to: result.ending, result.errorText) == "refused"
        guard !isRefused || FileManager.default.fileExists(atPath: store) else { return ("refused", "nothing") }
        let reject = try StoreContent.query(
            store,
            """
            SELECT '`' || json_extract(errors, '$[0].code') || '`, byte ' || json_extract(errors, '$[0].byteOffset')
            FROM _import_reject
            """
        )
        #expect(isRefused == !reject.isEmpty)
        guard reject.isEmpty else { return ("reject", "the reject: " + reject) }
        let value = try StoreContent.query(
            store,
            """
            SELECT typeof(value) || ' `' || CASE WHEN length(value) > 40 THEN substr(value, 1, 24) || '…'
            ELSE value END || '`' FROM t
            """
        )
        let ledger = try StoreContent.query(store, "SELECT '; ledger: ' || kind || ' ' || count FROM _import_ledger")
        return ("accepted", value + ledger)
    }
}
