import Foundation
import ImportModel
import Importer
import Testing

@testable import ImportEngine

/// A record path as the tests write it; keys here need no quotes.
func recordPath(_ text: String) -> RecordPath {
    var steps: [RecordPath.Step] = []
    for part in text.replacingOccurrences(of: "[*]", with: ".[]").split(separator: ".").dropFirst() {
        switch part {
        case "[]": steps.append(.anyElement)
        case "*": steps.append(.anyMember)
        default: steps.append(.key(String(part)))
        }
    }
    return RecordPath(steps: steps)
}

/// What a detection comes to: a layout and its path, or candidates.
enum ExpectedShape: Equatable, CustomStringConvertible {
    case found(SourceShape.Layout, String)
    case ambiguous([String])
    case empty

    var description: String {
        switch self {
        case .found(let layout, let path): "\(layout) \(path)"
        case .ambiguous(let paths): "ambiguous \(paths)"
        case .empty: "empty"
        }
    }

    func matches(_ detection: ShapeDetector.Detection) -> Bool {
        switch (self, detection) {
        case (.found(let layout, let text), .found(let found, let paths, _)):
            found == layout && paths == [recordPath(text)]
        case (.ambiguous(let texts), .ambiguous(let candidates)): candidates.map(\.path) == texts.map(recordPath)
        case (.empty, .empty): true
        default: false
        }
    }
}

struct ShapeDetectorTests {
    static func detect(_ text: String, isWhole: Bool = true) -> ShapeDetector.Detection {
        ShapeDetector(Array(text.utf8), isWhole: isWhole).detection
    }

