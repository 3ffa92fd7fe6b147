import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

/// A value above attributes on their paths that is not an object covers all of them.
struct ReadKeyPathsTests {
    private func run(
        _ records: [String],
        attributes: String,
        identifier: String = "id",
        _ change: (inout JobOptions) -> Void = { _ in }
    ) throws -> (LibraryImport, ImportReport) {
        let job = try LibraryImport(records.joined(separator: "\n") + "\n", named: "item.ndjson")
        let model = """
            {"entities": {"item": {"records": "$", "identifier": ["\(identifier)"], "attributes": {\(attributes)}}}}
            """
        var options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
        change(&options)
        let report = try job.pipeline(options, RunOptions(commitEvery: 2)).run().report
        #expect(try StoreInspection(store: job.store).verify().allSatisfy(\.holds))
        return (job, report)
    }

    private func rows(_ job: LibraryImport, _ columns: String) throws -> String {
        try StoreContent.query(job.store, "SELECT \(columns) FROM item ORDER BY id")
    }

    private func rejects(_ job: LibraryImport) throws -> [String] {
        var rejects: [String] = []
        try StoreInspection(store: job.store).forEachReject { reject in
            let errors = reject.errors.map { "\($0.keyPath) \($0.code.rawValue) \($0.expected) \($0.found)" }
            rejects.append("\(reject.ordinal): " + errors.joined(separator: ", "))
        }
        return rejects
    }

    private static let attributes = """
        "id": {"type": "integer64"},
        "v_a": {"type": "integer64", "from": ["v.a"], "optional": true},
        "v_w_b": {"type": "string", "from": ["v.w.b"], "optional": true, "default": "none"},
        "other": {"type": "string", "optional": true}
        """

