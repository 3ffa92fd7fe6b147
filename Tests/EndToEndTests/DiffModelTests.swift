import Foundation
import TestSupport
import Testing

/// `importer diff` of stores that imports with a model have made.
struct DiffModelTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let model = """
        {"entities": {
          "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "paid": {"type": "boolean", "optional": true},
              "total": {"type": "decimal", "optional": true}, "at": {"type": "date", "optional": true, "storage": "unix"}},
            "relationships": {
              "customer": {"entity": "person", "inverse": "orders"},
              "lines": {"entity": "line", "toMany": true, "from": "lines", "deleteRule": "cascade"},
              "tags": {"entity": "tag", "toMany": true}}},
          "person": {"identifier": ["name"], "attributes": {"name": {"type": "string"}, "age": {"type": "integer32", "optional": true}},
            "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "customer", "from": []}}},
          "line": {"attributes": {"sku": {"type": "string"}, "count": {"type": "integer32", "optional": true}}},
          "tag": {"identifier": ["word"], "attributes": {"word": {"type": "string", "from": "@value"}}}}}
        """

    private func importing(
        _ records: String,
        into name: String,
        model: String = Self.model,
        entity: String = "order"
    ) throws {
        let source = try directory.write(records, to: "\(name).ndjson")
        let model = try directory.write(model, to: "model.json")
        let result = try runImporter(
            "import",
            source,
            "--into",
            directory.path(name),
            "--model",
            model,
            "--entity",
            entity,
            "--progress",
            "none"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
    }

    private func changes(_ arguments: String...) throws -> [String] { try changes(arguments: arguments) }

    private func changes(arguments: [String]) throws -> [String] {
        let result = try run(
            [Project.importer, "diff", directory.path("a.sqlite"), directory.path("b.sqlite"), "--format", "ndjson"]
                + arguments
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return result.outputText.split(separator: "\n").dropFirst().dropLast().map(String.init)
    }

    @Test func comparesTheLinksOfWhatHasNoIdentifier() throws {
        let model = """
            {"entities": {
              "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"lines": {"entity": "line", "toMany": true, "from": "lines", "deleteRule": "cascade"}}},
              "line": {"attributes": {"sku": {"type": "string"}}, "relationships": {"tags": {"entity": "tag", "toMany": true}}},
              "tag": {"identifier": ["t"], "attributes": {"t": {"type": "string"}}}}}
            """
        func order(_ id: Int, _ tag: String) -> String {
            #"{"id": \#(id), "lines": [{"sku": "x", "tags": [{"t": "\#(tag)"}]}]}"# + "\n"
        }
        try importing(order(1, "a") + order(2, "b"), into: "a.sqlite", model: model)
        try importing(order(1, "b") + order(2, "a"), into: "b.sqlite", model: model)
        try importing(order(2, "b") + order(1, "a"), into: "c.sqlite", model: model)
        func diff(_ name: String) throws -> ChildProcess.Result {
            try runImporter("diff", directory.path("a.sqlite"), directory.path(name), "--exit-code")
        }
        let result = try diff("b.sqlite")
        #expect(result.ending == .exit(1))
        #expect(result.errorText.contains("line.tags: 2 rows only in the old store, 2 rows only in the new one"))
        #expect(try diff("c.sqlite").ending == .exit(0))
    }

    @Test func nestsListsOrdersAndReferences() throws {
        try importing(
            """
            {"id": 1, "paid": true, "total": 1.5, "at": "2020-01-01", "customer": {"name": "Ada"}, "lines": [{"sku": "a"}, {"sku": "b"}], "tags": ["x", "y"]}
            {"id": 2, "lines": [{"sku": "c", "count": 1}], "tags": []}
            {"id": 3, "customer": {"name": "Bo", "age": 1}}
            """,
            into: "a.sqlite"
        )
        try importing(
            """
            {"id": 3, "customer": {"name": "Bo", "age": 2}}
            {"id": 1, "paid": false, "total": 2, "at": "2020-01-02", "customer": {"name": "Cy"}, "lines": [{"sku": "b"}, {"sku": "a"}], "tags": ["y", "x", "z"]}
            {"id": 2, "lines": [{"sku": "c", "count": 1}], "tags": []}
            """,
            into: "b.sqlite"
        )
        #expect(
            try changes() == [
                #"{"change":"updated","entityName":"order","identifier":{"id":1},"attributes":{"old":{"paid":true,"total":1.5,"at":"2020-01-01T00:00:00.000Z"},"new":{"paid":false,"total":2,"at":"2020-01-02T00:00:00.000Z"}},"references":{"customer":{"old":{"name":"Ada"},"new":{"name":"Cy"}},"tags":{"added":[{"word":"z"}]}},"relationships":{"lines":{"old":[{"sku":"a","count":null},{"sku":"b","count":null}],"new":[{"sku":"b","count":null},{"sku":"a","count":null}]}},"order":{"tags":{"old":[{"word":"x"},{"word":"y"}],"new":[{"word":"y"},{"word":"x"},{"word":"z"}]}}}"#,
                #"{"change":"deleted","entityName":"person","identifier":{"name":"Ada"},"attributes":{"old":{"name":"Ada","age":null}}}"#,
                #"{"change":"updated","entityName":"person","identifier":{"name":"Bo"},"attributes":{"old":{"age":1},"new":{"age":2}}}"#,
                #"{"change":"inserted","entityName":"person","identifier":{"name":"Cy"},"attributes":{"new":{"name":"Cy","age":null}}}"#,
                #"{"change":"inserted","entityName":"tag","identifier":{"word":"z"},"attributes":{"new":{"word":"z"}}}"#,
            ]
        )
    }

    @Test func findsNothingInAnotherOrderOfImports() throws {
        try importing("{\"id\": 1, \"lines\": [{\"sku\": \"a\"}]}\n{\"id\": 2, \"tags\": [\"q\"]}\n", into: "a.sqlite")
        try importing("{\"id\": 2, \"tags\": [\"q\"]}\n{\"id\": 1, \"lines\": [{\"sku\": \"a\"}]}\n", into: "b.sqlite")
        #expect(try changes().isEmpty)
    }

    @Test func tellsTypedValuesThatAreStoredOtherwise() throws {
        try importing("{\"id\": 1, \"paid\": true, \"total\": 1.5}\n", into: "a.sqlite")
        try importing("{\"id\": 1, \"paid\": true, \"total\": 1.5}\n", into: "b.sqlite")
        try StoreContent.execute(
            directory.path("b.sqlite"),
            "UPDATE \"order\" SET paid = 7, total = '1.500', at = 'soon'"
        )
        #expect(
            try changes() == [
                #"{"change":"updated","entityName":"order","identifier":{"id":1},"attributes":{"old":{"paid":true,"total":1.5,"at":null},"new":{"paid":{"$integer":"7"},"total":{"$text":"1.500"},"at":{"$text":"soon"}}}}"#
            ]
        )
    }

    /// As the articles' models say what identifies an object.
    @Test func theUserInfoOfAnEntityMayNameItsIdentifier() throws {
        let model = """
            {"entities": {"note": {"userInfo": {"id": "key"}, "attributes": {
                "key": {"type": "string"}, "text": {"type": "string"}}}}}
            """
        try importing(
            #"{"key": "a", "text": "one"} {"key": "b", "text": "two"}"#,
            into: "a.sqlite",
            model: model,
            entity: "note"
        )
        try importing(
            #"{"key": "b", "text": "two"} {"key": "a", "text": "three"}"#,
            into: "b.sqlite",
            model: model,
            entity: "note"
        )
        #expect(
            try changes() == [
                #"{"change":"updated","entityName":"note","identifier":{"key":"a"},"attributes":{"old":{"text":"one"},"new":{"text":"three"}}}"#
            ]
        )
    }

    @Test func theListsOfAParentCountForItsSubentities() throws {
        let model = """
            {"entities": {
              "being": {"identifier": ["id"], "abstract": true, "subentity": {"from": "kind", "values": {"dog": "dog", "cat": "cat"}},
                "attributes": {"id": {"type": "integer64"}, "name": {"type": "string"}, "age": {"type": "integer16"}}},
              "dog": {"parent": "being", "attributes": {"breed": {"type": "string", "optional": true}}},
              "cat": {"parent": "being"}}}
            """
        try importing(
            #"{"id": 1, "kind": "dog", "name": "Rex", "age": 1} {"id": 2, "kind": "cat", "name": "Tom", "age": 1}"#,
            into: "a.sqlite",
            model: model,
            entity: "being"
        )
        try importing(
            #"{"id": 1, "kind": "dog", "name": "Max", "age": 2} {"id": 2, "kind": "cat", "name": "Tom", "age": 2}"#,
            into: "b.sqlite",
            model: model,
            entity: "being"
        )
        func summary(_ arguments: String...) throws -> [Substring] {
            try changes(arguments: arguments).flatMap { $0.matches(of: /"new":\{[^}]*\}/).map(\.output) }
        }
        #expect(try summary() == [#""new":{"name":"Max","age":2}"#, #""new":{"age":2}"#])
        #expect(try summary("--exclude", "being.age") == [#""new":{"name":"Max"}"#])
        #expect(try summary("--only", "being.age") == [#""new":{"age":2}"#, #""new":{"age":2}"#])
    }
}