    static let whole: [(String, ExpectedShape)] = [
        ("", .empty),
        (" \r\n\t \n", .empty),
        ("[]", .found(.stream, "$[*]")),
        ("  [1, 2]\n", .found(.stream, "$[*]")),
        ("[[1],[2]]", .found(.stream, "$[*]")),
        ("{}", .found(.stream, "$")),
        ("1", .found(.stream, "$")),
        ("\"a\\u00e9\"", .found(.stream, "$")),
        ("null\n", .found(.stream, "$")),
        // Lines.
        ("{}\n{}", .found(.lines, "$")),
        ("{\"a\":1}\r\n\r\n{\"a\":2}\r\n", .found(.lines, "$")),
        ("1\n2\n3\n", .found(.lines, "$")),
        ("[1,2]\n[3]\n", .found(.lines, "$")),
        ("[{\"a\":1},{\"a\":2}]\n[]\n[{\"a\":3}]\n", .found(.stream, "$[*]")),
        ("[{\"a\":1}]\n[{\"a\":2}]\n{\"error\":1}\n", .found(.stream, "$[*]")),
        ("[{\"a\":1}]\n{\"a\":2}\n", .found(.lines, "$")),
        ("[]\n[]\n", .found(.lines, "$")),
        ("{\"a\":1}\n", .found(.stream, "$")),
        ("{\"a\":1}\n{\"a\":", .found(.lines, "$")),
        ("{\"a\":1}\n{\"a\":\n{\"a\":3}\n{\"a\":4}\n", .found(.lines, "$")),
        ("oops\n" + String(repeating: "{\"a\":1}\n", count: 20), .found(.lines, "$")),
        ("{\"a\":1}\n{\"a\":2\u{C}}\n{\"a\":3}\n", .found(.lines, "$")),
        ("{\"a\":\u{B}1}\n" + String(repeating: "{\"a\":2}\n", count: 20), .found(.lines, "$")),
        ("{\"a\":1}\n{\"a\":2} \"", .found(.lines, "$")),
        // Not lines.
        ("{\n\"a\": 1\n}\n{\n\"a\": 2\n}\n", .found(.stream, "$")),
        ("[\n1\n]", .found(.stream, "$[*]")),
        ("[\n[1],\n[2],\n[3]\n]\n", .found(.stream, "$[*]")),
        ("[\n{\"a\":1}\n,{\"a\":2}\n]", .found(.stream, "$[*]")),
        ("[{\"a\":1},\n{\"a\":2},\n{\"a\":3}]\n", .found(.stream, "$[*]")),
        ("{}\n[\n1\n]\n", .found(.stream, "$")),
        ("[\n" + String(repeating: "1\n", count: 100) + "]", .found(.stream, "$[*]")),
        ("{\"a\":1}{\"a\":2}\n{\"a\":3}", .found(.stream, "$")),
        // Values one after the other.
        ("{\"a\":1}\n{\"a\":2}\n{\"a\":3}{\"a\":4}", .found(.stream, "$")),
        ("{\"a\":1}\n{\"a\":2}{\"a\":3}\n", .found(.stream, "$")),
        ("{\"a\":1}\n{\"a\":2} {\"a\":", .found(.stream, "$")),
        ("1\n2\n3 4\n\n", .found(.stream, "$")),
        ("{}{}", .found(.stream, "$")),
        ("[][]", .found(.stream, "$")),
        ("[1][2]", .found(.stream, "$")),
        ("[{\"a\":1}][{\"a\":2},{\"a\":3}]", .found(.stream, "$[*]")),
        ("1 2 3", .found(.stream, "$")),
        // Collections in a document.
        ("{\"items\":[{\"a\":1}]}", .found(.stream, "$.items[*]")),
        ("{\"n\":1,\"d\":{\"results\":[{\"a\":1},{\"a\":2}]}}", .found(.stream, "$.d.results[*]")),
        ("{\"a\":{\"b\":{\"c\":[{}]}}}", .found(.stream, "$.a.b.c[*]")),
        ("{\"a\":{\"b\":{\"c\":{\"d\":[{}]}}}}", .found(.stream, "$")),
        ("{\"items\":[1,2,3]}", .found(.stream, "$")),
        ("{\"items\":[]}", .found(.stream, "$.items[*]")),
        ("{\"Items\":[],\"Count\":0,\"next\":null,\"token\":\"\"}", .found(.stream, "$.Items[*]")),
        ("{\"d\":{\"results\":[],\"more\":false},\"errors\":[]}", .found(.stream, "$.d.results[*]")),
        ("{\"name\":\"n\",\"tags\":[]}", .found(.stream, "$")),
        ("{\"tags\":[],\"sizes\":[1]}", .found(.stream, "$")),
        // Rows beside the descriptions of their columns.
        ("{\"meta\":[{\"name\":\"a\"}],\"data\":[[1],[2],[3],[4],[5]]}", .ambiguous(["$.meta[*]", "$.data[*]"])),
        (
            "{\"cols\":[{\"n\":\"a long name\"},{\"n\":\"b\"}],\"rows\":[[1,2]]}",
            .ambiguous(["$.cols[*]", "$.rows[*]"])
        ),
        (
            "{\"meta\":[{\"name\":\"a\",\"type\":\"T\"}],\"data\":[],\"rows\":0}",
            .found(.stream, "$.data[*]")
        ),
        ("{\"items\":[{\"name\":\"a\",\"type\":\"T\"}],\"errors\":[]}", .found(.stream, "$.items[*]")),
        ("{\"rows\":[{\"a\":[1,2,3]}],\"box\":[[1,2],[3,4]]}", .found(.stream, "$.rows[*]")),
        ("{\"items\":[null,{},{}]}", .found(.stream, "$.items[*]")),
        ("{\"i\\u0074ems\":[{}]}", .found(.stream, "$.items[*]")),
        ("{\"x\":{\"id\":1,\"n\":2},\"y\":{\"id\":2,\"n\":3}}", .found(.stream, "$.*")),
        ("{\"v\":1,\"users\":{\"x\":{\"id\":1},\"y\":{\"id\":2}}}", .found(.stream, "$.users.*")),
        ("{\"x\":{\"id\":1,\"c\":[{}]},\"y\":{\"id\":2,\"c\":[{}]}}", .found(.stream, "$.*")),
        ("{\"x\":{\"a\":1},\"y\":{\"b\":1}}", .found(.stream, "$")),
        ("{\"x\":{},\"y\":{}}", .found(.stream, "$")),
        (
            "{\"users\":[{\"u\":1}],\"orders\":[{\"o\":1}]}",
            .ambiguous(["$.users[*]", "$.orders[*]"])
        ),
        (
            "{\"a\":{\"x\":{\"i\":1},\"y\":{\"i\":2}},\"b\":[{}]}",
            .ambiguous(["$.a.*", "$.b[*]"])
        ),
        ("{\"2020-01-01\":[{\"a\":1}],\"2020-01-02\":[{\"a\":2}]}", .found(.stream, "$.*[*]")),
        ("{\"2020-01-01\":[{\"a\":1}]}", .found(.stream, "$.*[*]")),
        ("{\"v\":1,\"2020-01-01\":[{\"a\":1}],\"2020-01-02\":[]}", .found(.stream, "$.*[*]")),
        ("{\"2020-01\":[{\"a\":1}],\"2020-02\":[{\"a\":1}]}", .found(.stream, "$.*[*]")),
        ("{\"7\":[{\"a\":1}],\"8\":[],\"9\":[{\"a\":2}]}", .found(.stream, "$.*[*]")),
        (
            "{\"p\":[{\"id\":1,\"n\":1}],\"o\":[{\"id\":1,\"n\":1}],\"m\":[{\"p\":1,\"o\":1}]}",
            .ambiguous(["$.p[*]", "$.o[*]", "$.m[*]"])
        ),
        (
            "{\"objects\":{\"s\":{\"geometries\":[{\"id\":1}]}},\"arcs\":[[[1,2],[3,4]],[[5,6],[7,8]],[[9,9],[8,8]]]}",
            .found(.stream, "$.objects.s.geometries[*]")
        ),
        (
            "{\"_links\":{\"self\":{\"href\":1},\"next\":{\"href\":2}},\"_embedded\":{\"orders\":[{\"n\":1}]}}",
            .found(.stream, "$._embedded.orders[*]")
        ),
        ("{\"2020\":[{\"a\":1}],\"2021\":[{\"a\":2}],\"2022\":[{\"a\":3}]}", .found(.stream, "$.*[*]")),
        (
            "{\"links\":[{}],\"rows\":[" + String(repeating: "{\"a\":1},", count: 100) + "{}]}",
            .found(.stream, "$.rows[*]")
        ),
        // Faults: what was seen before them counts.
        ("{\"a\" 1}", .found(.stream, "$")),
        ("{\"items\":[{\"a\":1},{\"a\":oops", .found(.stream, "$.items[*]")),
        ("[1,2", .found(.stream, "$[*]")),
        ("oops", .found(.stream, "$")),
        ("]", .found(.stream, "$")),
        ("{\"a\":1}}", .found(.stream, "$")),
    ]

