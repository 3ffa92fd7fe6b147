import Testing

@testable import ImportModel

/// The indexes that entities of a model ask for.
struct IndexedModelTests {
    private static func model(_ indexes: String, beside: String = "") -> String {
        """
        {"entities": {
          "a": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "name": {"type": "string", "column": "n"}},
            "indexes": \(indexes),
            "relationships": {"b": {"entity": "b", "inverse": "as"}, "cs": {"entity": "c", "toMany": true}\(beside)}},
          "sub": {"parent": "a", "attributes": {"more": {"type": "date"}}, "indexes": [["more", "name"]]},
          "b": {"identifier": ["x", "y"], "attributes": {"x": {"type": "string"}, "y": {"type": "string"}},
            "relationships": {"as": {"entity": "a", "toMany": true, "inverse": "b"}}},
          "c": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}}}}
        """
    }

    private func mistakes(_ indexes: String) -> [String] {
        do throws(ModelError) {
            _ = try ModelDescription(parsing: Array(Self.model(indexes).utf8))
            return []
        } catch {
            return error.mistakes.map(\.path)
        }
    }

    @Test func areOfColumnsInTheTableOfTheRows() throws {
        let model = try ModelDescription(parsing: Array(Self.model(#"[["name"], ["b", "name"]]"#).utf8))
        #expect(try ModelDescription(parsing: Array(model.encoded().utf8)) == model)
        let wanted = try ModelLayout(model).wantedIndexes
        #expect(wanted.map(\.table) == ["a", "a", "a"])
        #expect(wanted.map(\.columns) == [["n"], ["b_x", "b_y", "n"], ["more", "n"]])
    }

    @Test(arguments: [
        (#"[["name"], ["nam"]]"#, ["$.entities.a.indexes[1]"]), (#"[["cs"]]"#, ["$.entities.a.indexes[0]"]),
        (#"[["more"]]"#, ["$.entities.a.indexes[0]"]), (#"[[]]"#, ["$.entities.a.indexes[0]"]),
        (#"[["name", "name"]]"#, ["$.entities.a.indexes[0][1]"]),
        (#"[["name"], ["name"]]"#, ["$.entities.a.indexes[1]"]),
        (#"["name"]"#, ["$.entities.a.indexes[0]"]), (#"[[1]]"#, ["$.entities.a.indexes[0][0]"]),
        (#"{}"#, ["$.entities.a.indexes"]), (#"[]"#, []),
    ])
    func areRefusedWhereTheyAreOfNothing(indexes: String, places: [String]) {
        #expect(mistakes(indexes) == places)
    }

    /// A row of a shared table cannot be an integer and a text in one column.
    @Test func columnsOfSubentitiesHaveOneType() throws {
        func mistakes(_ column: String) -> [String] {
            let text = """
                {"entities": {"a": {"attributes": {"id": {"type": "string"}}},
                  "b": {"parent": "a", "attributes": {"v": {"type": "string"}}},
                  "c": {"parent": "a", "attributes": {"v": {"type": "integer16"\(column)}}},
                  "d": {"relationships": {"a": {"entity": "a"}}}}}
                """
            do throws(ModelError) {
                _ = try ModelDescription(parsing: Array(text.utf8))
                return []
            } catch {
                return error.mistakes.map(\.path)
            }
        }
        #expect(mistakes("") == ["$.entities.c.attributes.v"])
        #expect(mistakes(#", "column": "v_c""#) == [])
    }
}