    @Test(arguments: [("null", false), ("5", true), ("\"x\"", true), ("[{\"a\":2}]", true), ("false", true)])
    func merged(value: String, isCounted: Bool) throws {
        let first = #"{"id":1,"v":{"a":1,"w":{"b":"x"}},"other":"o"}"#
        let (job, report) = try run([first, #"{"id":1,"v":\#(value)}"#], attributes: Self.attributes)
        #expect(try rows(job, "quote(v_a), quote(v_w_b), other") == "NULL|NULL|o")
        #expect(report.updated == 1)
        #expect(report.ledger["item"] == (isCounted ? ["v": ["notAnObject": 1]] : nil))
    }

    /// A default replaces what is missing, and not a null.
    @Test func missingStaysMissing() throws {
        let records = [
            #"{"id":1,"v":{"a":1,"w":{"b":"x"}}}"#, #"{"id":1}"#, #"{"id":2,"v":{"w":{}}}"#,
            #"{"id":3,"v":{"a":3,"w":null}}"#,
        ]
        let (job, report) = try run(records, attributes: Self.attributes)
        #expect(try rows(job, "id, quote(v_a), quote(v_w_b)") == "1|1|'x'\n2|NULL|'none'\n3|3|NULL")
        #expect(report.unchanged == 1)
        #expect(report.ledger.isEmpty)
    }

    @Test func isAnErrorWhereAnAttributeIsNotOptional() throws {
        let attributes = """
            "id": {"type": "integer64"},
            "a": {"type": "integer64", "from": ["v.a"]}, "b": {"type": "string", "from": ["v.w.b"]},
            "c": {"type": "string", "from": ["v.c"], "optional": true},
            "key": {"type": "uuid", "from": ["v.key"], "generated": true}
            """
        let records = [
            #"{"id":1,"v":{"a":1,"w":{"b":"x"},"c":"y"}}"#, #"{"id":1,"v":null}"#, #"{"id":1,"v":[1]}"#,
            #"{"id":1,"v":{"a":2,"w":7}}"#,
        ]
        let (job, report) = try run(records, attributes: attributes)
        #expect(report.inserted == 1)
        #expect(report.rejected == 3)
        #expect(
            try rejects(job) == [
                "2: v.a unexpectedNull integer64 null, v.w.b unexpectedNull string null",
                "3: v notAnObject object array", "4: v.w notAnObject object number",
            ]
        )
        #expect(report.ledger.isEmpty)
    }

    /// Lists are for records that have the same in several places: what covers one says nothing where another is filled.
    @Test func countsInAListWhereNoOtherPathIsFilled() throws {
        let attributes = """
            "id": {"type": "integer64"},
            "name": {"type": "string", "from": ["name.full", "name", "title"], "optional": true},
            "part": {"type": "string", "from": ["n.part", "rest"], "optional": true}
            """
        let records = [
            #"{"id":1,"name":"a","rest":"r","n":null}"#, #"{"id":1,"name":null,"title":"t","n":1}"#,
            #"{"id":2,"name":{"full":"b"},"n":{"part":"p"}}"#, #"{"id":2,"n":null}"#,
        ]
        let (job, report) = try run(records, attributes: attributes)
        #expect(try rows(job, "id, quote(name), quote(part)") == "1|NULL|NULL\n2|'b'|NULL")
        #expect(report.updated == 2)
        #expect(report.ledger["item"] == ["n": ["notAnObject": 1]])
    }

    /// An attribute that reads the value keeps it; what others read below it is not there.
    @Test func isNotCountedWhereTheValueItselfIsRead() throws {
        let attributes = """
            "id": {"type": "integer64"}, "v": {"type": "json", "optional": true},
            "a": {"type": "integer64", "from": ["v.a"], "optional": true}
            """
        let (job, report) = try run([#"{"id":1,"v":{"a":1}}"#, #"{"id":1,"v":5}"#], attributes: attributes)
        #expect(try rows(job, "quote(v), quote(a)") == "'5'|NULL")
        #expect(report.ledger.isEmpty)
    }

    @Test func coversAWholeRecordThatIsReadAsOne() throws {
        let job = try LibraryImport(#"{"x":{"a":1},"y":7,"z":null}"#)
        let model = """
            {"entities": {"item": {"records": "$.*", "identifier": ["id"], "attributes": {
                "id": {"type": "string", "from": ["$key"]}, "all": {"type": "json", "from": ["$"], "optional": true},
                "a": {"type": "integer64", "from": ["a"], "optional": true, "default": 9}}}}}
            """
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
        let report = try job.pipeline(options, RunOptions()).run().report
        #expect(try rows(job, "id, quote(\"all\"), quote(a)") == "x|'{\"a\":1}'|1\ny|'7'|NULL\nz|NULL|NULL")
        #expect(report.ledger.isEmpty)
    }

    /// Of a key that occurs twice the last value counts alone, whatever the first one was.
    @Test func aRepeatedKeyIsNotAlsoUnknown() throws {
        let records = [
            #"{"id":1,"v":5,"v":{"a":1}}"#, #"{"id":2,"v":{"x":1,"w":2},"v":{"a":2}}"#,
            #"{"id":3,"v":{"a":1},"v":null}"#,
            #"{"id":4,"v":null,"v":{"w":{"b":"b"}}}"#,
        ]
        let (job, report) = try run(records, attributes: Self.attributes)
        #expect(try rows(job, "id, quote(v_a), quote(v_w_b)") == "1|1|'none'\n2|2|'none'\n3|NULL|NULL\n4|NULL|'b'")
        #expect(report.ledger["item"] == ["v": ["duplicateKey": 4]])
    }

    @Test func losesSomethingWhereNothingMayBeLost() throws {
        let records = [#"{"id":1,"v":null}"#, #"{"id":2,"v":5}"#]
        let (job, report) = try run(records, attributes: Self.attributes) { $0.isLossless = true }
        #expect(report.rejected == 1)
        #expect(try rejects(job) == ["2: v notAnObject object number"])
    }
}
