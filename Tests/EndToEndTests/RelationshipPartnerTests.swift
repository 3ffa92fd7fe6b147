import TestSupport
import Testing

/// One-to-ones that are their own inverse: each of two partners refers to the other.
struct RelationshipPartnerTests {
    private let related: RelatedImport

    init() throws {
        related = try RelatedImport()
    }

    private static func people(_ options: String = "") -> String {
        """
        {"entities": {"person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
          "relationships": {"spouse": {"entity": "person", \(options) "inverse": "spouse"}}}}}
        """
    }

    private func take(
        _ records: String...,
        model: String = people(),
        onConflict: String = "merge"
    ) throws -> String {
        let records = records.joined(separator: "\n") + "\n"
        let result = try related.importing(records, "person", model, "--on-conflict", onConflict)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try runImporter("verify", related.store).ending == .exit(0))
        return try related.query(
            "SELECT group_concat(id || ':' || ifnull(spouse_id, '-')) FROM (SELECT * FROM person ORDER BY id)"
        )
    }

    @Test func partnerThatIsThereRefersBack() throws {
        #expect(try take(#"{"id": 1}"#, #"{"id": 2, "spouse": 1}"#) == "1:2,2:1")
    }

    @Test func partnerThatComesLaterRefersBack() throws {
        #expect(try take(#"{"id": 1, "spouse": 2}"#, #"{"id": 3, "spouse": {"id": 4}}"#) == "1:2,3:4,4:3")
        #expect(try take(#"{"id": 2}"#) == "1:2,2:1,3:4,4:3")
    }

    @Test func partnerThatIsMadeForTheReferenceRefersBack() throws {
        #expect(try take(#"{"id": 1, "spouse": 2}"#, model: Self.people(#""unresolved": "stub","#)) == "1:2,2:1")
    }

    /// Whoever loses a partner refers to nothing.
    @Test func formerPartnersReferToNothing() throws {
        let couples = [#"{"id": 1, "spouse": 2}"#, #"{"id": 2}"#, #"{"id": 3, "spouse": {"id": 4}}"#]
        #expect(try take(couples[0], couples[1], couples[2]) == "1:2,2:1,3:4,4:3")
        #expect(try take(#"{"id": 1, "spouse": 3}"#) == "1:3,2:-,3:1,4:-")
        #expect(try take(#"{"id": 3, "spouse": null}"#) == "1:-,2:-,3:-,4:-")
        // What comes later may have another partner, or none, than the one that has referred to it.
        #expect(try take(#"{"id": 1, "spouse": 5}"#, #"{"id": 5, "spouse": 2}"#) == "1:-,2:5,3:-,4:-,5:2")
        #expect(try take(#"{"id": 3, "spouse": 6}"#, #"{"id": 6, "spouse": null}"#) == "1:-,2:5,3:-,4:-,5:2,6:-")
    }

    /// A new object replaces nothing: what it does not say of its partner is what has been said before.
    @Test func newPartnerRefersBackWhateverItReplaces() throws {
        #expect(try take(#"{"id": 1, "spouse": 2}"#) == "1:2")
        #expect(try take(#"{"id": 2}"#, onConflict: "replace") == "1:2,2:1")
        #expect(try take(#"{"id": 2}"#, onConflict: "replace") == "1:-,2:-")
        #expect(try take(#"{"id": 1, "spouse": 3}"#) == "1:3,2:-")
        #expect(try take(#"{"id": 3, "spouse": null}"#, onConflict: "replace") == "1:-,2:-,3:-")
    }

    private static let named = """
        {"entities": {"person": {"identifier": ["id"],
          "attributes": {"id": {"type": "integer64"}, "code": {"type": "string", "optional": true}},
          "relationships": {"spouse": {"entity": "person", "by": "code", "inverse": "spouse"}}}}}
        """

    @Test func partnersThatOtherAttributesNameReferToEachOther() throws {
        let first = [#"{"id": 1, "code": "a"}"#, #"{"id": 2, "code": "b", "spouse": "a"}"#]
        #expect(try take(first[0], first[1], model: Self.named) == "1:2,2:1")
        // The first one has none any more.
        #expect(try take(#"{"id": 3, "code": "c", "spouse": "b"}"#, model: Self.named) == "1:-,2:3,3:2")
        // Nobody is called so yet.
        #expect(try take(#"{"id": 2, "spouse": "e"}"#, model: Self.named) == "1:-,2:-,3:-")
        #expect(try take(#"{"id": 5, "code": "e"}"#, model: Self.named) == "1:-,2:5,3:-,5:2")
        // Who is taken meanwhile waits no more.
        #expect(
            try take(#"{"id": 3, "spouse": "g"}"#, #"{"id": 1, "spouse": "c"}"#, model: Self.named) == "1:3,2:5,3:1,5:2"
        )
        #expect(try take(#"{"id": 7, "code": "g"}"#, model: Self.named) == "1:3,2:5,3:1,5:2,7:-")
    }
}
