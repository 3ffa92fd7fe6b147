import Foundation
import TestSupport
import Testing

/// `model print` gives back the model that a store holds.
struct ModelPrintTests {
    private static let nights = [
        "{\"id\":1,\"Name\":\"a\",\"at\":{\"city\":\"x\"},\"tags\":[1]}\n{\"id\":2,\"Name\":\"b\",\"at\":{\"city\":\"y\"}}\n",
        "{\"id\":2,\"nick\":\"n\",\"at\":{\"zip\":3}}\n",
        "{\"id\":3.5}\n{\"id\":4,\"Name\":null,\"at\":{\"city\":7}}\n{\"id\":1,\"nick\":5}\n",
    ]

    @Test func isSoundAndImportsOnTheSameWay() throws {
        let directory = try TemporaryDirectory()
        let (store, other) = (directory.path("p.sqlite"), directory.path("other.sqlite"))
        for (index, night) in Self.nights.enumerated() {
            let source = try directory.write(night, to: "\(index).ndjson")
            let options = index == 0 ? ["--identifier", "id"] : []
            for path in [store, other] where path == store || index < 2 {
                let command = [Project.importer, source, "--into", path, "--entity", "p"] + options
                #expect(try run(command).ending == .exit(0))
            }
        }
        let printed = try runImporter("model", "print", other)
        #expect(printed.ending == .exit(0), "\(printed.errorText)")
        #expect(printed.outputText.contains("\"from\": \"at.zip\""), "\(printed.outputText)")
        let model = try directory.write(printed.output, to: "model.json")
        #expect(try runImporter("model", "check", model).outputText == "no mistakes\n")
        let result = try run([
            Project.importer, directory.path("2.ndjson"), "--into", other, "--entity", "p", "--model", model,
        ])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.result(other) == StoreContent.result(store))
    }

    @Test func saysWhatItCanOfTablesOfAPersonsOwn() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("p.sqlite")
        _ = try Python.run(
            text: """
                import sqlite3, sys
                sqlite3.connect(sys.argv[1]).executescript('''CREATE TABLE "my notes" (id BIGINT, body VARCHAR(9), at DATE,
                made TEXT DEFAULT CURRENT_TIMESTAMP, n INTEGER DEFAULT 4, twice AS (id * 2))''')
                """,
            [store]
        )
        let printed = try runImporter("model", "print", store)
        #expect(printed.ending == .exit(0), "\(printed.errorText)")
        #expect(printed.errorText.contains("my notes.made: left out"))
        #expect(printed.errorText.contains("my notes.twice: left out"))
        let model = try directory.write(printed.output, to: "model.json")
        #expect(try runImporter("model", "check", model).ending == .exit(0))
        let source = try directory.write("{\"id\":1,\"body\":\"b\",\"at\":\"2024-01-01\"}\n", to: "n.ndjson")
        let result = try runImporter(source, "--into", store, "--model", model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let rows = try StoreContent.query(store, "SELECT id, body, at, n, twice FROM \"my notes\"")
        #expect(rows == "1|b|2024-01-01|4|2")
        // Beside entities that were imported they are left out unless they are named.
        let other = try directory.write("{\"a\":1}\n", to: "p.ndjson")
        let second = directory.path("second.sqlite")
        #expect(try runImporter(other, "--into", second).ending == .exit(0))
        try StoreContent.execute(second, "CREATE TABLE own (x TEXT)")
        let both = try runImporter("model", "print", second)
        #expect(!both.outputText.contains("own") && both.errorText.contains("own"), "\(both.errorText)")
        #expect(try runImporter("model", "print", second, "own").outputText.contains("\"x\""))
        #expect(try runImporter("model", "print", second, "owm").ending == .exit(66))
    }
}
