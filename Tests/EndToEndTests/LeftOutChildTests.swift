import Foundation
import TestSupport
import Testing

/// Children that are identified within their parents, and lists that leave them out for a while or for good.
struct LeftOutChildTests {
    private let files: RelatedImport

    init() throws { files = try RelatedImport() }

    private static func model(_ keys: String = "") -> String {
        """
        {"entities": {
          "box": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"parts": {"entity": "part", "toMany": true\(keys)}}},
          "part": {"identifier": ["@parent", "no"], "attributes": {"no": {"type": "integer16"}, "x": {"type": "string", "optional": true}},
            "relationships": {"tags": {"entity": "tag", "toMany": true}}},
          "tag": {"identifier": ["id"], "attributes": {"id": {"type": "string"}}}}}
        """
    }

    private static let parts =
        "SELECT group_concat(rowid || ':' || ifnull(box_id, '-') || ':' || ifnull(no, '-') || ':' || ifnull(x, '-') || ':' || ifnull(box_position, '-')) FROM part"

    @Test func isTheSameObjectWhereALaterListHasItAgain() throws {
        let records = [
            #"{"id": 1, "parts": [{"no": 1, "x": "a", "tags": [{"id": "t"}]}, {"no": 2}]}"#,
            #"{"id": 1, "parts": [{"no": 3}]}"#,
            #"{"id": 1, "parts": [{"no": 2}, {"no": 1}]}"#,
        ]
        #expect(try files.importing(records.joined(separator: "\n") + "\n", "box", Self.model()).ending == .exit(0))
        #expect(try files.query(Self.parts) == "1:1:1:a:1,2:1:2:-:0")
        #expect(try files.query("SELECT group_concat(part_no || tags_id) FROM part_tags") == "1t")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    @Test func whatStaysOutGoesWithItsLinks() throws {
        let records = [
            #"{"id": 1, "parts": [{"no": 1, "tags": [{"id": "t"}]}, {"no": 2}]}"#, #"{"id": 1, "parts": [{"no": 2}]}"#,
        ]
        #expect(try files.importing(records.joined(separator: "\n") + "\n", "box", Self.model()).ending == .exit(0))
        #expect(try files.query(Self.parts) == "2:1:2:-:0")
        #expect(try files.query("SELECT count(*) FROM part_tags") == "0")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    @Test func whatStaysOutAndIsKeptBelongsToNothing() throws {
        let records = [
            #"{"id": 1, "parts": [{"no": 1, "tags": [{"id": "t"}]}, {"no": 2}]}"#, #"{"id": 1, "parts": [{"no": 2}]}"#,
        ]
        let model = Self.model(#", "orphans": "keep""#)
        #expect(try files.importing(records.joined(separator: "\n") + "\n", "box", model).ending == .exit(0))
        #expect(try files.query(Self.parts) == "1:-:1:-:-,2:1:2:-:0")
        #expect(try files.query("SELECT count(*) FROM part_tags") == "0")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    @Test func withoutItsIdentifierItsPlaceTellsIt() throws {
        let records = [
            #"{"id": 1, "parts": [{"x": "a"}, {"no": 2}, {"no": null}]}"#,
            #"{"id": 1, "parts": [{"x": "b"}, {"x": "c"}]}"#,
        ]
        let result = try files.importing(records.joined(separator: "\n") + "\n", "box", Self.model())
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try files.query(Self.parts) == "1:1:-:b:0,3:1:-:c:1")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }
}
