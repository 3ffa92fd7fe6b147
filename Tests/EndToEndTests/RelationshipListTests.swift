import TestSupport
import Testing

/// What lists say of objects that are linked already, or that say themselves whose they are.
struct RelationshipListTests {
    private let related: RelatedImport

    init() throws {
        related = try RelatedImport()
    }

    private func take(_ records: String, _ entity: String, _ model: String, onConflict: String = "merge") throws {
        let result = try related.importing(records, entity, model, "--on-conflict", onConflict)
        #expect(result.ending == .exit(0), "\(result.errorText)")
    }

    private static func parts(_ list: String) -> String {
        """
        {"entities": {
          "box": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"parts": {"entity": "part", "toMany": true, \(list) "inverse": "box"}}},
          "part": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"box": {"entity": "box", "inverse": "parts"}}}}}
        """
    }

    /// What is there stays where it is, and what is added follows it.
    @Test func unionKeepsThePositionsThatAreThere() throws {
        let model = Self.parts(#""list": "union","#)
        try take(#"{"id": 1, "parts": [{"id": 7}, {"id": 8}]}"# + "\n", "box", model)
        try take(#"{"id": 1, "parts": [{"id": 9}, {"id": 8}, 7, {"id": 6}]}"# + "\n", "box", model)
        let positions = "SELECT group_concat(id || ':' || box_position) FROM (SELECT * FROM part ORDER BY box_position)"
        #expect(try related.query(positions) == "7:0,8:1,9:2,6:3")
        // Linked without a position, it gets one.
        try take(#"{"id": 5, "box": 1}"# + "\n", "part", model)
        try take(#"{"id": 1, "parts": [8, 5]}"# + "\n", "box", model)
        #expect(try related.query(positions) == "7:0,8:1,9:2,6:3,5:4")
    }

    /// The same in a join table, where a link without a position takes none from others.
    @Test func unionOfLinksFollowsThePositionsThatAreThere() throws {
        let model = """
            {"entities": {
              "box": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"tags": {"entity": "tag", "toMany": true, "list": "union", "inverse": "boxes"}}},
              "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string"}},
                "relationships": {"boxes": {"entity": "box", "toMany": true, "inverse": "tags"}}}}}
            """
        try take(#"{"name": "a", "boxes": [{"id": 1}]}"# + "\n", "tag", model)
        try take(#"{"id": 1, "tags": [{"name": "b"}, {"name": "c"}]}"# + "\n", "box", model)
        let links =
            "SELECT group_concat(tags_name || ':' || ifnull(position, '-')) FROM (SELECT * FROM box_tags ORDER BY tags_name)"
        #expect(try related.query(links) == "a:-,b:0,c:1")
        try take(#"{"id": 1, "tags": [{"name": "a"}, {"name": "b"}]}"# + "\n", "box", model)
        #expect(try related.query(links) == "a:2,b:0,c:1")
    }

    /// An import leaves what a stored object refers to, and sets it for a new one; the list of the other side counts nevertheless.
    @Test func localToOneIsLeft() throws {
        let model = Self.parts("").replacing(#""entity": "box", "#, with: #""entity": "box", "owner": "local", "#)
        try take(#"{"id": 1}"# + "\n" + #"{"id": 2, "parts": [3]}"# + "\n", "box", model)
        try take(#"{"id": 4}"# + "\n" + #"{"id": 4, "box": 1}"# + "\n" + #"{"id": 5, "box": 1}"# + "\n", "part", model)
        let owners = "SELECT group_concat(id || ':' || ifnull(box_id, '-')) FROM (SELECT * FROM part ORDER BY id)"
        #expect(try related.query(owners) == "4:-,5:1")
        try take(#"{"id": 5, "box": 2}"# + "\n" + #"{"id": 4, "box": null}"# + "\n", "part", model)
        #expect(try related.query(owners) == "4:-,5:1")
        try take(#"{"id": 2, "parts": [4]}"# + "\n", "box", model)
        #expect(try related.query(owners) == "4:2,5:1")
    }

    /// A null identifier is as good as none.
    @Test func elementsThatLackTheirIdentifierAreToldByTheirIndex() throws {
        let model = """
            {"entities": {
              "box": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"parts": {"entity": "part", "toMany": true, "identity": "position", "inverse": "box"}}},
              "part": {"identifier": ["code"], "attributes": {"code": {"type": "string"}},
                "relationships": {"box": {"entity": "box", "inverse": "parts"}}}}}
            """
        try take(#"{"id": 1, "parts": [{"code": "a"}, {"code": null}, {}]}"# + "\n", "box", model)
        let parts =
            "SELECT group_concat(ifnull(code, '-') || box_position) FROM (SELECT * FROM part ORDER BY box_position)"
        #expect(try related.query(parts) == "a0,-1,-2")
    }

    /// An element without identifier that said whose it is, before that object came, is the first of the list.
    @Test func listOverwritesElementsThatCameBefore() throws {
        let model = """
            {"entities": {
              "box": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"notes": {"entity": "note", "toMany": true, "inverse": "box"}}},
              "note": {"attributes": {"text": {"type": "string"}},
                "relationships": {"box": {"entity": "box", "inverse": "notes"}}}}}
            """
        try take(#"{"text": "before", "box": 1}"# + "\n", "note", model)
        try take(#"{"id": 1, "notes": [{"text": "a"}, {"text": "b"}]}"# + "\n", "box", model)
        #expect(
            try related.query(
                "SELECT group_concat(rowid || text || ifnull(box_position, '-')) FROM note WHERE box_id = 1"
            )
            .contains("a0")
        )
        #expect(try related.query("SELECT count(*) FROM note WHERE text = 'before'") == "0")
    }

    /// What a nested object says itself is newer than the list around it, though an element of the list follows.
    @Test func elementKeepsWhatItHasSaidSinceTheList() throws {
        let model = """
            {"entities": {"part": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
              "like": {"entity": "part"},
              "parts": {"entity": "part", "toMany": true, "inverse": "whole"},
              "whole": {"entity": "part", "inverse": "parts"}}}}}
            """
        try take(#"{"id": 1, "parts": [{"id": 2, "like": {"id": 3, "whole": 4}}, {"id": 3}]}"# + "\n", "part", model)
        let wholes =
            "SELECT group_concat(id || ':' || ifnull(whole_id, '-') || ifnull(whole_position, '-')) "
            + "FROM (SELECT * FROM part ORDER BY id)"
        #expect(try related.query(wholes) == "1:--,2:10,3:4-")
        // A later list counts again.
        try take(#"{"id": 1, "parts": [{"id": 3, "whole": 4}, {"id": 2, "parts": [3]}]}"# + "\n", "part", model)
        #expect(try related.query("SELECT whole_id FROM part WHERE id = 3") == "2")
    }

    /// Only a list that is given is counted: no key says nothing, also where the object is taken as a whole.
    @Test func listThatIsNotGivenIsNotTooShort() throws {
        let model = """
            {"entities": {
              "box": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"trays": {"entity": "tray", "toMany": true}}},
              "tray": {"attributes": {"name": {"type": "string"}},
                "relationships": {"pens": {"entity": "pen", "toMany": true, "minCount": 1}}},
              "pen": {"attributes": {"name": {"type": "string"}}}}}
            """
        try take(#"{"id": 1, "trays": [{"name": "a"}, {"name": "b", "pens": null}]}"# + "\n", "box", model)
        #expect(try related.query("SELECT group_concat(name) FROM tray") == "a,b")
        let result = try related.importing(#"{"id": 2, "trays": [{"name": "c", "pens": []}]}"# + "\n", "box", model)
        #expect(result.ending != .exit(0))
        #expect(try related.query("SELECT count(*) FROM tray") == "2")
    }

    /// A nested object that replaces has nothing but what it says.
    @Test func nestedObjectThatReplacesClearsWhatItLeavesOut() throws {
        let model = """
            {"entities": {"part": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
              "like": {"entity": "part", "onConflict": "replace"},
              "tags": {"entity": "tag", "toMany": true}}},
              "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string"}}}}}
            """
        try take(#"{"id": 1, "like": 3, "tags": ["red"]}"# + "\n", "part", model)
        try take(#"{"id": 5, "like": {"id": 1}}"# + "\n", "part", model)
        #expect(try related.query("SELECT group_concat(id || ':' || ifnull(like_id, '-')) FROM part") == "1:-,5:1")
        #expect(try related.query("SELECT count(*) FROM part_tags") == "0")
    }

    private static let family = """
        {"entities": {
          "parent": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"children": {"entity": "child", "toMany": true, "inverse": "parent", "unresolved": "%"}}},
          "child": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"parent": {"entity": "parent", "inverse": "children"}}}}}
        """

    /// A list may come before the objects in it: what these say of their parent is newer, and a new one replaces nothing.
    @Test(arguments: ["keep", "stub"])
    func whatAnObjectSaysIsNewerThanAListThatCameBefore(unresolved: String) throws {
        let model = Self.family.replacing("%", with: unresolved)
        try take(#"{"id": 1, "children": [5, 6, 7]}"# + "\n", "parent", model)
        let children = [#"{"id": 5, "parent": null}"#, #"{"id": 6}"#, #"{"id": 7, "parent": 2}"#].joined(
            separator: "\n"
        )
        try take(children + "\n", "child", model, onConflict: "replace")
        let links =
            "SELECT group_concat(id || ':' || ifnull(parent_id, '-') || ifnull(parent_position, '-')) "
            + "FROM (SELECT * FROM child ORDER BY id)"
        #expect(try related.query(links) == "5:--,6:11,7:2-")
        try take(#"{"id": 6}"# + "\n", "child", model, onConflict: "replace")
        #expect(try related.query(links) == "5:--,6:--,7:2-")
    }

    /// An object may be nested in itself: of a list whose elements have no identifier, the one that is stated last counts.
    @Test(arguments: ["", #""inverse": "boxes","#])
    func listThatIsStatedAgainFurtherInCountsAlone(inverse: String) throws {
        let back = inverse.isEmpty ? "" : #""boxes": {"entity": "box", "toMany": true, "inverse": "notes"},"#
        let model = """
            {"entities": {
              "box": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"notes": {"entity": "note", "toMany": true, \(inverse) "deleteRule": "nullify"}}},
              "note": {"attributes": {"text": {"type": "string", "optional": true}},
                "relationships": {\(back) "about": {"entity": "box", "onConflict": "replace"}}}}}
            """
        try take(#"{"id": 1, "notes": [{"text": "a", "about": {"id": 1}}, {"text": "b"}]}"# + "\n", "box", model)
        #expect(try related.query("SELECT count(*) FROM note") == "0")
        try take(
            #"{"id": 1, "notes": [{"text": "a", "about": {"id": 1, "notes": [{"text": "c"}]}}, {"text": "b"}]}"# + "\n",
            "box",
            model
        )
        #expect(try related.query("SELECT group_concat(text) FROM note") == "c")
    }

    /// What is nested in a record may move the record's own object.
    @Test func recordThatIsMovedByWhatIsNestedInItIsUpdated() throws {
        let model = """
            {"entities": {"part": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
              "like": {"entity": "part"},
              "parts": {"entity": "part", "toMany": true, "inverse": "whole"},
              "whole": {"entity": "part", "inverse": "parts"}}}}}
            """
        try take(#"{"id": 1, "parts": [{"id": 3}]}"# + "\n" + #"{"id": 2}"# + "\n", "part", model)
        let record = #"{"id": 3, "whole": {"id": 1, "like": {"id": 2, "parts": [3]}}}"# + "\n"
        let result = try related.importing(record, "part", model)
        #expect(try related.query("SELECT whole_id FROM part WHERE id = 3") == "2")
        #expect(result.outputText.contains("updated"), "\(result.outputText)")
        #expect(try runImporter("verify", related.store).ending == .exit(0))
    }
}
