import TestSupport
import Testing

/// What belongs to an object goes and stays with it, by the delete rules; lists of owned objects are wholes.
struct MirrorRelationshipTests {
    private static func model(_ rule: String = "cascade", more: String = "") -> String {
        """
        {"entities": {
          "user": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "records": "$.users[*]",
            "relationships": {"messages": {"entity": "message", "toMany": true, "inverse": "user", "deleteRule": "\(rule)"\(more)}}},
          "message": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "records": "$.messages[*]",
            "relationships": {"user": {"entity": "user", "inverse": "messages"}}}}}
        """
    }

    /// The same where messages are in their users alone.
    private static let nested = """
        {"entities": {
          "user": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"messages": {"entity": "message", "toMany": true, "inverse": "user", "deleteRule": "cascade"},
              "tags": {"entity": "tag", "toMany": true, "inverse": "users", "deleteRule": "nullify"},
              "lines": {"entity": "line", "toMany": true}}},
          "message": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"user": {"entity": "user", "inverse": "messages", "from": []}}},
          "line": {"attributes": {"text": {"type": "string"}}},
          "tag": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"users": {"entity": "user", "toMany": true, "inverse": "tags", "from": []}}}}}
        """
    private static let full = """
        [{"id": 1, "messages": [{"id": 10}, {"id": 11}], "tags": [{"id": 7}], "lines": [{"text": "a"}, {"text": "b"}]}]
        """

    private static func nested(_ second: String) throws -> String {
        let mirror = try MirroredStore(model: nested)
        let first = try mirror.mirroring(full, "--entity", "user")
        #expect(first.ending == .exit(0), "\(first.errorText)")
        let next = try mirror.mirroring(second, "--entity", "user")
        #expect(next.ending == .exit(0), "\(next.errorText)")
        #expect(try runImporter("verify", mirror.store).ending == .exit(0))
        return try mirror.query(
            """
            SELECT (SELECT count(*) FROM message), (SELECT count(*) FROM line), (SELECT count(*) FROM tag),
                (SELECT count(*) FROM user_tags)
            """
        )
    }

    @Test func aListOfOwnedObjectsIsAWhole() throws {
        #expect(try Self.nested(#"[{"id": 1, "messages": [{"id": 11}], "lines": [{"text": "a"}]}]"#) == "1|1|1|1")
        #expect(try Self.nested(#"[{"id": 1, "messages": [], "lines": []}]"#) == "0|0|1|1")
    }

    @Test func aMissingListAndANullLeaveWhatIsOwned() throws {
        #expect(try Self.nested(#"[{"id": 1}]"#) == "2|2|1|1")
        #expect(try Self.nested(#"[{"id": 1, "messages": null, "lines": null}]"#) == "2|2|1|1")
    }

    @Test func ofAManyToManyOnlyLinksGo() throws {
        #expect(try Self.nested(#"[{"id": 1, "tags": []}]"#) == "2|2|1|0")
        #expect(try Self.nested(#"[{"id": 2}]"#) == "0|0|1|0")
    }

