import TestSupport
import Testing

/// To-ones that lead to objects without identifier, where these list what refers to them: what a record says of such an object
/// overwrites the one that is there.
struct RelationshipReferredTests {
    private static let model = """
        {"entities": {
          "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"home": {"entity": "home", "inverse": "people"}, "friends": {"entity": "person", "toMany": true}}},
          "home": {"attributes": {"city": {"type": "string", "optional": true}},
            "relationships": {"people": {"entity": "person", "toMany": true, "inverse": "home"}}}}}
        """

    @Test(arguments: [
        ([#"{"id": 1, "home": {"city": "a"}}"#, #"{"id": 1, "home": {"city": "b"}}"#], "1:1", "1:b"),
        ([#"{"id": 1, "home": {"city": "a"}}"#, #"{"id": 1, "home": {}}"#], "1:1", "1:-"),
        ([#"{"id": 1, "home": {"city": "a"}}"#, #"{"id": 1}"#], "1:1", "1:a"),
        (
            [#"{"id": 1, "home": {"city": "a"}}"#, #"{"id": 2, "friends": [{"id": 1, "home": {"city": "b"}}]}"#],
            "1:1,2:-", "1:b"
        ),
        // What nothing refers to any more goes; what another refers to stays.
        ([#"{"id": 1, "home": {"city": "a"}}"#, #"{"id": 1, "home": null}"#], "1:-", ""),
        ([#"{"id": 1, "home": {"city": "a", "people": [{"id": 2}]}}"#, #"{"id": 1, "home": null}"#], "1:-,2:1", "1:a"),
    ])
    func areOverwritten(records: [String], people: String, homes: String) throws {
        let related = try RelatedImport()
        for record in records {
            #expect(try related.importing(record + "\n", "person", Self.model).ending == .exit(0))
        }
        let links = "SELECT group_concat(id || ':' || ifnull(home_row_id, '-')) FROM (SELECT * FROM person ORDER BY id)"
        #expect(try related.query(links) == people)
        #expect(try related.query("SELECT group_concat(row_id || ':' || ifnull(city, '-')) FROM home") == homes)
        #expect(try runImporter("verify", related.store).ending == .exit(0))
    }
}
