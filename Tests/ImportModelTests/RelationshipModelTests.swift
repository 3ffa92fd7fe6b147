import TestSupport
import Testing

@testable import ImportModel

/// Relationships and inheritance in model files: what is read, what is refused, and where.
struct RelationshipModelTests {
    private func mistakes(_ entities: String) -> [String] {
        do throws(ModelError) {
            _ = try ModelDescription(parsing: Array("{\"entities\": {\(entities)}}".utf8))
            return []
        } catch {
            return error.mistakes.map { String($0.path.dropFirst("$.entities.".count)) }
        }
    }

    @Test func readsAllKeysAndWritesThemAgain() throws {
        let text = """
            {"entities": {
              "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {
                  "customer": {"entity": "person", "from": ["customer_id", "customer"], "inverse": "orders", "optional": false,
                               "column": "buyer", "onConflict": "ignore", "renamingIdentifier": "client"},
                  "prices": {"entity": "price", "toMany": true, "from": "prices.*", "minCount": 1, "maxCount": 9},
                  "card": {"entity": "card", "from": [["suit", "rank"], "card"], "columns": ["s", "r"], "unresolved": "null"},
                  "tags": {"entity": "tag", "toMany": true, "ordered": false, "list": "union", "orphans": "delete",
                           "table": "tagging", "owner": "local", "by": "name", "deleteRule": "deny"}}},
              "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "customer", "from": []}}},
              "card": {"identifier": ["suit", "rank"], "attributes": {"suit": {"type": "string"}, "rank": {"type": "string"}}},
              "price": {"identifier": ["@parent", "size"],
                "attributes": {"size": {"type": "string", "from": "@key"}, "cents": {"type": "integer32", "from": "@value"},
                  "index": {"type": "integer32", "from": "@index", "optional": true, "renamingIdentifier": "place"},
                  "order": {"type": "integer64", "from": "@parent.id", "optional": true},
                  "nothing": {"type": "string", "optional": true, "from": []}}},
              "tag": {"abstract": true, "identifier": ["name"], "attributes": {"name": {"type": "string"}},
                "subentity": {"from": ["kind", "a.b"], "values": {"x": "hashtag", "1": "tag", "old": null}}},
              "hashtag": {"parent": "tag", "renamingIdentifier": "label", "subentity": {"from": "*", "values": {"x": "hashtag"}}}
            }}
            """
        let model = try ModelDescription(parsing: Array(text.utf8))
        let order = model.entities[0].relationships
        #expect(
            order[0]
                == RelationshipDescription(
                    name: "customer",
                    destination: "person",
                    from: [.value(AttributePath(keys: ["customer_id"])), .value(AttributePath(keys: ["customer"]))],
                    inverse: "orders",
                    isOptional: false,
                    onConflict: .ignore,
                    columns: ["buyer"],
                    renamingIdentifier: "client"
                )
        )
        #expect(order[1].from == [.members(of: AttributePath(keys: ["prices"]))])
        #expect(
            order[2].from
                == [
                    .identifier([AttributePath(keys: ["suit"]), AttributePath(keys: ["rank"])]),
                    .value(AttributePath(keys: ["card"])),
                ]
        )
        #expect(order[3].orphans == .delete && order[3].isOrdered == false && order[3].list == .union)
        #expect(model.entities[1].relationships[0].from == [])
        let price = model.entities[3]
        #expect(price.identifier == [EntityDescription.parentIdentifier, "size"])
        #expect(
            price.attributes.map(\.from) == [[.recordKey], [.element], [.index], [.parent(attribute: "id")], []]
        )
        #expect(model.entities[4].subentity?.values.map(\.entity) == ["hashtag", "tag", nil])
        #expect(model.entities[5].subentity?.isByKey == true && model.entities[4].subentity?.isByKey == false)
        #expect(model.entities[5].parent == "tag")
        #expect(try ModelDescription(parsing: Array(model.encoded().utf8)) == model)
        #expect(try ModelDescription(stored: Array(model.encoded().utf8)) == model)
    }

    private static let a = #""attributes": {"id": {"type": "integer64"}}"#
    private static let b = #""b": {"identifier": ["id"], \#(a)}"#

    /// An entity `a` with these relationships, and the entity `b`.
    private func related(_ relationships: String, _ others: String = b) -> [String] {
        mistakes(#""a": {"identifier": ["id"], \#(Self.a), "relationships": {\#(relationships)}}, \#(others)"#)
    }

    @Test(
        arguments: [
            (#""r": {"entity": "bb"}"#, "a.relationships.r.entity"),
            (#""r": {}"#, "a.relationships.r"),
            (#""r": {"entity": "b", "inverse": "x"}"#, "a.relationships.r.inverse"),
            (#""r": {"entity": "b", "by": "name"}"#, "a.relationships.r.by"),
            (#""id": {"entity": "b"}"#, "a.relationships.id"),
            (#""r": {"entity": "b", "minCount": 1}"#, "a.relationships.r.minCount"),
            (#""r": {"entity": "b", "toMany": true, "minCount": 2, "maxCount": 1}"#, "a.relationships.r.maxCount"),
            (#""r": {"entity": "b", "toMany": true, "list": "append"}"#, "a.relationships.r.list"),
            (#""r": {"entity": "b", "deleteRule": "none"}"#, "a.relationships.r.deleteRule"),
            (#""r": {"entity": "b", "identity": "position"}"#, "a.relationships.r.identity"),
            (#""r": {"entity": "b", "table": "t"}"#, "a.relationships.r.table"),
            (#""r": {"entity": "b", "columns": ["x", "y"]}"#, "a.relationships.r.columns"),
            (#""r": {"entity": "b", "toMany": true, "column": "x"}"#, "a.relationships.r.column"),
            (#""r": {"entity": "b", "column": "id"}"#, "a.relationships.r"),
            (#""r": {"entity": "b", "column": "OID"}"#, "a.relationships.r"),
            (#""r": {"entity": "b", "toMany": true, "table": "B"}"#, "a.relationships.r.table"),
            (#""r": {"entity": "b", "toMany": true, "table": "sqlite_r"}"#, "a.relationships.r.table"),
            (#""r": {"entity": "b", "from": "x.*"}"#, "a.relationships.r.from"),
            (#""r": {"entity": "b", "from": [["x", "y"]]}"#, "a.relationships.r.from"),
            (#""r": {"entity": "b", "from": "x[0]"}"#, "a.relationships.r.from"),
            (#""r": {"entity": "b", "from": "@index"}"#, "a.relationships.r.from"),
            (#""r": {"entity": "b", "toOne": true}"#, "a.relationships.r.toOne"),
        ])
    func refusesARelationshipThatCannotWork(relationship: String, path: String) {
        #expect(related(relationship) == [path])
    }

    @Test func refusesAnInverseThatDoesNotLeadBack() {
        let other =
            #""b": {"identifier": ["id"], \#(Self.a), "relationships": {"s": {"entity": "b"}, "t": {"entity": "a"}}}"#
        #expect(related(#""r": {"entity": "b", "inverse": "s"}"#, other) == ["a.relationships.r.inverse"])
        #expect(related(#""r": {"entity": "b", "inverse": "t"}"#, other) == ["a.relationships.r.inverse"])
    }

    @Test func refusesAStubThatWouldLackSomething() {
        let other =
            #""b": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "name": {"type": "string"}}}"#
        #expect(related(#""r": {"entity": "b", "unresolved": "stub"}"#, other) == ["a.relationships.r.unresolved"])
        #expect(related(#""r": {"entity": "b", "unresolved": "stub"}"#) == [])
    }

    @Test func refusesWhatNestedObjectsCannotHave() {
        func nested(_ rest: String, _ attribute: String = "") -> [String] {
            let line = #""line": {\#(rest), "attributes": {"no": {"type": "integer64"}\#(attribute)}}"#
            return related(#""lines": {"entity": "line", "toMany": true}"#, line)
        }
        #expect(nested(#""identifier": ["@parent", "no"]"#) == [])
        #expect(nested(#""identifier": ["@parent", "no"], "records": "$[*]""#) == ["line.records"])
        let parent = #", "of": {"type": "integer64", "from": "@parent.key"}"#
        #expect(nested(#""userInfo": 1"#, parent) == ["line.attributes.of.from"])
        #expect(
            mistakes(#""line": {"identifier": ["@parent", "no"], "attributes": {"no": {"type": "string"}}}"#)
                == ["line.identifier"]
        )
        #expect(
            mistakes(
                #"""
                "line": {"identifier": ["@parent", "no"], "attributes": {"no": {"type": "string"}},
                  "relationships": {"replies": {"entity": "line", "toMany": true}}}
                """#
            ) == ["line.identifier"]
        )
    }

    @Test(
        arguments: [
            (#""parent": "x", \#(a)"#, "c.parent"), (#""parent": "c", "attributes": {}"#, "c.parent"),
            (#""parent": "b", \#(a)"#, "c.attributes.id"),
            (
                #""parent": "b", "identifier": ["x"], "attributes": {"x": {"type": "string"}}"#, "c.identifier"
            ),
            (#""subentity": {"from": "t", "values": {"1": "d"}}, \#(a)"#, "c.subentity.values['1']"),
            (#""subentity": {"from": "t", "values": {"1": "b"}}, \#(a)"#, "c.subentity.values['1']"),
            (#""subentity": {"values": {}}, \#(a)"#, "c.subentity"), (#""abstract": 1, \#(a)"#, "c.abstract"),
        ])
    func refusesAnInheritanceThatCannotBe(entity: String, path: String) {
        #expect(mistakes("\(Self.b), \"c\": {\(entity)}") == [path])
    }

    @Test func warnsOfDeleteRulesThatTheStoreDoesNotKeep() throws {
        let text = """
            {"entities": {
              "a": {"identifier": ["id"], \(Self.a), "relationships": {
                "one": {"entity": "b", "deleteRule": "cascade"},
                "b": {"entity": "b", "inverse": "as", "optional": false}}},
              "b": {"identifier": ["id"], \(Self.a), "relationships": {
                "as": {"entity": "a", "toMany": true, "inverse": "b", "from": []}}}
            }}
            """
        let model = try ModelDescription(parsing: Array(text.utf8))
        #expect(
            model.warnings().map(\.path)
                == ["$.entities.a.relationships.one.deleteRule", "$.entities.b.relationships.as"]
        )
    }

    @Test func readsPathsOfNestedObjects() throws {
        for text in ["@value", "@index", "@parent.id", "@parent['a b']"] {
            #expect(try AttributePath(text).description == text)
        }
        #expect(try AttributePath("@key") == .recordKey)
        #expect(try AttributePath("['@value']") == AttributePath(keys: ["@value"]))
        #expect(AttributePath(keys: ["@value"]).description == "['@value']")
        for text in ["@", "@other", "@value.x", "@parent", "@parent.a.b", "@parent[0]"] {
            #expect(throws: PathSyntaxError.self) { try AttributePath(text) }
        }
    }
}
