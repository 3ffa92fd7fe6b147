import Foundation
import TestSupport
import Testing

/// Records whose references must lead somewhere when an import into a server ends, and do not: they are rejects, and the tables are
/// what the others make of them.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGUnresolvedRejectTests {
    /// A person's orders must be somewhere, too.
    private static let model = UnresolvedRejectTests.model.replacing(#""from": []"#, with: #""unresolved": "reject""#)
    private static let tables = ["order", "product", "person", "tag", "order_tags", "product_parts"]
    private static let people = [#"{"id": 1, "name": "Ada"}"#]
    private static let products = [#"{"code": "a", "name": "A"}"#, #"{"code": "b", "parts": ["a"]}"#]

    /// Imports one source after the other into a server and into a store, and expects the same of both.
    private static func compare(
        _ steps: [(entity: String, records: [String])],
        policy: String = "merge",
        before: (PGDatabase) throws -> Void = { _ in }
    ) throws -> PGDatabase {
        let files = try ImportFiles(records: steps.map(\.records), model: model, options: ["--max-errors", "none"])
        let database = try PGDatabase()
        for (source, step) in zip(files.sources, steps) {
            let options = ["--entity", step.entity, "--on-conflict", policy]
            let report = try database.imported(files, [source], options + ["--chunk-size", "200"])
            let same = try files.storeOfTheSame([source], options)
            #expect(report == same.report)
            for table in tables { #expect(try database.difference(of: table, from: same.path).isEmpty) }
            #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
            #expect(try database.isVerified())
            try before(database)
        }
        return database
    }

    /// What such records do to objects and lists that others have is not done, and each error says where in the record.
    @Test(.enabled(if: Cases.areAll, "one of all cases")) func theTablesAreWhatTheOthersMakeOfThem() throws {
        let orders = [
            #"{"id": 1, "customer": 1, "lines": [{"product": "a", "count": 1}, {"product": "b"}], "tags": [{"id": "x", "label": "X"}]}"#,
            #"{"id": 1, "note": "n", "lines": [{"product": "q"}], "tags": [{"id": "y"}]}"#,
            #"{"id": 9, "customer": {"id": 1, "name": "Eve"}, "tags": [{"id": "x", "label": "changed"}], "lines": [{"product": "a"}, {"product": "nope"}, {"product": "gone"}]}"#,
            #"{"id": 2, "customer": 1, "lines": [], "tags": [{"id": "z"}, "x"]}"#,
        ]
        let database = try Self.compare([("person", Self.people), ("product", Self.products), ("order", orders)])
        #expect(try database.query("SELECT ordinal FROM _import_reject ORDER BY 1") == "2\n3")
        #expect(try database.query("SELECT id, note FROM \"order\" ORDER BY 1") == "1|\n2|")
        #expect(try database.query("SELECT product_code, order_position FROM line ORDER BY 2") == "a|0\nb|1")
        #expect(try database.query("SELECT label FROM tag WHERE id = 'x'") == "X")
        let paths = """
            SELECT e->>'keyPath' FROM _import_reject AS r, json_array_elements(r.errors::json) AS e ORDER BY ordinal, 1
            """
        #expect(try database.query(paths) == "lines[0].product\nlines[1].product\nlines[2].product")
    }

    /// Each record is refused for what the rejects before would have brought; so is one that overwrites a reference, and then the one
    /// before it.
    @Test func whatRejectsTakeAwayMakesOthersRejects() throws {
        let chain = (0..<6).map { #"{"code": "p\#($0)", "parts": ["p\#($0 + 1)"]}"# }
        let others = [#"{"code": "alone"}"#, #"{"code": "own", "parts": ["own", "alone"]}"#]
        let orders = [
            #"{"id": 1, "customer": 7}"#, #"{"id": 1, "customer": 8}"#, #"{"id": 2, "customer": 8}"#,
            #"{"id": 2, "customer": 1}"#, #"{"id": 3, "lines": [{"product": "p9"}]}"#, #"{"id": 3, "lines": []}"#,
        ]
        let lists = [#"{"id": 2, "name": "Eve", "orders": [2, 77]}"#, #"{"id": 1, "orders": [2]}"#]
        let database = try Self.compare(
            [("person", Self.people), ("product", chain + others), ("order", orders), ("person", lists)]
        )
        let rejects =
            "SELECT job, string_agg(ordinal::text, ' ' ORDER BY ordinal) FROM _import_reject GROUP BY 1 ORDER BY 1"
        #expect(try database.query(rejects) == "2|1 2 3 4 5 6\n3|1 2\n4|1")
        #expect(try database.query("SELECT id, customer_id FROM \"order\" ORDER BY 1") == "2|1\n3|")
        #expect(try database.query("SELECT count(*) FROM _import_link") == "0")
    }

    /// Which records are left out for objects that are there depends on which of them are refused, and the other way around.
    @Test(arguments: Cases.few(1, of: ["error", "ignore", "replace"])) func whatIsLeftOutDependsOnWhatIsRefused(
        _ policy: String
    ) throws {
        let orders = [
            #"{"id": 1, "customer": 7, "note": "a"}"#, #"{"id": 1, "customer": 1, "note": "b"}"#,
            #"{"id": 1, "customer": 9, "note": "c"}"#, #"{"id": 2, "customer": 1}"#, #"{"id": 2, "customer": 9}"#,
        ]
        let database = try Self.compare([("person", Self.people), ("order", orders)], policy: policy)
        #expect(try database.query("SELECT note FROM \"order\" WHERE id = 1") == "b")
    }

    /// Where tables may refuse something, too, each is found for itself.
    @Test func constraintsRefuseOthers() throws {
        let orders = [
            #"{"id": 1, "note": "long"}"#, #"{"id": 1, "customer": 7}"#,
            #"{"id": 2, "customer": {"id": 8, "name": "no"}}"#,
            #"{"id": 3, "customer": 8}"#,
        ]
        let files = try ImportFiles(
            records: [Self.people, orders],
            model: Self.model,
            options: ["--max-errors", "none"]
        )
        let database = try PGDatabase()
        try database.imported(files, [files.sources[0]], ["--entity", "person"])
        try database.execute("ALTER TABLE person ADD CHECK (name <> 'no')")
        try database.imported(files, [files.sources[1]], ["--entity", "order", "--chunk-size", "40"])
        let codes = "SELECT ordinal, errors::json->0->>'code' FROM _import_reject ORDER BY 1"
        #expect(try database.query(codes) == "2|unresolved\n3|constraintViolation\n4|unresolved")
        #expect(try database.query("SELECT id, note FROM \"order\"") == "1|long")
        #expect(try database.isVerified())
    }
}
