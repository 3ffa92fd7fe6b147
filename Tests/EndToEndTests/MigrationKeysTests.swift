import Foundation
import TestSupport
import Testing

/// References that lead to no row, and values that others have written, are refused where they would become something else.
struct MigrationKeysTests {
    /// Orders that refer to a place with a row, and to some without.
    private func places(_ key: String, _ references: [String], isToMany: Bool = false) throws -> MigratedReferences {
        try MigratedReferences(key, references, isToMany: isToMany)
    }

    struct MigratedReferences {
        let related: RelatedImport
        let isToMany: Bool

        init(_ key: String, _ references: [String], isToMany: Bool) throws {
            related = try RelatedImport()
            self.isToMany = isToMany
            var records = ""
            for (index, reference) in references.enumerated() {
                records += "{\"id\": \(index), \"c\": \(isToMany ? "[\(reference)]" : reference)}\n"
            }
            _ = try related.importing(records, "o", model(key))
        }

        func model(_ key: String, identifier: String = #""identifier": ["k"], "#, more: String = "") -> String {
            """
            {"entities": {
              "o": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"c": {"entity": "p", "toMany": \(isToMany)}}},
              "p": {\(identifier)"attributes": {"k": {"type": "\(key)"}, "z": {"type": "string"}\(more)}}}}
            """
        }

        /// The endings of a trial and of the migration itself, and what they said.
        func migrate(_ model: String) throws -> [ChildProcess.Result] {
            let file = try related.directory.write(model, to: "new.json")
            return try [["--dry-run"], []].map {
                try run([Project.importer, "migrate", related.store, "--model", file] + $0)
            }
        }
    }

    private static let row = #"{"k": "7", "z": "Z"}"#
    private static let lost = "these lead to missing rows, and would be lost"

    @Test(arguments: [false, true]) func keepsReferencesWithoutARow(isToMany: Bool) throws {
        let store = try places("string", [Self.row, #""missing""#, #""07""#, #""8""#], isToMany: isToMany)
        let before = try StoreContent.text(store.related.store)
        let generated = #", "code": {"type": "uuid", "generated": true}"#
        for (model, count) in [
            (store.model("integer64"), 2),
            (store.model("string", identifier: ""), 3),
            (store.model("string", identifier: #""identifier": ["code"], "#, more: generated), 3),
        ] {
            for result in try store.migrate(model) {
                #expect(result.ending == .exit(65), "\(result.outputText)\(result.errorText)")
                #expect(result.outputText.contains("\(count): \(Self.lost)"), "\(result.outputText)")
            }
            #expect(try StoreContent.text(store.related.store) == before)
        }
        // What can be the new key as it is stays.
        let table = isToMany ? "o_c" : "o"
        #expect(try store.migrate(store.model("uri")).last?.ending == .exit(0))
        #expect(try store.related.query("SELECT c_k FROM \(table) ORDER BY 1") == "07\n7\n8\nmissing")
    }

    @Test func keepsReferencesThatAreNoExactDoubles() throws {
        let store = try places("integer64", [#"{"k": 7, "z": "Z"}"#, "9007199254740993", "8"])
        for result in try store.migrate(store.model("double")) {
            #expect(result.ending == .exit(65))
            #expect(result.outputText.contains("1: \(Self.lost)"), "\(result.outputText)")
        }
        #expect(try store.related.query("SELECT c_k FROM o ORDER BY id") == "7\n9007199254740993\n8")
        let text = try store.migrate(store.model("string"))
        #expect(text.last?.ending == .exit(0), "\(text.last?.errorText ?? "")")
        #expect(try store.related.query("SELECT quote(c_k) FROM o ORDER BY id") == "'7'\n'9007199254740993'\n'8'")
    }

    @Test(arguments: [
        ("integer64", "-9223372036854775807 - 1", "double"), ("integer64", "9007199254740993", "double"),
        ("integer64", "'abc'", "double"), ("integer16", "'abc'", "double"), ("integer32", "1.5", "string"),
        ("integer32", "'abc'", "string"), ("integer16", "x'00'", "decimal"),
    ]) func refusesValuesThatAreNone(type: String, value: String, new: String) throws {
        func model(_ type: String) -> String {
            let name = #""name": {"type": "\#(type)", "optional": true}"#
            return MigratedStore.model(person: "\"id\": {\"type\": \"integer64\"}, \(name)")
        }
        let migrated = try MigratedStore(
            model(type),
            records: "{\"id\": 7, \"customer\": {\"id\": 1, \"name\": 1}}\n"
        )
        try StoreContent.execute(migrated.store, "UPDATE person SET name = \(value)")
        let before = try migrated.everything()
        let result = try migrated.migrate(to: model(new))
        #expect(result.ending == .exit(65), "\(result.outputText)\(result.errorText)")
        #expect(result.outputText.contains("1: their values cannot be converted"), "\(result.outputText)")
        #expect(try migrated.everything() == before)
    }

    /// A text is measured whole, whatever is in it.
    @Test(arguments: [(1, Int32(0)), (3, 0), (4, 65)]) func measuresTextsWithNUL(least: Int, ending: Int32) throws {
        let migrated = try MigratedStore()
        try StoreContent.execute(migrated.store, "UPDATE person SET name = CAST(x'610062' AS TEXT)")
        let before = try migrated.query("SELECT hex(name) FROM person ORDER BY id")
        let name = #""name": {"type": "string", "optional": true, "minLength": \#(least)}"#
        let result = try migrated.migrate(
            to: MigratedStore.model(person: #""id": {"type": "integer64"}, \#(name)"#)
        )
        #expect(result.ending == .exit(ending), "\(result.outputText)\(result.errorText)")
        #expect(try migrated.query("SELECT hex(name) FROM person ORDER BY id") == before)
    }

    @Test func saysThatNothingIsChangedWhereTheDiskIsFull() throws {
        let people = (0..<20_000).map { "{\"id\": \($0), \"customer\": {\"id\": \($0), \"name\": \"Ada \($0)\"}}\n" }
        let migrated = try MigratedStore(records: people.joined())
        let before = try migrated.everything()
        let file = try migrated.related.directory.write(
            MigratedStore.model(person: #""id": {"type": "string"}, "name": {"type": "string", "optional": true}"#),
            to: "new.json"
        )
        let size = try FileManager.default.attributesOfItem(atPath: migrated.store)[.size] as? Int ?? 0
        // The WAL gets larger than the half of the store.
        let command = "ulimit -f \(size / 2048); exec \"$0\" migrate \"$1\" --model \"$2\""
        let result = try run(["/usr/bin/env", "bash", "-c", command, Project.importer, migrated.store, file])
        #expect(result.ending == .exit(74))
        #expect(result.errorText.contains("Nothing was changed."), "\(result.errorText)")
        #expect(!result.errorText.contains("resume"), "\(result.errorText)")
        #expect(try migrated.everything() == before)
    }
}
