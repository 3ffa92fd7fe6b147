import Foundation
import TestSupport
import Testing

/// What the chunks hold, for every shape of source, whatever size they are closed at.
struct GoldenSplitTests {
    /// A source, how it is asked for, and the lines that its chunks must hold.
    struct Golden: Sendable, CustomTestStringConvertible {
        let name: String
        let source: String
        var options: [String] = []
        let lines: [String]

        var testDescription: String { name }
    }

    static let goldens: [Golden] = [
        Golden(
            name: "array",
            source: #"[{"a":1},{"a":2} , {"a":3}]"#,
            lines: [#"{"a":1}"#, #"{"a":2}"#, #"{"a":3}"#]
        ),
        Golden(
            name: "array over lines",
            source: "[\n  {\n    \"a\": 1,\n    \"b\": [1,\n2]\n  },\n  {\"a\":\t2}\n]\n",
            lines: ["{     \"a\": 1,     \"b\": [1, 2]   }", "{\"a\":\t2}"]
        ),
        Golden(
            name: "array of anything",
            source: #"[1,"two",[3],{"four":4},true,null,-5e-1]"#,
            options: ["--records", "$[*]"],
            lines: ["1", #""two""#, "[3]", #"{"four":4}"#, "true", "null", "-5e-1"]
        ),
        Golden(
            name: "bytes as they are",
            source: #"[{"a":"\u00e9\/\"}\n ]","b":1.50E+2,"c":"é\\"},{"\u0061":"]"}]"#,
            lines: [#"{"a":"\u00e9\/\"}\n ]","b":1.50E+2,"c":"é\\"}"#, #"{"\u0061":"]"}"#]
        ),
        Golden(
            name: "NDJSON",
            source: "{\"a\":1}\n{\"a\":2}\n{\"a\":[{\"b\":3}]}\n",
            lines: [#"{"a":1}"#, #"{"a":2}"#, #"{"a":[{"b":3}]}"#]
        ),
        Golden(
            name: "NDJSON without a last line break",
            source: "{\"a\":1}\n  {\"a\":2}  \n\n{\"a\":3}",
            lines: [#"{"a":1}"#, #"{"a":2}"#, #"{"a":3}"#]
        ),
        Golden(
            name: "NDJSON with a byte order mark",
            source: "\u{FEFF}{\"a\":1}\n{\"a\":2}\n",
            lines: [#"{"a":1}"#, #"{"a":2}"#]
        ),
        Golden(
            name: "array with a byte order mark",
            source: "\u{FEFF}[{\"a\":1},{\"a\":2}]",
            lines: [#"{"a":1}"#, #"{"a":2}"#]
        ),
        Golden(
            name: "concatenated",
            source: #"{"a":1}{"a":"}{"}{"a":3}"#,
            options: ["--records", "$"],
            lines: [#"{"a":1}"#, #"{"a":"}{"}"#, #"{"a":3}"#]
        ),
        Golden(
            name: "concatenated over lines",
            source: "{\n\"a\":1\n}\n{\n\"a\":2\n}",
            options: ["--records", "$"],
            lines: [#"{ "a":1 }"#, #"{ "a":2 }"#]
        ),
        Golden(
            name: "path in a document",
            source:
                #"{"type":"F","meta":{"features":[9]},"features":[{"id":1,"features":[2]},{"id":3}],"z":[{"id":4}]}"#,
            options: ["--records", "$.features[*]"],
            lines: [#"{"id":1,"features":[2]}"#, #"{"id":3}"#]
        ),
        Golden(
            name: "path found by itself",
            source: #"{"count":2,"items":[{"id":1},{"id":3}]}"#,
            lines: [#"{"id":1}"#, #"{"id":3}"#]
        ),
        Golden(
            name: "several collections",
            source: #"{"users":[{"u":1},{"u":2}],"noise":{"users":[0]},"orders":[{"o":1},{"o":2}]}"#,
            options: ["--records", "$.users[*]", "--records", "$.orders[*]"],
            lines: [#"{"u":1}"#, #"{"u":2}"#, #"{"o":1}"#, #"{"o":2}"#]
        ),
        Golden(
            name: "several collections, asked for the other way round",
            source: #"{"users":[{"u":1}],"orders":[{"o":1}]}"#,
            options: ["--records", "$.orders[*]", "--records", "$.users[*]"],
            lines: [#"{"u":1}"#, #"{"o":1}"#]
        ),
        Golden(
            name: "keyed",
            source: #"{"x":{"a":1}, "y\"\u0041" : {"a":2},"":{"a":3}}"#,
            options: ["--records", "$.*"],
            lines: [#"{"x":{"a":1}}"#, #"{"y\"\u0041" : {"a":2}}"#, #"{"":{"a":3}}"#]
        ),
        Golden(
            name: "keyed in a document",
            source: #"{"v":1,"users":{"x":{"a":1},"y":5}}"#,
            options: ["--records", "$.users.*"],
            lines: [#"{"x":{"a":1}}"#, #"{"y":5}"#]
        ),
        Golden(
            name: "arrays by key",
            source: #"{"x":[{"a":1},{"a":2}], "y\"\u0041" : [3],"":[]}"#,
            options: ["--records", "$.*[*]"],
            lines: [#"{"x":{"a":1}}"#, #"{"x":{"a":2}}"#, #"{"y\"\u0041":3}"#]
        ),
        Golden(
            name: "keyed in keyed",
            source: #"{"v":1,"users":{"x":{"p" : {"a":1},"q":2},"y":{"p":3}}}"#,
            options: ["--records", "$.users.*.*"],
            lines: [#"{"x":{"p" : {"a":1}}}"#, #"{"x":{"q":2}}"#, #"{"y":{"p":3}}"#]
        ),
        Golden(
            name: "path with a quoted key",
            source: #"{"639-3":[{"a":1},{"a":2}],"a.b":[{"c":1}]}"#,
            options: ["--records", "$['639-3'][*]"],
            lines: [#"{"a":1}"#, #"{"a":2}"#]
        ),
        Golden(
            name: "arrays in an array",
            source: #"{"groups":[{"m":[1,2]},{"m":[]},{"m":[3]}]}"#,
            options: ["--records", "$.groups[*].m[*]"],
            lines: ["1", "2", "3"]
        ),
        Golden(
            name: "single object",
            source: " {\"a\": 1, \"b\": {\"c\": [1]}} ",
            options: ["--records", "$"],
            lines: [#"{"a": 1, "b": {"c": [1]}}"#]
        ),
        Golden(name: "scalar", source: "42", options: ["--records", "$"], lines: ["42"]),
        Golden(name: "string", source: #""a]b""#, options: ["--records", "$"], lines: [#""a]b""#]),
        Golden(
            name: "scalars on lines",
            source: "1\n\"x\"\nnull\n",
            options: ["--records", "$"],
            lines: ["1", "\"x\"", "null"]
        ),
        Golden(name: "empty array", source: "[]", lines: []),
        Golden(name: "empty array with white space", source: " [ \n ] \n", lines: []),
    ]

    @Test(arguments: goldens, ["1", "9", "8M"])
    func holdsTheSourcesOwnBytes(_ golden: Golden, chunkSize: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(golden.source, to: "source.json")
        let split = try SplitResult(source, chunkSize: chunkSize, options: golden.options)
        #expect(split.ending == .exit(0), "\(split.messages)")
        #expect(split.records == golden.lines)
        #expect(split.chunks.map(\.number) == Array(1..<split.chunks.count + 1))
        #expect(split.chunks.reduce(0) { $0 + $1.records } == golden.lines.count)
        #expect(split.chunks.last?.isLast == true)
        if chunkSize == "1" { #expect(split.lines.allSatisfy { $0.count == 1 }) }
        if chunkSize == "8M" { #expect(split.lines.count <= 1) }
    }

    /// Every record's position follows from the manifest's gaps, and the source has the record's bytes there.
    @Test(arguments: ["1", "100", "8M"])
    func mapsEveryPositionBackToItsSource(chunkSize: String) throws {
        let directory = try TemporaryDirectory()
        let pretty = Samples.people(count: 50, seed: 3).pretty
        let text = "\u{FEFF}{\"before\": [1, {\"people\": 2}],\r\n \"people\": \(pretty),\n\"after\": null}\n"
        let source = try directory.write(text, to: "source.json")
        let bytes = Data(text.utf8)
        let split = try SplitResult(source, chunkSize: chunkSize, options: ["--records", "$.people[*]"])
        #expect(split.ending == .exit(0), "\(split.messages)")
        #expect(split.records.count == 50)

        let lineBreaks: Set<UInt8> = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
        let spaced = Data(bytes.map { lineBreaks.contains($0) ? UInt8(ascii: " ") : $0 })
        var ordinal = 1
        // The first chunk begins after the byte order mark.
        var end = 3
        for (chunk, lines) in zip(split.chunks.filter { $0.records > 0 }, split.lines) {
            #expect(chunk.firstByte == end)
            #expect(chunk.firstOrdinal == ordinal)
            var position = chunk.firstByte
            let gaps = chunk.gaps.flatMap { Array(repeating: $0[1], count: $0[0]) }
            #expect(gaps.count == lines.count)
            for (gap, line) in zip(gaps, lines) {
                position += gap
                let original = spaced[min(position, spaced.count)..<min(position + line.count, spaced.count)]
                #expect(Data(line.map { lineBreaks.contains($0) ? UInt8(ascii: " ") : $0 }) == original)
                position += line.count
            }
            #expect(chunk.endByte >= position)
            ordinal += chunk.records
            end = chunk.endByte
        }
    }

    @Test(arguments: ["gzip", "bzip2", "xz", "zstd"])
    func readsThroughCompression(program: String) throws {
        let directory = try TemporaryDirectory()
        let text = Samples.people(count: 2_000, seed: 4).ndjson
        let source = try directory.write(text, to: "people.ndjson")
        guard case .exit(0) = try run(["/bin/sh", "-c", "command -v \(program)"]).ending else { return }
        let packed = directory.path("people.packed")
        try run(["/bin/sh", "-c", "\(program) -c '\(source)' > '\(packed)'"])
        let plain = try SplitResult(source, chunkSize: "64K")
        let unpacked = try SplitResult(packed, chunkSize: "64K")
        #expect(unpacked.ending == .exit(0), "\(unpacked.messages)")
        #expect(unpacked.lines == plain.lines)
    }

    @Test func readsAMemberOfAnArchive() throws {
        let directory = try TemporaryDirectory()
        let text = Samples.people(count: 500, seed: 5).array
        let source = try directory.write(text, to: "people.json")
        let packed = directory.path("people.tar.gz")
        try run(["/bin/sh", "-c", "cd '\(directory.path)' && tar -czf people.tar.gz people.json"])
        let unpacked = try SplitResult(packed)
        #expect(unpacked.ending == .exit(0), "\(unpacked.messages)")
        #expect(try unpacked.lines == SplitResult(source).lines)
    }

    @Test func cutsEachCollectionOfADocument() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(
            #"{"users":[{"a":1},{"a":2}],"orders":[{"b":1},{"b":2}]}"#,
            to: "source.json"
        )
        let split = try SplitResult(source)
        #expect(split.ending == .exit(0), "\(split.messages)")
    }

    @Test func keepsItsDirectoryPrivate() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"a\":1}]", to: "source.json")
        try runImporter("split", source, "--to", directory.path("chunks"))
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: directory.path(path))[.posixPermissions] as? Int
        }
        #expect(try mode("chunks") == 0o700)
        #expect(try mode("chunks/chunk-000001.ndjson") == 0o600)
        #expect(try mode("chunks/manifest.ndjson") == 0o600)
    }
}
