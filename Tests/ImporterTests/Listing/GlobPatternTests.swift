import ImportSources
import Testing

struct GlobPatternTests {
    @Test(
        arguments: [
            ("*.json", "a.json", true), ("*.json", "sub/a.json", true), ("*.json", ".a.json", false),
            (".*.json", ".a.json", true), ("a?.json", "ab.json", true), ("a?.json", "a.json", false),
            ("a?", "aé", true), ("[a-c]x", "bx", true), ("[a-c]x", "dx", false), ("[!a-c]x", "dx", true),
            ("[^a]x", "ax", false), ("[]a]x", "]x", true), ("[a", "[a", true), ("{a,b{c,d}}.json", "bd.json", true),
            ("{a,b}.json", "c.json", false), ("{a}.json", "{a}.json", true), ("\\*.json", "*.json", true),
            ("\\*.json", "a.json", false), ("a*b*c", "aXbYbZc", true), ("a*b*c", "aXbY", false),
            ("**.json", "a.json", true),
            ("sub/*.json", "sub/a.json", true), ("sub/*.json", "a/sub/a.json", false), ("**/a.json", "a.json", true),
            ("**/a.json", "x/y/a.json", true), ("x/**/a.json", "x/a.json", true), ("x/**", "x/y/z", true),
            ("x/**", "x/.y/z", false), ("*/a", "b/c/a", false), ("a/{b,c/d}/e", "a/c/d/e", true),
        ])
    func matchesNamesAndPaths(pattern: String, path: String, isMatched: Bool) {
        #expect(GlobPattern(pattern).matches(path: path) == isMatched)
    }

    @Test(arguments: [
        ("a.json", false), ("a{b.json", false), ("{a}", false), ("{a,b}", true), ("a*", true), ("[a]", true),
    ])
    func knowsWhatIsAPattern(text: String, isPattern: Bool) {
        #expect(GlobPattern.isPattern(text) == isPattern)
    }

    @Test func manyBracesAreNotTriedAll() {
        #expect(!GlobPattern(String(repeating: "{a,b}", count: 200)).matches(path: "a"))
    }

    @Test(
        arguments: [
            ("a.json", true), ("A.JSON.GZ", true), ("a.ndjson.zst", true), ("a.har", true), ("a.json-seq", true),
            ("a.txt", false), ("json", false), ("a.json.zip", false), ("a.gz", false),
        ])
    func knowsDataFilesByTheirNames(name: String, isDataFile: Bool) {
        #expect(SourceSelection.isDataFile(name) == isDataFile)
    }
}
