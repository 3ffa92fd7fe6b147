import ImportModel
import ImportSources
import Testing

struct SourceKindsTests {
    /// The names of the kinds of sources that each have these keys at these record paths.
    private func names(_ sources: [(path: String, records: [String: String])]) -> [String?] {
        let records = sources.map { source in
            source.records.sorted { $0.key < $1.key }.map { path, keys in
                SourceKinds.Records(
                    path: path,
                    keys: Set(keys.split(separator: " ").map { BytewiseString(String($0)) }),
                    isEmpty: keys.isEmpty
                )
            }
        }
        let descriptions = sources.map { source in
            let parts = source.path.split(separator: ":").map(String.init)
            let member = parts.count > 1 ? parts[1] : nil
            return SourceDescription(name: source.path, path: parts[0], member: member, size: 1, modified: 1)
        }
        return KindNames(of: SourceKinds(of: records), descriptions).names
    }

    @Test(
        arguments: [
            (["events-2024-01-01", "events-2024-01-02"], "events"),
            (["events_2024T01", "events_2024T02"], "events_2024T"),
            (["events-2024-01-01T00", "events-2024-01-01T12"], "events"), (["1842-43", "1911-12"], nil),
            (["ab1", "ab2"], nil),
            (["abc1", "abc2"], "abc"), (["report.1", "report.2"], "report"), (["abc"], "abc"),
        ])
    func namesBeginWithWhatTheyHaveInCommon(names: [String], common: String?) {
        #expect(SourceNames.commonBeginning(of: names) == common)
    }

    @Test func recordsWithHalfOfTheirKeysAreOfOneKind() {
        #expect(
            names([("in/p1", ["$[*]": "id name"]), ("in/o1", ["$[*]": "a b"]), ("in/o2", ["$[*]": "b c d"])]) == [
                "p1", "in",
            ]
        )
        #expect(names([("f/1", ["$[*]": "a b c"]), ("f/2", ["$[*]": "a d e"])]) == ["1", "2"])
        #expect(names([("f/1", ["$[*]": "a b c"]), ("f/2", ["$": "a b c"])]) == ["1", "2"])
        // Each is compared with all that a kind has so far.
        #expect(names([("f/1", ["$": "a b"]), ("f/2", ["$": "b c"]), ("f/3", ["$": "c d"])]) == ["f"])
    }

    @Test func sourcesWithoutRecordsAreOfTheFirstKind() {
        #expect(names([("f/a", ["$[*]": "a"]), ("f/b", ["$[*]": ""]), ("f/c", [:])]) == ["f"])
        #expect(names([("f/a", ["$[*]": ""]), ("f/b", ["$[*]": "a"])]) == ["f"])
    }

    @Test func kindsAreNamedByWhatSaysMost() {
        #expect(names([("1.json", ["$.programs[*]": "a"]), ("2.json", ["$.programs[*]": "a"])]) == ["programs"])
        #expect(names([("d/1.json", ["$.Items[*]": "a"]), ("d/2.json", ["$.Items[*]": "a"])]) == ["d"])
        #expect(names([("x/s.zip:g/1.json", ["$[*]": "a"]), ("x/s.zip:h/2.json", ["$[*]": "a"])]) == ["s"])
        #expect(names([("d/e/1.json", ["$[*]": "a"]), ("d/f/2.json", ["$[*]": "a"])]) == ["d"])
        #expect(names([("dump.json", ["$.users[*]": "a", "$.orders[*]": "b"])]) == ["orders", "users"])
    }

    @Test func kindsOfOneNameAreNumbered() {
        #expect(names([("a/people.json", ["$[*]": "a"]), ("b/People.json", ["$[*]": "b"])]) == ["people", "People_2"])
    }
}
