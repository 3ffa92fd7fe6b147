import Foundation
import TestSupport
import Testing

/// `importer diff --format html`, read with Python's parser.
struct DiffPageTests {
    private struct Page: Decodable {
        struct Item: Decodable, Equatable {
            let kind: String
            let depth: Int
            let title: String

            init(_ kind: String, _ depth: Int, _ title: String) {
                (self.kind, self.depth, self.title) = (kind, depth, title)
            }

            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                kind = try container.decode(String.self)
                depth = try container.decode(Int.self)
                title = try container.decode(String.self)
            }
        }

        let items: [Item]
        let texts: [String]
        let nav: String
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func make(_ name: String, _ sql: String) throws {
        try StoreContent.execute(directory.path(name), sql)
    }

    /// The page, which must be sound.
    private func page(_ arguments: String...) throws -> Page {
        let file = directory.path("page.html")
        let result = try run(
            [Project.importer, "diff", directory.path("a.db"), directory.path("b.db"), "--output", file, "--force"]
                + arguments
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let checked = try Python.run("difference_page.py", [file])
        #expect(checked.ending == .exit(0), "\(checked.errorText)")
        return try JSONDecoder().decode(Page.self, from: checked.output)
    }

    @Test func hasCountsAndChangesWithWhatTheyOwn() throws {
        let schema = """
            CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE pet(id INTEGER PRIMARY KEY, name TEXT, owner INTEGER REFERENCES person(id) ON DELETE CASCADE);
            """
        try make("a.db", schema + "INSERT INTO person VALUES(1,'Ada'),(2,'Bo'); INSERT INTO pet VALUES(5,'Rex',1);")
        try make("b.db", schema + "INSERT INTO person VALUES(1,'Eva'),(3,'Cy'); INSERT INTO pet VALUES(5,'Tom',1);")
        let page = try page()
        #expect(
            page.items == [
                .init("updated", 0, "~ person id 1"), .init("updated", 1, "~ pet id 5"),
                .init("deleted", 0, "− person id 2"), .init("inserted", 0, "+ person id 3"),
            ]
        )
        for text in ["'Ada'", "'Eva'", "'Rex'", "'Tom'"] { #expect(page.texts.contains(text)) }
        #expect(page.nav.contains("2 → 2"))
        #expect(page.nav.contains("unchanged0"))
    }

    @Test func namesAndValuesAreTextAndNothingElse() throws {
        let hostile = [
            "<script>alert(1)</script>", "</td></li></ol></main><img src=x onerror=alert(1)>",
            "'\"><a href=javascript:1>", "<!--", "]]>", "&lt;b&gt; &amp; &#60;", "</title></style></script>",
            "<\u{338}/script>", "\"\u{301} onclick=x", "a\u{1B}[31mb", "a\u{202E}b", "line\nbreak", "\u{FEFF}<b>",
        ]
        // By scalars: a quote with a combining mark behind it is another character, but a quote for SQLite.
        func doubled(_ quote: Unicode.Scalar, _ text: String) -> String {
            let scalars = text.unicodeScalars.flatMap { $0 == quote ? [$0, $0] : [$0] }
            return "\(quote)\(String(String.UnicodeScalarView(scalars)))\(quote)"
        }
        func quoted(_ text: String) -> String { doubled("'", text) }
        func name(_ text: String) -> String { doubled("\"", text) }
        let table = hostile[1]
        let columns = hostile.indices.map { "\(name(hostile[$0])) TEXT" }.joined(separator: ", ")
        try make("a.db", "CREATE TABLE \(name(table))(\"<i>\" TEXT PRIMARY KEY NOT NULL, \(columns))")
        try make("b.db", "CREATE TABLE \(name(table))(\"<i>\" TEXT PRIMARY KEY NOT NULL, \(columns))")
        let values = hostile.map(quoted).joined(separator: ", ")
        try make("b.db", "INSERT INTO \(name(table)) VALUES(\(quoted(hostile[0])), \(values))")
        let page = try page()
        #expect(page.items == [.init("inserted", 0, "+ \(table) <i> \(hostile[0])")])
        // Two have characters that are shown as escapes.
        let shown = hostile.map {
            $0.replacing("\u{1B}", with: "\\u{1B}").replacing("\u{202E}", with: "\\u{202E}")
        }
        for text in shown {
            #expect(page.texts.contains("'\(text)'"), "\(text)")
            #expect(page.texts.contains(text.replacing("\n", with: "\\n")), "\(text)")
        }
    }

    @Test func hasAtMostSoManyObjects() throws {
        let schema = """
            CREATE TABLE p(id INTEGER PRIMARY KEY);
            CREATE TABLE c(id INTEGER PRIMARY KEY, p INTEGER REFERENCES p(id) ON DELETE CASCADE);
            """
        try make("a.db", schema)
        try make("b.db", schema + "INSERT INTO p VALUES(1),(2); INSERT INTO c VALUES(1,1),(2,1),(3,1),(4,2);")
        let path = directory.path("page.html")
        for (limit, depths, rest) in [
            (2, [0, 1], "4 more"), (5, [0, 1, 1, 1, 0], "1 more"), (6, [0, 1, 1, 1, 0, 1], ""),
        ] {
            #expect(try page("--limit", "\(limit)").items.map(\.depth) == depths)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(rest.isEmpty ? !text.contains("… and") : text.contains("… and \(rest) object"))
        }
        try make(
            "b.db",
            "WITH n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n LIMIT 10500) INSERT INTO p SELECT i FROM n"
        )
        #expect(try page().items.count == 10_000)
    }

    /// A long value and a long list are cut, so that what they take does not grow with them.
    @Test func cutsWhatIsLong() throws {
        try make("a.db", "CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
        try make(
            "b.db",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES(1, printf('%.*c', 9999999, 'x'))"
        )
        #expect(try page().texts.contains("'" + String(repeating: "x", count: 1_999) + "…'"))
    }

    @Test func saysWhereNothingDiffers() throws {
        for name in ["a.db", "b.db"] { try make(name, "CREATE TABLE t(id INTEGER PRIMARY KEY)") }
        #expect(try page().items.isEmpty)
        #expect(try String(contentsOfFile: directory.path("page.html"), encoding: .utf8).contains("Nothing differs."))
    }

    @Test func memoryDoesNotGrowWithChanges() throws {
        try make("a.db", "CREATE TABLE t(id INTEGER PRIMARY KEY, v)")
        var peaks: [Int] = []
        for count in [20_000, 200_000] {
            let new = directory.path("\(count).db")
            try StoreContent.execute(
                new,
                """
                CREATE TABLE t(id INTEGER PRIMARY KEY, v);
                WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT \(count)) INSERT INTO t SELECT i, 'value' FROM n
                """
            )
            peaks.append(
                try peakMemory(of: [Project.importer, "diff", directory.path("a.db"), new, "--format", "html"])
            )
        }
        #expect(peaks[1] < peaks[0] + 8 << 20, "\(peaks)")
    }

    @Test func everyKindHasAColourOfItsOwnInLightAndDark() throws {
        try make("a.db", "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES(1)")
        try make("b.db", "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES(2)")
        _ = try page()
        let text = try String(contentsOfFile: directory.path("page.html"), encoding: .utf8)
        let parts = text.split(separator: "@media (prefers-color-scheme: dark)", maxSplits: 1)
        #expect(parts.count == 2)
        let kinds = ["inserted", "updated", "deleted", "conflict"]
        let colours = try parts.map { part in
            try kinds.compactMap { kind in
                try part.firstMatch(of: Regex("--\(kind): (#[0-9a-f]{6})", as: (Substring, Substring).self))?.output.1
            }
        }
        for scheme in colours { #expect(Set(scheme).count == kinds.count) }
        #expect(Set(colours[0]).isDisjoint(with: colours[1]))
    }
}
