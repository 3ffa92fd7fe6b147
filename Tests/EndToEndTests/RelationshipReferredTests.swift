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

    private static let links =
        "SELECT group_concat(id || ':' || ifnull(home_row_id, '-')) FROM (SELECT * FROM person ORDER BY id)"

    @Test(arguments: [
        ([#"{"id": 1, "home": {"city": "a"}}"#, #"{"id": 1, "home": {"city": "b"}}"#], "1:1", "1:b"),
        // Others whose home it is stay there.
        (
            [#"{"id": 1, "home": {"city": "a", "people": [{"id": 2}]}}"#, #"{"id": 1, "home": {"city": "b"}}"#],
            "1:1,2:1", "1:b"
        ),
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
        #expect(try related.query(Self.links) == people)
        #expect(try related.query("SELECT group_concat(row_id || ':' || ifnull(city, '-')) FROM home") == homes)
        #expect(try runImporter("verify", related.store).ending == .exit(0))
    }

    /// A list that came before waits for an object: what that says then overwrites the one whose list it is, as if it had been there.
    @Test func areOverwrittenWhereTheirListsHaveComeFirst() throws {
        let related = try RelatedImport()
        let homes = #"{"city": "a", "people": [1, 2]}"# + "\n"
        #expect(try related.importing(homes, "home", Self.model).ending == .exit(0))
        let people = #"{"id": 1, "home": {"city": "b"}}"# + "\n" + #"{"id": 2, "home": null}"# + "\n"
        #expect(try related.importing(people, "person", Self.model).ending == .exit(0))
        #expect(try related.query(Self.links) == "1:1,2:-")
        #expect(try related.query("SELECT group_concat(row_id || ':' || city) FROM home") == "1:b")
        #expect(try runImporter("verify", related.store).ending == .exit(0))
    }

    /// Objects without identifier that belong to one object and refer to another.
    private static let seats = """
        {"entities": {
          "car": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"seats": {"entity": "seat", "toMany": true}}},
          "seat": {"attributes": {"kind": {"type": "string", "optional": true}},
            "relationships": {"person": {"entity": "person", "inverse": "seat"}, "belt": {"entity": "belt", "inverse": "seats"}}},
          "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"seat": {"entity": "seat", "inverse": "person"}}},
          "belt": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"seats": {"entity": "seat", "toMany": true, "inverse": "belt"}}}}}
        """

    /// An element that is overwritten takes the partner of another, as a new one does.
    @Test func elementThatIsOverwrittenTakesThePartnerOfAnother() throws {
        let related = try RelatedImport()
        let first = #"{"id": 1, "seats": [{"kind": "a"}, {"kind": "b", "person": 7}]}"# + "\n" + #"{"id": 2}"# + "\n"
        #expect(try related.importing(first, "car", Self.seats).ending == .exit(0))
        let second = #"{"id": 1, "seats": [{"kind": "a", "person": 7}, {"kind": "b"}]}"# + "\n"
        #expect(try related.importing(second, "car", Self.seats).ending == .exit(0))
        let seats =
            "SELECT group_concat(kind || ':' || ifnull(person_id, '-')) FROM (SELECT * FROM seat ORDER BY rowid)"
        #expect(try related.query(seats) == "a:7,b:-")
        let third = #"{"id": 2, "seats": [{"kind": "c", "person": 7}]}"# + "\n"
        #expect(try related.importing(third, "car", Self.seats).ending == .exit(0))
        #expect(try related.query(seats) == "a:-,b:-,c:7")
    }

    /// What has no index in a list comes last, and is what is too many first.
    @Test func elementsWithoutIndexComeLast() throws {
        let related = try RelatedImport()
        let belts = #"{"id": 3, "seats": [{"kind": "a"}]}"# + "\n"
        #expect(try related.importing(belts, "belt", Self.seats).ending == .exit(0))
        let cars = #"{"id": 6, "seats": [{"kind": "b", "belt": 3}]}"# + "\n"
        #expect(try related.importing(cars, "car", Self.seats).ending == .exit(0))
        let again = #"{"id": 3, "seats": [{"kind": "c"}]}"# + "\n"
        #expect(try related.importing(again, "belt", Self.seats).ending == .exit(0))
        #expect(try related.query("SELECT group_concat(rowid || ':' || kind || ':' || belt_id) FROM seat") == "1:c:3")
    }
}
