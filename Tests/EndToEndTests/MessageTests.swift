import Foundation
import TestSupport
import Testing

/// What the command says is in the words of its field, names what was typed, and does nothing to a terminal.
struct MessageTests {
    /// A name that would clear a terminal, turn what follows around, and forge a line.
    private static let name = "it's\u{1B}[2J\u{9B}\nimporter: error: \u{202E}\u{2066}\u{61C}"

    /// Whether a terminal shows it as it is: no control character but a line break, no mark of writing direction.
    private static func isHarmless(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x0A: true
            case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: false
            default: true
            }
        }
    }

    /// Not the option that is missing for want of it.
    @Test(
        arguments: [
            (["import", "x.json", "--intoo", "y.sqlite"], "'--intoo'; did you mean '--into'?"),
            (["x.json", "--intoo=y.sqlite"], "'--intoo'; did you mean '--into'?"),
            (["split", "x.json", "--too", "chunks"], "'--too'; did you mean '--to'?"),
            (["model", "check", "--jsno"], "'--jsno'; did you mean '--json'?"),
            (["status", "--whatever"], "'--whatever'"),
        ])
    func namesTheOptionThatThereIsNot(line: [String], words: String) throws {
        let result = try run([Project.importer] + line)
        #expect(result.ending == .exit(64))
        let message = "importer: error: there is no option \(words)\nUsage: importer "
        #expect(result.errorText.hasPrefix(message), "\(result.errorText)")
        #expect(try runImporter("fetch", "--where", "--x").errorText.contains("Missing expected argument '<store>'"))
    }

    @Test func namesAndValuesAreEscapedInEveryMessageAndTable() throws {
        let directory = try TemporaryDirectory()
        let name = Self.name
        let json = String(
            decoding: try JSONEncoder().encode([["n": name, name: "1"], ["n": "5", name: name]]),
            as: UTF8.self
        )
        let source = try directory.write(json, to: name + ".json")
        let store = directory.path(name + ".sqlite")
        let type = ["--type", "n:integer16", "--entity", name]
        for command in [
            ["import", source, "--into", store, "--dry-run"], ["import", source, "--into", store] + type,
            ["import", source, "--into", store] + type, ["status", store], ["rejects", store, "--show-values"],
            ["rejects", store, "--to", directory.path(name)], ["fetch", store, name],
            ["fetch", store, name, "--format", "markdown"], ["fetch", store, name, "--where", name],
            ["fetch", store, "no" + name], ["resume", store], ["verify", store], ["infer", source],
            ["split", source, "--to", directory.path("chunks" + name)], ["status", directory.path("no" + name)],
            ["import", directory.path("no" + name), "--into", store], ["model", "check", source],
            ["import", "--no-such=" + name], ["help", name], ["import", source, "--into", store, "--records", name],
        ] {
            let result = try run([Project.importer] + command)
            #expect(Self.isHarmless(result.outputText), "\(command)")
            #expect(Self.isHarmless(result.errorText), "\(command)")
            for line in result.errorText.split(separator: "\n") {
                #expect(!line.hasPrefix("importer: error: \\u{202E}"), "\(command)")
            }
        }
        // CSV has no escapes: programs get the value as it is.
        let csv = try run([Project.importer, "fetch", store, name, "--format", "csv"]).outputText
        #expect(csv.contains("\u{1B}[2J") && csv.contains("\u{202E}"))
    }

    @Test func whatToTypeNextCanBePastedIntoAShell() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"n":1},{"n":"x"}]"#, to: "n.json")
        let store = directory.path(Self.name + " $(touch x).sqlite")
        let imported = try runImporter("import", source, "--into", store, "--type", "n:integer16")
        let advice = try #require(imported.outputText.split(separator: "\n").last { $0.contains("importer rejects ") })
        let command = try #require(advice.components(separatedBy: ":  ").last)
        #expect(command.hasPrefix(Project.importer), "\(command)")
        let pasted = try run(["bash", "-c", command])
        #expect(pasted.ending == .exit(0), "\(pasted.errorText)")
        #expect(pasted.outputText.hasPrefix("#1  open"), "\(pasted.outputText)")
    }

    @Test func adviceNamesTheCommandAsItWasTyped() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"n":1},{"n":2}"#, to: "n.json")
        let store = directory.path("my store.sqlite")
        #expect(try runImporter("import", source, "--into", store).ending == .exit(65))
        let other = try runImporter("import", source, "--into", store, "--type", "n:string")
        #expect(other.ending == .exit(64))
        #expect(other.errorText.contains("`\(Project.importer) resume '\(store)'`"), "\(other.errorText)")
    }

    @Test func aModelMayComeFromAPipe() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"n":1}]"#, to: "n.json")
        let model = try directory.write(
            #"{"entities":{"n":{"attributes":{"n":{"type":"string"}}}}}"#,
            to: "model.json"
        )
        let store = directory.path("n.sqlite")
        let command = "'\(Project.importer)' import '\(source)' --into '\(store)' --model <(cat '\(model)')"
        let result = try run(["bash", "-c", command])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT typeof(n) FROM n") == "text")
    }

    @Test func aModelThatNeverEndsIsRefused() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"n":1}]"#, to: "n.json")
        let result = try runImporter("import", source, "--into", directory.path("s"), "--model", "/dev/zero")
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("/dev/zero: is not a model file: it is larger than 64 MiB"))
        #expect(directory.names() == ["n.json"])
    }

    /// Each text is refused by yajl for another reason.
    @Test(
        arguments: [
            ("[{}, tru]", "expected true, false or null"), ("[{}, &]", "unexpected character"),
            (#"[{}, "\x"]"#, "invalid escape in a string"), (#"[{}, "\u00g0"]"#, "four hexadecimal digits"),
            ("[{}, \"\u{1}\"]", "control character in a string"), ("[{}, 1e+]", "a digit must follow the exponent"),
            ("[{}, 1.]", "a digit must follow the decimal point"), ("[{}, -]", "a digit must follow the minus sign"),
            ("[{}, /* no */ 1]", "JSON has no comments"), ("[{}, }]", "no value before }"),
            ("[{}, {1:2}]", "an object's key must be a string"), (#"[{}, {"a" 1}]"#, "expected ':'"),
            (#"[{}, {"a":1 "b":2}]"#, "expected ',' or '}'"), ("[{} {}]", "expected ',' or ']'"),
            ("[{}, {", "the source ends inside a value"),
        ])
    func faultsAreToldInTheWordsOfJSON(text: String, words: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(text, to: "n.json")
        let result = try runImporter(
            "import",
            source,
            "--into",
            directory.path("s"),
            "--records",
            "$[*]",
            "--entity",
            "n",
            "--strict"
        )
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains(words), "\(result.errorText)")
        for own in ["lexical", "parse error", "json text", "premature", "I expect", "unallowed", "occurs"] {
            #expect(!result.errorText.contains(own), "\(result.errorText)")
        }
    }

    @Test func anErrorShowsItsValueOnlyWhereValuesAreAskedFor() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"n":1,"t":"yes"},{"n":70000,"t":"b\"c"}]"#, to: "n.json")
        let store = directory.path("s.sqlite")
        let types = ["--type", "n:integer16", "--type", "t:boolean"]
        #expect(try run([Project.importer, "import", source, "--into", store] + types).ending == .exit(0))
        let plain = try runImporter("rejects", store).outputText
        #expect(plain.contains("n: integer16: number is out of range (byte"), "\(plain)")
        #expect(!plain.contains("70000"))
        let full = try runImporter("rejects", store, "--show-values").outputText
        #expect(full.contains("n: integer16: 70000 is out of range (byte"), "\(full)")
        #expect(full.contains(#"t: expected boolean, found string "b\"c" (byte"#), "\(full)")
    }
}
