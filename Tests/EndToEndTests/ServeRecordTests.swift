import Foundation
import TestSupport
import Testing

/// Pages of records, sections and single records, against what Python's SQLite reads.
struct ServeRecordTests {
    private static let model = """
        {"entities": {"people": {"records": "$", "identifier": ["id"], "attributes": {
            "id": {"type": "integer64"}, "name": {"type": "string", "optional": true},
            "age": {"type": "integer16", "optional": true}, "price": {"type": "decimal", "optional": true},
            "born": {"type": "date", "optional": true}, "data": {"type": "binary", "optional": true},
            "flag": {"type": "boolean", "optional": true}, "big": {"type": "integer64", "optional": true},
            "note": {"type": "string", "optional": true}, "tags": {"type": "json", "optional": true}}}}}
        """

    /// A store with nulls, ties, and texts that have the same beginning for 3,000 bytes.
    private static func store(_ directory: TemporaryDirectory, count: Int = 300) throws -> String {
        var random = SeededGenerator(seed: 22)
        let records = (1...count).map { id in
            let name =
                Int.random(in: 0..<9, using: &random) == 0 ? "null" : "\"n\(Int.random(in: 0..<40, using: &random))\""
            let age = Int.random(in: 0..<5, using: &random) == 0 ? "null" : "\(Int.random(in: 0..<12, using: &random))"
            let note = String(repeating: "x", count: 3_000) + "\(Int.random(in: 0..<100, using: &random))"
            return #"{"id": \#(id * 3), "name": \#(name), "age": \#(age), "note": "\#(note)", "#
                + #""price": \#(Int.random(in: -50..<50, using: &random)).50, "flag": \#(id % 2 == 0)}"#
        }
        let files = try ImportFiles(records: [records], model: model)
        let store = directory.path("people.sqlite")
        let result = try run(files.command(into: store, ["--index", "age", "--quiet"]))
        guard result.ending == .exit(0) else { throw StoreContent.Failure(result.errorText) }
        return store
    }

    /// The keys of all pages, one after the other.
    private func keys(_ served: ServedStore, _ query: String, limit: Int) throws -> [String] {
        var keys: [String] = []
        var after = ""
        while true {
            let target = "/api/records/people?limit=\(limit)&\(query)" + (after.isEmpty ? "" : "&after=\(after)")
            let page = try served.json(target)
            let records = try #require(page["records"] as? [[String: Any]])
            #expect(records.count <= limit)
            keys += records.compactMap { $0["key"] as? String }
            guard let next = page["next"] as? String else { return keys }
            #expect(records.count == limit)
            after = next
        }
    }

