import Foundation
import TestSupport
import Testing

/// The commands that the article "Sources" has for what people have make the tables that it says.
struct OriginsTests {
    /// A row of the table.
    struct Origin: Sendable, CustomTestStringConvertible {
        let name: String
        let command: String
        let tables: [String]

        var testDescription: String { name }

        init?(_ line: Substring) {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3, cells[1].hasPrefix("`importer ") else { return nil }
            name = cells[0]
            command = cells[1].trimmingCharacters(in: ["`"])
            tables = cells[2].split(separator: ",").map { $0.trimmingCharacters(in: ["`", " "]) }
        }
    }

    static let origins: [Origin] = {
        let page = Project.root.appending(path: "Sources/Importer/Importer.docc/Sources.md")
        return ((try? String(contentsOf: page, encoding: .utf8)) ?? "").split(separator: "\n").compactMap { Origin($0) }
    }()

    @Test func areTwentyAndMore() { #expect(Self.origins.count >= 20) }

    @Test(arguments: origins)
    func makesTheTables(origin: Origin) throws {
        let directory = try TemporaryDirectory()
        let made = try Python.run("origins.py", [directory.path("")])
        #expect(made.ending == .exit(0), "\(made.errorText)")
        let command = origin.command.replacing("importer ", with: "'\(Project.importer)' ", maxReplacements: 1)
        let result = try run(["/bin/sh", "-c", "cd '\(directory.path(""))' && \(command) --progress none"])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let name = try #require(command.firstMatch(of: /--into (\S+)/)).1
        let store = directory.path(String(name))
        let tables = try StoreContent.query(
            store,
            """
            SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_import\\_%' ESCAPE '\\'
            AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name COLLATE BINARY
            """
        )
        #expect(tables.split(separator: "\n").map(String.init) == origin.tables)
        for table in origin.tables {
            #expect(try StoreContent.query(store, "SELECT count(*) > 0 FROM \"\(table)\"") == "1")
        }
        let rejects = "SELECT count(*) FROM sqlite_schema WHERE name = '_import_reject'"
        #expect(try StoreContent.query(store, rejects) == "0", "\(result.outputText)")
    }
}
