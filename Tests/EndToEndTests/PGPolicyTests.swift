import Foundation
import TestSupport
import Testing

/// What records of related entities do on a server whose own objects are there already.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGPolicyTests {
    private static let model = """
        {"entities": {
          "order": {"identifier": ["id"], "attributes": {
              "id": {"type": "integer64"}, "note": {"type": "string", "optional": true},
              "state": {"type": "string", "default": "new"}},
            "relationships": {
              "lines": {"entity": "line", "toMany": true}, "tags": {"entity": "tag", "toMany": true},
              "person": {"entity": "person", "inverse": "orders"}, "agent": {"entity": "person"},
              "next": {"entity": "order"}}},
          "person": {"identifier": ["id"], "attributes": {
              "id": {"type": "integer64"}, "name": {"type": "string"}, "age": {"type": "integer16", "optional": true}},
            "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "person"}}},
          "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string", "from": "@value"}}},
          "line": {"attributes": {"sku": {"type": "string"}}}}}
        """
    private static let tables = ["order", "person", "tag", "line", "order_tags"]

    /// Sources, each of records of one entity.
    private static func files(_ sources: [String]..., model: String = model) throws -> ImportFiles {
        try ImportFiles(records: sources, model: model, options: ["--max-errors", "none"])
    }

    /// Imports one source after the other into a server and into a store, and expects the same of both.
    private static func compare(_ files: ImportFiles, _ steps: [(entity: String, policy: String)]) throws
        -> PGDatabase
    {
        let database = try PGDatabase()
        for (source, step) in zip(files.sources, steps) {
            let options = ["--entity", step.entity, "--on-conflict", step.policy]
            let report = try database.imported(files, [source], options + ["--chunk-size", "80"])
            let same = try files.storeOfTheSame([source], options)
            #expect(report == same.report)
            for table in tables { #expect(try database.difference(of: table, from: same.path).isEmpty) }
            #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
            #expect(try database.isVerified())
        }
        return database
    }

    /// What a record does not say of its own object is gone; nested objects keep it.
    @Test(.enabled(if: Cases.areAll, "one of all cases")) func recordsReplaceTheirObjects() throws {
        let files = try Self.files(
            [
                #"{"id": 1, "note": "a", "state": "old", "person": {"id": 1, "name": "Ada"}, "agent": 1, "lines": [{"sku": "x"}]}"#,
                #"{"id": 2, "note": "b", "tags": ["red"], "next": {"id": 1, "note": "c"}}"#,
                #"{"id": 1, "tags": ["new"]}"#,
                #"{"id": 3, "note": "d", "next": {"id": 2, "state": "old"}}"#,
            ],
            [#"{"id": 3}"#, #"{"id": 4, "next": {"id": 2, "lines": [{"sku": "y"}]}}"#]
        )
        let database = try Self.compare(files, [("order", "replace"), ("order", "replace")])
        let orders = "SELECT id, note, state, person_id, agent_id, next_id FROM \"order\" ORDER BY id"
        #expect(try database.query(orders) == "1||new|||\n2|b|old|||1\n3||new|||\n4||new|||2")
        #expect(try database.query("SELECT sku, order_id FROM line") == "y|2")
        #expect(try database.query("SELECT order_id, tags_name FROM order_tags ORDER BY 1") == "1|new\n2|red")
    }

    /// So do nested objects of a relationship that says so, whatever `--on-conflict` says.
    @Test func nestedObjectsReplaceTheirs() throws {
        let model = Self.model.replacing(
            #""next": {"entity": "order"}"#,
            with: #""next": {"entity": "order", "onConflict": "replace"}"#
        )
        let files = try Self.files(
            [
                #"{"id": 1, "note": "a", "state": "old", "person": {"id": 1, "name": "Ada"}, "lines": [{"sku": "x"}]}"#,
                #"{"id": 2, "note": "b", "tags": ["red"], "next": {"id": 1, "agent": 5}}"#,
                #"{"id": 3, "next": {"id": 4, "next": {"id": 2, "state": "old"}}}"#,
            ],
            [#"{"id": 9, "name": "Ada", "orders": [4, 5]}"#],
            [#"{"id": 6, "next": {"id": 4}}"#, #"{"id": 7, "next": {"id": 5}}"#],
            model: model
        )
        let database = try Self.compare(files, [("order", "merge"), ("person", "merge"), ("order", "error")])
        let orders = "SELECT id, note, state, person_id, agent_id, next_id FROM \"order\" ORDER BY id"
        let rows = "1||new||5|\n2||old|||\n3||new|||4\n4||new|||\n5||new|9||\n6||new|||4\n7||new|||5"
        #expect(try database.query(orders) == rows)
        #expect(try database.query("SELECT count(*) FROM line") == "0")
        #expect(try database.query("SELECT count(*) FROM order_tags") == "0")
    }

    /// A list that has named an object before it came goes on to have it, unless its record says otherwise; one that replaces an
    /// object takes it out.
    @Test(.enabled(if: Cases.areAll, "one of all cases")) func aNewObjectThatSaysNothingStaysInItsList() throws {
        let files = try Self.files(
            [#"{"id": 1, "name": "Ada", "orders": [7, 8, 9]}"#],
            [#"{"id": 7}"#, #"{"id": 8, "person": null}"#, #"{"id": 9, "note": "a"}"#, #"{"id": 9, "note": "b"}"#]
        )
        let database = try Self.compare(files, [("person", "merge"), ("order", "replace")])
        #expect(try database.query("SELECT id, note, person_id FROM \"order\" ORDER BY id") == "7||1\n8||\n9|b|")
    }

    /// What is nested in records that are left out does not bring its objects: the next record of one is taken.
    @Test func recordsAreLeftOutWithAllInThem() throws {
        let chain = (1...9).map { #"{"id": \#($0), "note": "own", "next": {"id": \#($0 + 1), "note": "nested"}}"# }
        let again = #"{"id": 3, "person": {"id": 1, "name": "Ada"}, "lines": [{"sku": "x"}], "tags": ["red"]}"#
        let files = try Self.files(chain + [again, #"{"id": 20, "person": {"id": 1, "age": 36}}"#], [chain[1], again])
        let database = try Self.compare(files, [("order", "ignore"), ("order", "ignore")])
        // Of 2, 4, 6 and 8 the records are left out, so that 3, 5, 7 and 9 are new.
        let own = "SELECT string_agg(id::text, ' ' ORDER BY id) FROM \"order\" WHERE note = 'own'"
        #expect(try database.query(own) == "1 3 5 7 9")
        // Who was brought by a record that was left out is not there for others.
        #expect(try database.query("SELECT count(*) FROM person") == "0")
        #expect(try database.query("SELECT ordinal FROM _import_reject") == "11")
        #expect(try database.query("SELECT job, sum(ignored) FROM _import_count GROUP BY 1 ORDER BY 1") == "1|5\n2|2")
    }

    @Test func recordsWhoseObjectsAreThereAreRejects() throws {
        let files = try Self.files(
            [
                #"{"id": 1, "next": {"id": 2, "note": "a"}, "person": {"id": 1, "name": "Ada"}}"#,
                #"{"id": 2, "next": {"id": 3, "note": "b"}, "person": {"id": 5, "age": 36}, "agent": 7}"#,
                #"{"id": 3, "next": {"id": 4, "note": "c"}}"#,
                #"{"id": 4, "tags": ["red"]}"#, #"{"id": 5, "person": {"id": 1}}"#,
            ],
            [#"{"id": 5, "tags": ["new"]}"#, #"{"id": 6, "next": {"id": 5, "note": "d"}}"#]
        )
        let database = try Self.compare(files, [("order", "error"), ("order", "error")])
        #expect(try database.query("SELECT job, ordinal FROM _import_reject ORDER BY id") == "1|2\n1|4\n2|1")
        #expect(try database.query("SELECT id, note FROM \"order\" ORDER BY id") == "1|\n2|a\n3|\n4|c\n5|d\n6|")
        #expect(try database.query("SELECT count(*) FROM tag") == "0")
    }

    /// A record that a table refuses keeps no other out.
    @Test(arguments: ["ignore", "error"]) func aRefusedRecordKeepsNoneOut(policy: String) throws {
        let files = try Self.files([
            #"{"id": 1, "next": {"id": 2, "note": "nested"}, "person": {"id": 1, "name": "Ada", "age": 300}}"#,
            #"{"id": 2, "note": "own", "next": {"id": 3}}"#, #"{"id": 2, "note": "again"}"#, #"{"id": 3}"#,
        ])
        let database = try PGDatabase()
        try database.execute("CREATE TABLE person (id bigint PRIMARY KEY, name text, age smallint CHECK (age < 200))")
        try database.imported(files, nil, ["--entity", "order", "--on-conflict", policy])
        #expect(try database.query("SELECT id, note FROM \"order\" ORDER BY id") == "2|own\n3|")
        let rejects = policy == "ignore" ? "1" : "1\n3\n4"
        #expect(try database.query("SELECT ordinal FROM _import_reject ORDER BY 1") == rejects)
        #expect(try database.query("SELECT sum(ignored) FROM _import_count") == (policy == "ignore" ? "2" : "0"))
        #expect(try database.isVerified())
    }

    /// Nested objects that are there are left out with all in them, and a list that has them does not link them; what only they bring
    /// is not there for others.
    @Test func nestedObjectsAreLeftOut() throws {
        let files = try Self.files(
            [
                #"{"id": 1, "next": {"id": 2, "note": "a", "next": {"id": 3, "note": "b"}, "lines": [{"sku": "x"}]}}"#,
                // 2 is there, so that nothing brings 4, and 3 keeps its own.
                #"{"id": 5, "next": {"id": 2, "note": "c", "next": {"id": 4, "note": "d"}, "lines": [], "tags": ["red"]}}"#,
                #"{"id": 6, "next": {"id": 4, "note": "e", "person": {"id": 1, "name": "Ada"}}}"#,
                // Lacks a name, but is there; then one that is not.
                #"{"id": 7, "next": {"id": 8, "person": {"id": 1, "age": 36}}}"#,
                #"{"id": 9, "next": {"id": 2, "person": {"id": 10, "age": 3}}}"#,
                #"{"id": 11, "next": {"id": 12, "person": {"id": 10, "age": 3}}}"#,
            ],
            [#"{"id": 2, "note": "own", "next": {"id": 1, "note": "z", "agent": 9}}"#],
            [#"{"id": 10, "name": "Eve", "orders": [{"id": 2, "note": "list"}, {"id": 13, "note": "list"}, 1]}"#],
            model: Self.model.replacing(
                #""next": {"entity": "order"}"#,
                with: #""next": {"entity": "order", "onConflict": "ignore"}"#
            ).replacing(
                #""toMany": true, "inverse": "person"}"#,
                with: #""toMany": true, "inverse": "person", "onConflict": "ignore"}"#
            )
        )
        let database = try Self.compare(files, [("order", "merge"), ("order", "replace"), ("person", "merge")])
        let orders = "SELECT id, note, person_id, next_id FROM \"order\" ORDER BY id"
        let rows = """
            1||10|2\n2|own||1\n3|b||\n4|e|1|\n5|||2\n6|||4\n7|||8\n8||1|\n9|||2\n13|list|10|
            """
        #expect(try database.query(orders) == rows)
        #expect(try database.query("SELECT count(*) FROM tag") == "0")
        #expect(try database.query("SELECT ordinal FROM _import_reject") == "6")
    }

    /// Or make a reject of the record; of the first record of an object, nested ones after it are such.
    @Test(.enabled(if: Cases.areAll, "one of all cases")) func nestedObjectsThatAreThereMakeRejects() throws {
        let files = try Self.files(
            [
                #"{"id": 1, "next": {"id": 2, "note": "a"}, "tags": ["red"]}"#,
                #"{"id": 3, "next": {"id": 2, "note": "b", "next": {"id": 4}}, "tags": ["new"]}"#,
                #"{"id": 4, "next": {"id": 4, "note": "c"}}"#, #"{"id": 5, "next": 2}"#, #"{"id": 4, "note": "d"}"#,
            ],
            [#"{"id": 6, "next": {"id": 5, "note": "e"}}"#, #"{"id": 5, "next": {"id": 6, "note": "f"}}"#],
            model: Self.model.replacing(
                #""next": {"entity": "order"}"#,
                with: #""next": {"entity": "order", "onConflict": "error"}"#
            )
        )
        let database = try Self.compare(files, [("order", "ignore"), ("order", "merge")])
        #expect(try database.query("SELECT job, ordinal FROM _import_reject ORDER BY id") == "1|2\n1|3\n2|1")
        #expect(try database.query("SELECT id, note FROM \"order\" ORDER BY id") == "1|\n2|a\n4|d\n5|\n6|f")
    }

    /// What is within an object that lacks something is not looked at, but all else in the record is.
    @Test(arguments: Cases.few(1, of: ["merge", "ignore", "error"])) func rejectsNameWhatIsMissing(policy: String)
        throws
    {
        let files = try Self.files([
            #"{"id": 1, "person": {"id": 1, "orders": [{"id": 9, "agent": {"id": 3, "age": 1}}]}, "agent": {"id": 4, "age": 2}}"#,
            #"{"id": 2, "person": {"id": 5, "name": "Ada"}, "agent": {"id": 5, "age": 3}, "next": {"id": 3, "agent": {"id": 6, "age": 4}}}"#,
            #"{"id": 4}"#,
        ])
        let database = try Self.compare(files, [("order", policy)])
        #expect(try database.query("SELECT count(*) FROM _import_reject") == "2")
    }
}