    @Test func nullEmptiesAListWithoutTheOption() throws {
        let mirror = try MirroredStore(model: Self.nested)
        _ = try mirror.importing(Self.full, ["--entity", "user"])
        _ = try mirror.importing(#"[{"id": 1, "lines": null}]"#, ["--entity", "user"])
        #expect(try mirror.query("SELECT count(*) FROM line") == "0")
    }

    @Test func whatBelongsToARootIsItsOwnRootToo() throws {
        let mirror = try MirroredStore(model: Self.model())
        _ = try mirror.mirroring(
            #"{"users": [{"id": 1}, {"id": 2}], "messages": [{"id": 5, "user": 1}, {"id": 6, "user": 2}]}"#
        )
        let second = try mirror.mirroring(#"{"users": [{"id": 2}], "messages": [{"id": 6, "user": 2}]}"#)
        #expect(second.number("deleted") == 2, "\(second.errorText)")
        #expect(try mirror.ids() == "2")
        #expect(try mirror.ids("message") == "6")
    }

    @Test func whatGoesWithAnotherCountsForTheLimit() throws {
        let mirror = try MirroredStore(model: Self.model())
        let messages = (1...20).map { #"{"id": \#($0), "user": 1}"# }.joined(separator: ",")
        _ = try mirror.mirroring(#"{"users": [{"id": 1}, {"id": 2}], "messages": [\#(messages)]}"#)
        let second = try mirror.mirroring(#"{"users": [{"id": 2}], "messages": [\#(messages)]}"#)
        #expect(second.ending == .exit(65) && second.reason == "limit", "\(second.errorText)")
        #expect(try mirror.ids() == "1 2")
        let third = try mirror.mirroring(#"{"users": [{"id": 2}], "messages": [\#(messages)]}"#, "--max-delete", "100%")
        #expect(third.number("deleted") == 21, "\(third.errorText)")
    }

    @Test func allEntitiesOrNone() throws {
        let mirror = try MirroredStore(model: Self.model("nullify"))
        _ = try mirror.mirroring(#"{"users": [{"id": 1}, {"id": 2}], "messages": [{"id": 5}, {"id": 6}]}"#)
        let second = try mirror.mirroring(#"{"users": [{"id": 2}], "messages": []}"#)
        #expect(second.reason == "empty" && second.number("withheld") == 3, "\(second.errorText)")
        #expect(try mirror.ids() == "1 2")
    }

    @Test func aRuleThatDeniesKeepsAnObjectAsLongAsOthersReferToIt() throws {
        let mirror = try MirroredStore(model: Self.model("deny"))
        _ = try mirror.mirroring(
            #"{"users": [{"id": 1}, {"id": 2}], "messages": [{"id": 5, "user": 1}, {"id": 6, "user": 2}]}"#
        )
        let second = try mirror.mirroring(#"{"users": [{"id": 3}], "messages": [{"id": 6, "user": 2}]}"#)
        #expect(second.ending == .exit(0) && second.number("deleted") == 2, "\(second.errorText)")
        #expect(try mirror.ids() == "2 3")
        let ledger = (second.report["ledger"] as? [String: [String: [String: Int]]])?["user"]?[""]
        #expect(ledger?["deletionDenied"] == 1)
    }

    @Test func aReferenceAloneIsNotSeen() throws {
        let mirror = try MirroredStore(model: Self.model("nullify"))
        _ = try mirror.mirroring(#"{"users": [{"id": 1}, {"id": 2}], "messages": [{"id": 5, "user": 1}]}"#)
        let second = try mirror.mirroring(#"{"users": [{"id": 2}], "messages": [{"id": 5, "user": 1}]}"#)
        #expect(second.number("deleted") == 1, "\(second.errorText)")
        #expect(try mirror.query("SELECT count(*) FROM message WHERE user_id IS NULL") == "1")
    }

    @Test func entitiesThatInheritAreEachInTheirOwnScope() throws {
        let model = """
            {"entities": {
              "pet": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "abstract": true},
              "dog": {"parent": "pet", "attributes": {}, "records": "$.dogs[*]"},
              "cat": {"parent": "pet", "attributes": {}, "records": "$.cats[*]"},
              "owner": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "records": "$.owners[*]",
                "relationships": {"pets": {"entity": "pet", "toMany": true}}}}}
            """
        let mirror = try MirroredStore(model: model)
        let all =
            #"{"dogs": [{"id": 1}, {"id": 2}], "cats": [{"id": 3}, {"id": 4}], "owners": [{"id": 9, "pets": [1, 3]}]}"#
        let first = try mirror.mirroring(all)
        #expect(first.ending == .exit(0), "\(first.errorText)")
        let dogs = try mirror.mirroring(#"{"dogs": [{"id": 1}]}"#, as: "dogs.json", "--records", "$.dogs[*]")
        #expect(dogs.number("deleted") == 1, "\(dogs.errorText)")
        #expect(try mirror.ids("pet") == "1 3 4")
    }
}
