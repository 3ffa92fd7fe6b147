import TestSupport
import Testing

/// What several statements about the same links come to.
struct StatedLinksTests {
    private let files: RelatedImport

    init() throws { files = try RelatedImport() }

    private func importing(_ records: [String], _ entity: String, _ model: String) throws {
        let result = try files.importing(records.map { $0 + "\n" }.joined(), entity, model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let verify = try runImporter("verify", files.store)
        #expect(verify.ending == .exit(0), "\(verify.outputText)")
    }

    @Test func elementsWithoutIdentifierOfAStoredObjectStayWhereItsLinksAreItsOwn() throws {
        let model = """
            {"entities": {
              "box": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                "parts": {"entity": "part", "toMany": true, "owner": "local"}}},
              "part": {"attributes": {"x": {"type": "string", "optional": true}}}}}
            """
        let records = [
            #"{"id": 1, "parts": [{"x": "a"}]}"#, #"{"id": 1, "parts": [{"x": "b"}, {"x": "c"}]}"#, #"{"id": 2}"#,
        ]
        try importing(records + [#"{"id": 2, "parts": [{"x": "d"}]}"#], "box", model)
        #expect(try files.query("SELECT group_concat(x || box_id || box_position) FROM part") == "a10")
    }

    private static let teams = """
        {"entities": {
          "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "team": {"entity": "team", "inverse": "people"}}},
          "team": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "people": {"entity": "person", "toMany": true, "inverse": "team"}}}}}
        """

    @Test func whoeverSaysWhatAListHasSaidKeepsItsPlace() throws {
        try importing([#"{"id": 6, "people": [4, 5]}"#], "team", Self.teams)
        try importing([#"{"id": 5, "team": 6}"#, #"{"id": 4, "team": 7}"#], "person", Self.teams)
        #expect(
            try files.query(
                "SELECT group_concat(id || ':' || team_id || ':' || ifnull(team_position, '-')) FROM person"
            )
                == "4:7:-,5:6:1"
        )
    }

    @Test func nullEmptiesAListThatOnlyAdds() throws {
        let model = """
            {"entities": {
              "box": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                "tags": {"entity": "tag", "toMany": true, "list": "union"}, "parts": {"entity": "part", "toMany": true}}},
              "part": {"attributes": {"x": {"type": "string", "optional": true}}, "relationships": {
                "marks": {"entity": "mark", "toMany": true, "list": "union"}}},
              "mark": {"attributes": {"y": {"type": "string"}}},
              "tag": {"identifier": ["id"], "attributes": {"id": {"type": "string"}}}}}
            """
        let records = [
            #"{"id": 1, "tags": ["a", "b"], "parts": [{"marks": [{"y": "m"}]}]}"#, #"{"id": 1, "tags": []}"#,
            #"{"id": 2, "tags": ["a"]}"#, #"{"id": 2, "tags": null}"#,
            // An element is overwritten in full.
            #"{"id": 1, "parts": [{"x": "new"}]}"#,
        ]
        try importing(records, "box", model)
        #expect(try files.query("SELECT group_concat(box_id || tags_id) FROM box_tags") == "1a,1b")
        #expect(try files.query("SELECT count(*) FROM mark") == "0")
        #expect(try files.query("SELECT group_concat(x) FROM part") == "new")
    }

    @Test func anObjectWithinItselfIsStoredAlready() throws {
        let model = """
            {"entities": {"person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
              "boss": {"entity": "person", "inverse": "aide", "owner": "local"}, "aide": {"entity": "person", "inverse": "boss"}}}}}
            """
        try importing([#"{"id": 6, "boss": {"id": 6, "boss": 5}}"#], "person", model)
        #expect(try files.query("SELECT group_concat(id || ':' || boss_id) FROM person") == "6:6")
    }
}
