import Foundation
import TestSupport
import Testing

/// Imports of what `mongoexport` writes.
struct ExtendedJSONTests {
    private static let records = [
        #"{"_id":{"$oid":"5f1d7f0e8f1b2c3d4e5f6a7b"},"at":{"$date":"2020-01-01T00:00:00Z"},"n":{"$numberLong":"5"},"#
            + #""in":{"a":{"$numberInt":"1"}},"bytes":{"$binary":{"base64":"AAEC","subType":"00"}},"other":{"$oid":"no","more":1}}"#,
        #"{"_id":{"$oid":"5f1d7f0e8f1b2c3d4e5f6a7c"},"at":{"$date":{"$numberLong":"1577836800000"}},"n":6,"#
            + #""in":{"a":2},"bytes":{"$binary":"/w==","$type":"00"}}"#,
    ]

    private func imported(
        _ records: [String],
        model: String? = nil,
        _ options: String...
    ) throws -> (result: ChildProcess.Result, store: String, directory: TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        let source = try directory.write(records.joined(separator: "\n") + "\n", to: "t.ndjson")
        var options = options
        if let model { options += ["--model", try directory.write(model, to: "m.json")] }
        let store = directory.path("store.sqlite")
        return (try run([Project.importer, "import", source, "--into", store] + options), store, directory)
    }

    @Test func columnsAreNamedByTheirKeys() throws {
        let (result, store, directory) = try imported(Self.records)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(
            try StoreContent.query(store, "SELECT _id, \"at\", n, in_a, hex(bytes), \"other_$oid\" FROM t ORDER BY n")
                == "5f1d7f0e8f1b2c3d4e5f6a7b|2020-01-01T00:00:00.000Z|5|1|000102|no\n"
                + "5f1d7f0e8f1b2c3d4e5f6a7c|2020-01-01T00:00:00.000Z|6|2|FF|"
        )
        let counts = "SELECT attribute, count FROM _import_ledger WHERE kind = 'unwrapped' ORDER BY attribute"
        #expect(try StoreContent.query(store, counts) == "_id|2\nat|2\nbytes|2\nin_a|1\nn|1")
        #expect(result.errorText.contains("_id looks like an identifier"), "\(result.errorText)")
        #expect(try runImporter("verify", store).ending == .exit(0))
        withExtendedLifetime(directory) {}
    }

    @Test func strictlyTheyAreObjects() throws {
        let (result, store, directory) = try imported(Self.records, "--strict")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let text = "SELECT \"_id_$oid\", n FROM t ORDER BY rowid"
        #expect(
            try StoreContent.query(store, text)
                == "5f1d7f0e8f1b2c3d4e5f6a7b|{\"$numberLong\":\"5\"}\n5f1d7f0e8f1b2c3d4e5f6a7c|6"
        )
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_ledger WHERE kind = 'unwrapped'") == "0")
        withExtendedLifetime(directory) {}
    }

    /// The identifier tells objects apart, on the next day, too.
    @Test func theIdentifierIsWhatIsInTheObject() throws {
        let (_, store, directory) = try imported(Self.records, "--identifier", "_id")
        let later = try directory.write(
            #"[{"_id":{"$oid":"5f1d7f0e8f1b2c3d4e5f6a7b"},"n":{"$numberLong":"50"}}]"#,
            to: "later.json"
        )
        let result = try runImporter("import", later, "--into", store, "--entity", "t")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT n FROM t ORDER BY _id") == "50\n6")
        withExtendedLifetime(directory) {}
    }

    @Test func attributesOfAModelTakeThem() throws {
        let model = #"""
            {"entities": {"t": {"records": "$", "identifier": ["id"], "attributes": {
                "id": {"type": "string", "from": "_id"}, "at": {"type": "date", "storage": "unix"},
                "n": {"type": "integer16"}, "bytes": {"type": "binary"}, "whole": {"type": "json", "from": "_id"}}}}}
            """#
        let wrong = #"{"_id":{"$oid":"x"},"at":{"$date":0},"n":{"$numberLong":"70000"},"bytes":null}"#
        let (result, store, directory) = try imported(Self.records + [wrong], model: model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(
            try StoreContent.query(store, "SELECT id, \"at\", n, hex(bytes), whole FROM t ORDER BY n LIMIT 1")
                == "5f1d7f0e8f1b2c3d4e5f6a7b|1577836800|5|000102|{\"$oid\":\"5f1d7f0e8f1b2c3d4e5f6a7b\"}"
        )
        let codes = "SELECT json_extract(errors, '$[0].code'), json_extract(errors, '$[0].keyPath') FROM _import_reject"
        #expect(try StoreContent.query(store, codes) == "outOfRange|n")
        withExtendedLifetime(directory) {}
    }

    /// References are named as by texts, in the fast path and in the other one.
    @Test(arguments: [[], ["--workers", "1", "--commit-every", "1"]])
    func referencesAreNamed(options: [String]) throws {
        let model = #"""
            {"entities": {
                "person": {"records": "$", "identifier": ["id"], "attributes": {"id": {"type": "string", "from": "_id"}},
                    "relationships": {
                        "boss": {"entity": "person", "optional": true},
                        "friends": {"entity": "person", "optional": true, "toMany": true, "ordered": true}}}}}
            """#
        let records = (0..<20).map { number in
            let friends = [(number + 1) % 20, (number + 2) % 20].map { #"{"$oid":"p\#($0)"}"# }
            return
                #"{"_id":{"$oid":"p\#(number)"},"boss":{"$oid":"p\#((number + 3) % 20)"},"friends":[\#(friends.joined(separator: ","))]}"#
        }
        let plain = records.map { record in
            record.replacingOccurrences(of: #"\{"\$oid":("p[0-9]+")\}"#, with: "$1", options: .regularExpression)
        }
        let directory = try TemporaryDirectory()
        let path = try directory.write(model, to: "m.json")
        var dumps: [String] = []
        for (name, lines) in [("a", records), ("b", plain)] {
            let source = try directory.write(lines.joined(separator: "\n") + "\n", to: "\(name).ndjson")
            let store = directory.path("\(name).sqlite")
            let result = try run([Project.importer, "import", source, "--into", store, "--model", path] + options)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            let tables = try StoreContent.tables(store)
            let rows = try tables.map { try StoreContent.query(store, "SELECT * FROM \"\($0)\" ORDER BY 1, 2") }
            dumps.append(rows.joined(separator: "\n--\n"))
        }
        #expect(dumps[0] == dumps[1])
        #expect(dumps[0].contains("p3"))
    }

    @Test func rejectsAreRetriedAlike() throws {
        let wrong = #"{"_id":{"$oid":"x"},"n":"many"}"#
        let model = #"""
            {"entities": {"t": {"records": "$", "attributes": {
                "id": {"type": "string", "from": "_id"}, "n": {"type": "integer64"}}}}}
            """#
        let (_, store, directory) = try imported(Self.records + [wrong], model: model)
        let file = directory.path("rejects.ndjson")
        #expect(try runImporter("rejects", store, "--to", file).ending == .exit(0))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try directory.write(text.replacing("\"many\"", with: "{\"$numberLong\":\"9\"}"), to: "rejects.ndjson")
        #expect(try runImporter("retry", store, file).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT id, n FROM t WHERE n = 9") == "x|9")
        withExtendedLifetime(directory) {}
    }
}
