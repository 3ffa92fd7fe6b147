import Foundation
import TestSupport
import Testing

/// Where a record is in its source: its own bytes and line, or the chunk that it is in.
struct ServePlaceTests {
    private static let attributes = #""n": {"type": "integer32"}, "name": {"type": "string", "from": ["is.called"]}"#
    private static let plain = #"{"entities": {"people": {"attributes": {\#(attributes)}}}}"#
    private static let named = #"{"entities": {"people": {"identifier": ["name"], "attributes": {\#(attributes)}}}}"#
    private static let numbered = #"{"entities": {"people": {"identifier": ["n"], "attributes": {\#(attributes)}}}}"#

    /// Every seventh does not fit.
    private static func record(_ index: Int) -> String {
        let number = index % 7 == 3 ? "\"none\"" : "\(index)"
        return "{\"n\": \(number), \"is\": {\"called\": \"Zoë \\\"\(index)\\\" ]}\",\n \"as\": [\(index), {}]}}"
    }

    private static let elements = (0..<200).map(record)
    /// The second half has the identifiers of the first.
    private static let twice = elements + elements
    private static let lines = elements.map { $0.replacing("\n", with: "") }
    private static let document =
        #"{"about": {"items": [1, "]"]}, "it\u0065ms": [\#(elements.joined(separator: " ,\n\n"))], "end": [{"n": 1}]}"#

    private static let sources: [(text: String, name: String, model: String, options: [String])] = [
        ("\n \n" + lines.joined(separator: " \r\n\n") + "\n", "people.ndjson", plain, []),
        (lines.joined(separator: "\n"), "people.ndjson", numbered, []),
        ("\u{FEFF}" + document, "people.json", plain, ["--records", "$.items[*]"]),
        (document, "people.json", named, ["--records", "$.items[*]"]),
        ("[" + twice.joined(separator: ",\n") + "]", "people.json", named, []),
        (elements.joined(separator: "\n\n"), "people.json", numbered, ["--records", "$"]),
    ]

    private func store(
        _ directory: TemporaryDirectory,
        _ source: String,
        _ model: String,
        _ options: [String] = []
    ) throws -> String {
        let store = directory.path("people.sqlite")
        let model = try directory.write(model, to: "model.json")
        let command = [
            Project.importer, "import", source, "--into", store, "--model", model, "--entity", "people", "--chunk-size",
            "2K", "--quiet",
        ]
        let result = try run(command + options)
        guard result.ending == .exit(0) else { throw StoreContent.Failure(result.errorText) }
        return store
    }

    private func origin(_ served: ServedStore, _ key: Int, _ query: String = "") throws -> [String: Any] {
        try #require(try served.json("/api/record/people/\(key)\(query)")["origin"] as? [String: Any])
    }

    @Test(arguments: sources.indices)
    func aRecordsOwnBytesAreFound(index: Int) throws {
        let (text, name, model, options) = Self.sources[index]
        let directory = try TemporaryDirectory()
        let source = try directory.write(text, to: name)
        let store = try store(directory, source, model, options)
        let served = try ServedStore(store)
        let rows = try StoreContent.query(store, "SELECT rowid, n FROM people ORDER BY 1").split(separator: "\n")
        #expect(rows.count == (0..<200).count { $0 % 7 != 3 })
        let bytes = Array(text.utf8)
        for row in [rows[0], rows[1], rows[2], rows[3], rows[40], rows[100], rows[169], rows[170]] {
            let numbers = row.split(separator: "|").compactMap { Int($0) }
            let origin = try origin(served, numbers[0])
            #expect(origin["range"] as? String == "record")
            let first = try #require(origin["first_byte"] as? Int)
            let end = try #require(origin["end_byte"] as? Int)
            let found = try #require(
                try JSONSerialization.jsonObject(with: Data(bytes[first..<end])) as? [String: Any],
                "\(String(decoding: bytes[first..<end], as: UTF8.self))"
            )
            #expect(found["n"] as? Int == numbers[1])
            #expect(origin["line"] as? Int == bytes[..<first].count { $0 == 0x0A } + 1)
            // Of two with the same identifier, the first was inserted.
            #expect(first < bytes.count / (index == 4 ? 2 : 1) + 1)
        }
        #expect(try origin(served, 1, "?place=no")["range"] as? String != "record")
    }

    /// A later chunk has the row's identifier, too, among others around it.
    @Test func whatHasOnlyChangedARowIsNotItsRecord() throws {
        let directory = try TemporaryDirectory()
        let numbers = Array(1...10) + [500] + Array(11...600)
        let lines = numbers.map { "{\"n\": \($0), \"is\": {\"called\": \"\($0)\"}}" }
        let source = try directory.write(lines.joined(separator: "\n"), to: "people.ndjson")
        let served = try ServedStore(try store(directory, source, Self.numbered, ["--commit-every", "5"]))
        let place = lines[..<10].reduce(0) { $0 + $1.utf8.count + 1 }
        let origin = try origin(served, 500)
        #expect(origin["range"] as? String != "record" || origin["first_byte"] as? Int == place, "\(origin)")
        #expect(try self.origin(served, 400)["range"] as? String == "record")
    }

    @Test func aCompressedSourceIsReadAgain() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.lines.joined(separator: "\n"), to: "people.ndjson")
        #expect(try run(["gzip", source]).ending == .exit(0))
        let served = try ServedStore(try store(directory, source + ".gz", Self.plain))
        let first = Self.lines[..<100].reduce(0) { $0 + $1.utf8.count + 1 }
        let origin = try origin(served, 100 - (0..<100).count { $0 % 7 == 3 } + 1)
        #expect(origin["first_byte"] as? Int == first && origin["line"] as? Int == 101)
    }

    /// Where what is in the chunk is not enough, or the source has changed, it is said what the chunk has.
    @Test func elseTheChunkIsSaid() throws {
        let directory = try TemporaryDirectory()
        let members = (1...200).map { "\"k\($0)\": {\"n\": \($0), \"is\": {\"called\": \"\($0)\"}}" }
        let keyed = try directory.write("{\(members.joined(separator: ", "))}", to: "keyed.json")
        let served = try ServedStore(try store(directory, keyed, Self.plain, ["--records", "$.*"]))
        #expect(try origin(served, 100)["range"] as? String == "chunk")
        let other = try TemporaryDirectory()
        let text = (1...200).map { "{\"n\": \($0), \"is\": {\"called\": \"\($0)\"}}\n" }.joined()
        let source = try other.write(text, to: "people.ndjson")
        let changed = try ServedStore(try store(other, source, Self.plain))
        #expect(try origin(changed, 100)["range"] as? String == "record")
        try Data(text.replacing("called\": \"100\"", with: "called\": \"010\"").utf8).write(to: URL(filePath: source))
        let origin = try origin(changed, 100)
        #expect(origin["range"] as? String == "chunk" && origin["line"] == nil)
        #expect(origin["first_byte"] as? Int ?? 0 < origin["end_byte"] as? Int ?? 0)
    }
}
