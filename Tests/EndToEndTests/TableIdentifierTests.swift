import Foundation
import TestSupport
import Testing

/// A table has one identifier, and no index of an import that accepted nothing.
struct TableIdentifierTests {
    private let directory: TemporaryDirectory
    private let store: String
    private let source: String
    private static let indexes = "SELECT group_concat(name) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'p'"

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("p.sqlite")
        source = try directory.write("{\"id\":1,\"k\":\"a\"}\n{\"id\":2,\"k\":\"b\"}\n", to: "p.ndjson")
    }

    private func model(identifier: String) throws -> String {
        try directory.write(
            """
            {"entities":{"p":{"records":"$","identifier":[\(identifier)],"attributes":{
              "id":{"type":"integer64"}, "k":{"type":"string"}}}}}
            """,
            to: "model.json"
        )
    }

    @Test(arguments: ["id", "k"], [true, false])
    func refusesAnotherOneBeforeAnythingIsWritten(identifier: String, isGiven: Bool) throws {
        #expect(try runImporter(source, "--into", store, "--identifier", identifier).ending == .exit(0))
        let before = try StoreContent.text(store)
        for other in ["id", "k", "id,k"] {
            let quoted = other.split(separator: ",").map { "\"\($0)\"" }.joined(separator: ",")
            let options = isGiven ? ["--model", try model(identifier: quoted)] : ["--identifier", other]
            let result = try run([Project.importer, source, "--into", store, "--again"] + options)
            #expect(result.ending == .exit(other == identifier ? 0 : 64), "\(other): \(result.errorText)")
            let names = other.replacing(",", with: ", ")
            let message = "the identifier of p is \(identifier), and this import names \(names)\n"
            #expect(other == identifier || result.errorText.contains(message), "\(result.errorText)")
            #expect(try StoreContent.text(store) == before)
        }
        // None is the table's.
        #expect(try runImporter(source, "--into", store, "--again").ending == .exit(0))
        #expect(try StoreContent.text(store) == before)
    }

    @Test func givesOneToATableThatHasNone() throws {
        #expect(try runImporter(source, "--into", store).ending == .exit(0))
        let result = try runImporter(source, "--into", store, "--again", "--identifier", "k")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM p") == "2")
        #expect(try StoreContent.query(store, Self.indexes) == "p_identifier")
    }

    /// Neither into a table that is new nor into one with rows.
    @Test(arguments: [true, false], ["all are rejected", "fails at once"])
    func leavesNoIndexBehindWhereNothingIsTaken(isNew: Bool, way: String) throws {
        if !isNew { #expect(try runImporter(source, "--into", store).ending == .exit(0)) }
        let text = way == "fails at once" ? "{\"id\":7,\"k\":" : "{\"id\":\"x\",\"k\":\"c\"}\n"
        let bad = try directory.write(text, to: "bad.ndjson")
        let before = isNew ? "" : try StoreContent.text(store)
        let model = try model(identifier: "\"k\"")
        let failed = try run([Project.importer, bad, "--into", store, "--model", model])
        #expect([.exit(65), .exit(0)].contains(failed.ending), "\(failed.errorText)")
        // A job that read no record leaves nothing.
        let isGone = isNew && way == "fails at once"
        #expect(FileManager.default.fileExists(atPath: store) != isGone)
        if !isGone { #expect(try StoreContent.query(store, Self.indexes) == "") }
        if !isNew { #expect(try StoreContent.text(store) == before) }
        // So another identifier is not in its way.
        #expect(try runImporter(source, "--into", store, "--identifier", "id", "--again").ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM p") == "2")
        // Completed, the job that failed has it again.
        guard way == "fails at once", !isNew else { return }
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func hasItsIndexAgainWhenItGoesOn() throws {
        #expect(try runImporter(source, "--into", store).ending == .exit(0))
        let bad = try directory.write("{\"id\":7,\"k\":", to: "bad.ndjson")
        let model = try model(identifier: "\"k\"")
        #expect(try run([Project.importer, bad, "--into", store, "--model", model]).ending == .exit(65))
        try directory.write("{\"id\":7,\"k\":\"a\"}\n{\"id\":8,\"k\":\"a\"}\n", to: "bad.ndjson")
        #expect(try run([Project.importer, bad, "--into", store, "--model", model]).ending == .exit(0))
        #expect(try StoreContent.query(store, Self.indexes) == "p_identifier")
        #expect(try StoreContent.query(store, "SELECT * FROM p ORDER BY 1") == "2|b\n8|a")
    }
}