    @Test(arguments: whole) func detectsAWholeSource(text: String, expected: ExpectedShape) {
        let detection = Self.detect(text)
        #expect(expected.matches(detection), "\(detection)")
    }

    static let beginnings: [(String, ExpectedShape)] = [
        ("   ", .found(.stream, "$")),
        ("", .found(.stream, "$")),
        ("12", .found(.stream, "$")),
        ("[{\"a\":1},{\"a", .found(.stream, "$[*]")),
        ("{\"a\":1}\n{\"a\":", .found(.lines, "$")),
        ("{\"items\":[{\"a\":1},{\"a", .found(.stream, "$.items[*]")),
        ("{\"x\":{\"id\":1,\"n\":2},\"y\":{\"id\":2", .found(.stream, "$.*")),
        ("{\"x\":{\"id\":1,\"n\":2},\"y\"", .found(.stream, "$")),
        ("[{\"a\":1}][", .found(.stream, "$[*]")),
    ]

    @Test(arguments: beginnings) func detectsFromTheBeginningAlone(text: String, expected: ExpectedShape) {
        let detection = Self.detect(text, isWhole: false)
        #expect(expected.matches(detection), "\(detection)")
    }

    @Test func givesEachCandidateItsKindAndCount() throws {
        let detection = Self.detect("{\"a\":{\"x\":{\"i\":1},\"y\":{\"i\":2}},\"b\":[{},{},{", isWhole: false)
        guard case .ambiguous(let candidates) = detection else {
            Issue.record("\(detection)")
            return
        }
        #expect(candidates.map(\.words) == ["2 objects by key", "array of 3 or more objects"])
    }

    @Test func looksIntoNoDictionaryOfUnlikeObjects() {
        let members = (0..<20).map { "\"k\($0)\":{\"x\($0)\":[{}]}" }.joined(separator: ",")
        #expect(ExpectedShape.found(.stream, "$").matches(Self.detect("{\(members)}")))
    }