    @Test(arguments: [
        ("", "rowid"), ("sort=age", "age, rowid"), ("sort=-age", "age DESC, rowid DESC"),
        ("sort=name", "name, rowid"), ("sort=-name,age", "name DESC, age, rowid"),
        ("sort=age,-name", "age, name DESC, rowid DESC"), ("sort=-id", "rowid DESC"),
        ("sort=note", "note, rowid"), ("sort=-note,-age", "note DESC, age DESC, rowid DESC"),
        ("sort=price", "CAST(price AS REAL), rowid"), ("section=age&sort=-name", "age, name DESC, rowid DESC"),
        ("section=name", "name, rowid"), ("sort=%22age%22,%22name%22", "age, name, rowid"),
    ])
    func pagesTogetherAreTheWhole(query: String, order: String) throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(directory)
        let served = try ServedStore(store)
        let filters = [("", "1"), ("&where=" + ServedStore.escaped("age > 3 and flag = true"), "age > 3 AND flag")]
        for (parameter, condition) in filters {
            let sql = "SELECT rowid FROM people WHERE \(condition) ORDER BY \(order)"
            let expected = try StoreContent.query(store, sql).split(separator: "\n").map(String.init)
            #expect(expected.count > 50)
            for limit in [3, 500] {
                #expect(try keys(served, query + parameter, limit: limit) == expected, "\(query) \(limit)")
            }
        }
    }

    /// Where a page ends stays a position when its last record goes or changes.
    @Test func aPageFollowsARecordThatIsGone() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(directory)
        let served = try ServedStore(store)
        let page = try served.json("/api/records/people?limit=10&sort=age,name")
        let next = try #require(page["next"] as? String)
        let order = "ORDER BY age, name, rowid LIMIT 10 OFFSET"
        let expected = try StoreContent.query(store, "SELECT rowid FROM people \(order) 10")
        try StoreContent.execute(store, "DELETE FROM people WHERE rowid IN (SELECT rowid FROM people \(order) 0)")
        let second = try served.json("/api/records/people?limit=10&sort=age,name&after=\(next)")
        let keys = (second["records"] as? [[String: Any]])?.compactMap { $0["key"] as? String }
        #expect(keys?.joined(separator: "\n") == expected)
    }

    @Test func sectionsHaveTheirCountsAndTheirBeginnings() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(directory)
        let served = try ServedStore(store)
        let condition = "&where=" + ServedStore.escaped("flag = true")
        let page = try served.json("/api/records/people?section=age&sort=-name&limit=5" + condition)
        let sections = try #require(page["sections"] as? [[String: Any]])
        let counted = sections.map { "\(($0["value"] as? Int).map(String.init) ?? "")|\($0["count"] ?? "")" }
        let sql = "SELECT age, count(*) FROM people WHERE flag GROUP BY age ORDER BY age"
        #expect(try StoreContent.query(store, sql).replacing("None", with: "") == counted.joined(separator: "\n"))
        #expect(sections.first?["after"] is NSNull)
        for section in sections.dropFirst() {
            let after = try #require(section["after"] as? String)
            let value = try #require(section["value"] as? Int)
            let first = try served.json("/api/records/people?section=age&sort=-name&limit=1&after=\(after)\(condition)")
            let records = try #require(first["records"] as? [[String: Any]])
            #expect(records.first?["section"] as? Int == value)
            let expected =
                "SELECT rowid FROM people WHERE flag AND age = \(value) ORDER BY name DESC, rowid DESC LIMIT 1"
            #expect(try StoreContent.query(store, expected) == records.first?["key"] as? String)
        }
        // Left out where the machine is too busy to count them at once.
        #expect(page["count"] as? Int ?? 150 == 150)
        #expect(page["more_sections"] == nil)
        #expect(try served.client.ask("/api/records/people?section=id").status == 400)
    }

    /// JavaScript rounds numbers beyond 2^53, and knows no bytes.
    @Test func valuesAreWhatJavaScriptCanHold() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(directory, count: 60)
        try StoreContent.execute(
            store,
            """
            INSERT INTO people (id, name, age, price, born, data, flag, big, note, tags) VALUES
                (1, '<img src=x onerror=alert(1)>', 7, '12345678901234567890.5', '2024-02-29T12:30:00.000Z', x'00ff', 1,
                    9007199254740991, char(8238) || char(7), '{"a": [1]}'),
                (2, 'é' || replace(hex(zeroblob(600)), '00', 'é𝄞'), 'text', NULL, 'no date', zeroblob(5000), 2,
                    -9223372036854775808, CAST(x'61006200' AS TEXT), NULL)
            """
        )
        let served = try ServedStore(store)
        let page = try served.json("/api/records/people?limit=2")
        let records = try #require(page["records"] as? [[String: Any]])
        let one = try #require(records[0]["values"] as? [String: Any])
        #expect(one["name"] as? String == "<img src=x onerror=alert(1)>")
        #expect(one["price"] as? String == "12345678901234567890.5")
        #expect(one["born"] as? String == "2024-02-29T12:30:00.000Z")
        #expect((one["data"] as? [String: Any])?["base64"] as? String == "AP8=")
        #expect((one["data"] as? [String: Any])?["bytes"] as? Int == 2)
        #expect(one["flag"] as? Bool == true)
        #expect(one["big"] as? Int == 9_007_199_254_740_991)
        #expect(one["note"] as? String == "\u{202E}\u{7}")
        #expect(one["tags"] as? String == #"{"a": [1]}"#)
        #expect(records[0]["cut"] == nil)
        let two = try #require(records[1]["values"] as? [String: Any])
        #expect((two["name"] as? String)?.unicodeScalars.count == 1_000)
        #expect((two["name"] as? String)?.hasPrefix("éé𝄞é𝄞") == true)
        #expect(two["age"] as? String == "text")
        #expect(two["born"] as? String == "no date")
        #expect(two["big"] as? String == "-9223372036854775808")
        #expect(two["note"] as? String == "a\0b\0")
        #expect((two["data"] as? [String: Any])?["bytes"] == nil)
        #expect(Set(records[1]["cut"] as? [String] ?? []) == ["name", "data"])
        // A record by itself is whole.
        let whole = try served.json("/api/record/people/2")
        let values = try #require(whole["values"] as? [String: Any])
        #expect((values["name"] as? String)?.unicodeScalars.count == 1_201)
        #expect((values["data"] as? [String: Any])?["bytes"] as? Int == 5_000)
        #expect(whole["cut"] == nil)
        // Nothing that turns the direction of a text goes over the wire as it is.
        let raw = try served.client.ask("/api/records/people?limit=2").text
        #expect(!raw.contains("\u{202E}") && !raw.contains("\u{7}"))
    }

    @Test func aLongTextOfARecordIsNamedAsCut() throws {
        let directory = try TemporaryDirectory()
        let store = try ServedStore.store(
            directory,
            of: "notes",
            [("short", "string"), ("long", "string"), ("wide", "string"), ("data", "binary")],
            """
            INSERT INTO notes VALUES (
                printf('%.1048576c', 'x'), printf('%.1048577c', 'x'),
                replace(hex(zeroblob(400000)), '00', 'é𝄞'), zeroblob(2000000))
            """
        )
        let record = try ServedStore(store).json("/api/record/notes/1")
        #expect(record["cut"] as? [String] == ["long", "wide", "data"])
        let values = try #require(record["values"] as? [String: Any])
        #expect((values["short"] as? String)?.utf8.count == 1 << 20)
        #expect((values["long"] as? String)?.utf8.count == 1 << 20)
        #expect((values["wide"] as? String)?.unicodeScalars.allSatisfy { "é𝄞".unicodeScalars.contains($0) } == true)
    }

    /// A query has as many columns as a table at most, and asks for the row id and what it sorts by as well.
    @Test func asManyColumnsAsATableHasAreRead() throws {
        let directory = try TemporaryDirectory()
        let names = (0..<2_000).map { "c\($0)" }
        let rows = (0..<5).map { row in "(" + names.map { "'\($0) \(row)'" }.joined(separator: ",") + ")" }
        let store = try ServedStore.store(
            directory,
            of: "wide",
            names.map { ($0, "string") },
            rows.map { "INSERT INTO wide VALUES \($0);" }.joined()
        )
        let served = try ServedStore(store)
        func values(_ row: Int) -> [String: String] {
            Dictionary(uniqueKeysWithValues: names.map { ($0, "\($0) \(row)") })
        }
        for (query, order) in [("", [0, 1, 2, 3, 4]), ("&sort=-c1999,c0", [4, 3, 2, 1, 0])] {
            var found: [[String: String]] = []
            var next = ""
            repeat {
                let page = try served.json("/api/records/wide?limit=2\(query)\(next)")
                let records = try #require(page["records"] as? [[String: Any]])
                found += records.compactMap { $0["values"] as? [String: String] }
                next = (page["next"] as? String).map { "&after=" + $0 } ?? ""
            } while !next.isEmpty
            #expect(found == order.map(values))
        }
        #expect(try served.json("/api/record/wide/3")["values"] as? [String: String] == values(2))
        for sort in [[], ["--sort", "c1999"]] {
            let fetched = try run([Project.importer, "fetch", store, "wide", "--format", "ndjson"] + sort)
            #expect(fetched.ending == .exit(0), "\(fetched.errorText)")
            let lines = fetched.output.split(separator: UInt8(ascii: "\n"))
            #expect(lines.count == 5)
            let third = try JSONSerialization.jsonObject(with: Data(try #require(lines.dropFirst(2).first)))
            #expect(third as? [String: String] == values(2))
        }
    }

    @Test func aMistakeInAPredicateHasItsPlace() throws {
        let directory = try TemporaryDirectory()
        let served = try ServedStore(Self.store(directory, count: 60))
        let predicate = "name = '𝄞é' and agee > 3"
        let answer = try served.client.ask("/api/records/people?where=" + ServedStore.escaped(predicate))
        #expect(answer.status == 400)
        let error = try #require(answer.json["error"] as? [String: Any])
        #expect(error["code"] as? String == "predicate")
        // In the units of UTF-16 that a page counts in.
        let start = try #require(predicate.utf16.firstRange(of: "agee".utf16)).lowerBound
        #expect(error["offset"] as? Int == predicate.utf16.distance(from: predicate.utf16.startIndex, to: start))
        #expect(error["length"] as? Int == 4)
        #expect((error["advice"] as? String)?.contains("age") == true)
        for query in [
            "sort=", "sort=,", "sort=-", "sort=%22a", "limit=0", "limit=501", "limit=x", "after=x", "after=AAAA",
        ] {
            let answer = try served.client.ask("/api/records/people?\(query)")
            #expect(answer.status == (query == "sort=" ? 200 : 400), "\(query)")
        }
        #expect(try served.client.ask("/api/records/people?sort=nothing").status == 400)
    }

    /// Names are no part of any statement, whatever they are.
    @Test func hostileNamesAreNames() throws {
        let directory = try TemporaryDirectory()
        let entity = #"a/b?c="<script>alert(1)</script>",-x%2F"#
        let attribute = #"-x,"y<img>"#
        let record = try JSONSerialization.data(withJSONObject: [attribute: 1, "plain": "1; DROP TABLE x"])
        let source = try directory.write(record + Data("\n".utf8), to: "source.ndjson")
        let store = directory.path("hostile.sqlite")
        let result = try runImporter("import", source, "--into", store, "--entity", entity, "--quiet")
        try #require(result.ending == .exit(0), "\(result.errorText)")
        let served = try ServedStore(store)
        let entities = try #require(try served.json("/api/entities")["entities"] as? [[String: Any]])
        #expect(entities.first?["name"] as? String == entity)
        let path = ServedStore.escaped(entity)
        let sort = ServedStore.escaped("-\"\(attribute.replacing("\"", with: "\"\""))\"")
        let page = try served.json("/api/records/\(path)?sort=\(sort)&section=\(ServedStore.escaped(attribute))")
        let records = try #require(page["records"] as? [[String: Any]])
        #expect((records.first?["values"] as? [String: Any])?[attribute] as? Int == 1)
        #expect(try served.json("/api/record/\(path)/1")["entity"] as? String == entity)
        #expect(try served.json("/api/distribution/\(path)/\(ServedStore.escaped(attribute))")["count"] as? Int == 1)
        for text in ["x' OR 1 --", "\"; DROP TABLE people", "people WHERE 1", "sqlite_master", "_import_job"] {
            #expect(try served.client.ask("/api/records/\(ServedStore.escaped(text))").status == 404, "\(text)")
        }
    }

    @Test func hiddenValuesAreNowhere() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(
            #"{"id": 1, "secret": "hush4711", "age": 1}\#n{"id": 2, "secret": "hush4712", "age": 2}\#n"#
                + #"{"id": 3, "secret": ["hush4713"], "age": 3}\#n"#,
            to: "source.ndjson"
        )
        let model = try directory.write(
            """
            {"entities": {"people": {"records": "$", "identifier": ["id"], "attributes": {"id": {"type": "integer64"},
            "secret": {"type": "string"}, "age": {"type": "integer16"}}}}}
            """,
            to: "model.json"
        )
        let store = directory.path("secret.sqlite")
        try runImporter("import", source, "--into", store, "--model", model, "--quiet")
        let open = try ServedStore(store)
        let hidden = try ServedStore(store, "--hide-values")
        let paths = [
            "/api/records/people?sort=secret&limit=1", "/api/records/people?section=secret", "/api/record/people/1",
            "/api/distribution/people/secret", "/api/reject/1",
        ]
        let encoded = Data("hush47".utf8).base64EncodedString()
        for path in paths {
            let shown = try open.client.ask(path)
            #expect(shown.status == 200 && shown.text.contains("hush47"), "\(path)")
            let answer = try hidden.client.ask(path)
            #expect(answer.status == 200, "\(path)")
            #expect(!answer.text.contains("hush47") && !answer.text.contains(encoded), "\(path): \(answer.text)")
            #expect(answer.text.contains(#"{"hidden":true}"#) || answer.text.contains(#""hidden":true"#), "\(path)")
        }
        for path in ["/api/rejects", "/api/status", "/api/entities", "/api/jobs", "/api/ledger", "/metrics"] {
            #expect(try !hidden.client.ask(path).text.contains("hush47"), "\(path)")
        }
        // A position has no values in it, and leads on all the same.
        let first = try hidden.json("/api/records/people?sort=secret&limit=1")
        let next = try #require(first["next"] as? String)
        let bytes = Data(
            base64Encoded: next.replacing("-", with: "+").replacing("_", with: "/")
                + String(repeating: "=", count: (4 - next.count % 4) % 4)
        )
        #expect(bytes.map { !$0.contains(UInt8(ascii: "h")) } == true)
        let second = try hidden.json("/api/records/people?sort=secret&limit=1&after=\(next)")
        #expect((second["records"] as? [[String: Any]])?.first?["key"] as? String == "2")
        // A predicate would find them out.
        let answer = try hidden.client.ask("/api/records/people?where=" + ServedStore.escaped("secret = 'hush4711'"))
        #expect(answer.status == 403)
        #expect(try answer.errorCode == "hidden")
    }
}