    @Test func survivesDepthAndLength() {
        #expect(
            ExpectedShape.found(.stream, "$[*]").matches(Self.detect(String(repeating: "[", count: 100_000)))
        )
        #expect(
            ExpectedShape.found(.stream, "$").matches(Self.detect(String(repeating: "{\"a\":", count: 100_000)))
        )
        let key = String(repeating: "k", count: 10_000)
        #expect(ExpectedShape.found(.stream, "$.\(key)[*]").matches(Self.detect("{\"\(key)\":[{}]}")))
    }

    @Test func everyPrefixIsDetectedAsSomething() {
        let text = "{\"a\":{\"x\":{\"i\":1.5e3},\"y\":{\"i\":\"\\u00e9\"}},\"b\":[{},null,true]}\n[1]\n"
        for count in 0...text.utf8.count {
            let sample = Array(text.utf8.prefix(count))
            #expect(ShapeDetector(sample, isWhole: false).detection != .empty)
        }
    }

    /// What is known of a source besides its bytes decides.
    static let hinted: [(String, ShapeDetector.Hints, ExpectedShape)] = {
        var lines = ShapeDetector.Hints()
        lines.areLinesNamed = true
        func known(_ paths: String..., keys: String...) -> ShapeDetector.Hints {
            ShapeDetector.Hints(paths: paths.map(recordPath), keys: Set(keys.map { BytewiseString($0) }))
        }
        return [
            ("{\"id\":1,\"lines\":[{\"x\":1},{\"x\":2}]}\n", lines, .found(.lines, "$")),
            ("{\"id\":1,\"lines\":[{\"x\":1}]}", lines, .found(.lines, "$")),
            ("{\"id\":1,\n\"lines\":[{\"x\":1}]\n}\n", lines, .found(.stream, "$")),
            ("{\"Items\":[],\"Count\":0}\n", lines, .found(.lines, "$")),
            ("[{\"x\":1},{\"x\":2}]\n", lines, .found(.stream, "$[*]")),
            ("{\"a\":{\"i\":1},\"b\":{\"i\":2}}\n", lines, .found(.lines, "$")),
            // The record path of other sources, also where nothing is there.
            ("{\"name\":\"n\",\"items\":[]}", known("$.items[*]", keys: "n"), .found(.stream, "$.items[*]")),
            ("{\"items\":{}}", known("$.items[*]", keys: "n"), .found(.stream, "$.items[*]")),
            ("{\"items\":[]}", known("$.items.*", keys: "n"), .found(.stream, "$.items.*")),
            ("{\"kind\":\"L\",\"items\":null}", known("$.items[*]", keys: "kind"), .found(.stream, "$.items[*]")),
            ("{\"a\":{\"n\":1}}", known("$.*", keys: "n"), .found(.stream, "$.*")),
            ("{}", known("$.*", keys: "n"), .found(.stream, "$.*")),
            ("{}", known("$.a[*]", keys: "n"), .found(.stream, "$.a[*]")),
            ("{}", known("$", "$.a[*]", keys: "n"), .found(.stream, "$")),
            ("{\"items\":[{\"n\":1}],\"more\":[{\"m\":1}]}", known("$.items[*]"), .found(.stream, "$.items[*]")),
            ("{\"no\":\"C\",\"lines\":[{\"s\":1}]}", known("$", keys: "no", "lines"), .found(.stream, "$")),
            ("{\"no\":1}\n{\"no\":2}", known("$", keys: "no"), .found(.lines, "$")),
            // It leads nowhere, or to something else.
            ("{\"rows\":[{\"n\":1}]}", known("$.items[*]", keys: "n"), .found(.stream, "$.rows[*]")),
            ("{\"items\":[{\"n\":1}],\"total\":1}", known("$.*", keys: "n"), .found(.stream, "$.items[*]")),
            ("{\"items\":[{\"n\":1}],\"total\":1}", known("$", keys: "n"), .found(.stream, "$.items[*]")),
            ("[{\"n\":1}]", known("$", keys: "n"), .found(.stream, "$[*]")),
            ("[{\"n\":1}]", known("$.items[*]", keys: "n"), .found(.stream, "$[*]")),
        ]
    }()

    @Test(arguments: hinted.indices) func readsASourceAsOthersOfItsEntityAre(_ index: Int) {
        let (text, hints, expected) = Self.hinted[index]
        let detection = ShapeDetector(Array(text.utf8), isWhole: true, hints: hints).detection
        #expect(expected.matches(detection), "\(text): \(detection)")
    }

    @Test func aPathThatIsAskedForHoldsForEachValue() {
        func layout(_ text: String, _ paths: String...) -> SourceShape.Layout {
            SourceShape(asked: paths.map(recordPath), found: Self.detect(text)).layout
        }
        #expect(layout("[][]", "$[*]") == .stream)
        #expect(layout("[][]", "$") == .stream)
        #expect(layout("{}\n{}", "$") == .lines)
        #expect(layout("{\"a\":[{}]}\n{\"a\":[{}]}", "$.a[*]") == .stream)
    }
}
