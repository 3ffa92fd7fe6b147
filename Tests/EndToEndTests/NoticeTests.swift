import Foundation
import TestSupport
import Testing

/// What an import says besides its result: the table that nobody named, what inference noticed, and nothing where that is
/// asked for.
struct NoticeTests {
    @Test func aTableThatNobodyNamedIsSaidWithTheWayToChooseAnother() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"n":1}]"#, to: "kenya-ep-popolo-v1.0.json")
        let store = directory.path("s.sqlite")
        let line = "into the table kenya-ep-popolo-v1.0"
        let first = try runImporter("import", source, "--into", store)
        #expect(first.errorText.contains("\(line) (--entity NAME for another)\n"), "\(first.errorText)")
        let second = try runImporter("import", source, "--into", store, "--again")
        #expect(
            second.errorText.contains("\(line), which exists (--entity NAME for another)\n"),
            "\(second.errorText)"
        )
        let named = try runImporter("import", source, "--into", directory.path("t.sqlite"), "--entity", "kenya")
        #expect(!named.errorText.contains("table"), "\(named.errorText)")
    }

    @Test func severalKindsMakeATableEachAndSayIt() throws {
        let directory = try TemporaryDirectory()
        let sources = try (1...8).map { try directory.write("[{\"n\($0)\":\($0)}]", to: "t\($0).json") }
        let store = directory.path("s.sqlite")
        let result = try run([Project.importer, "import"] + sources + ["--into", store])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let line = "8 sources: into 8 tables: t1, t2, t3, t4, t5, t6 and 2 more (--entity NAME for one table)\n"
        #expect(result.errorText.contains(line), "\(result.errorText)")
        #expect(result.errorText.contains("8 sources: records at $[*] (a top-level array)\n"), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT (SELECT n1 FROM t1) || (SELECT n8 FROM t8)") == "18")
        // SQLite does not tell these apart.
        let capital = try directory.write(#"[{"n":9}]"#, to: "T1.json")
        let same = try run([Project.importer, "import", sources[0], capital, "--into", directory.path("c.sqlite")])
        #expect(
            same.errorText.contains("T1_2: a table of its own, as its records are not like those of T1\n"),
            "\(same.errorText)"
        )
    }

    @Test func quietIsQuietButForErrors() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"n":1},{"n":"x"}]"#, to: "n.json")
        let broken = try directory.write(#"[{"n":1},{"n":"#, to: "broken.json")
        let store = directory.path("s.sqlite")
        for command in [
            ["import", source, "--into", store, "--quiet"], ["import", source, "--into", store, "-q"],
            ["resume", store, "--quiet"], ["split", source, "--to", directory.path("chunks"), "--quiet"],
        ] {
            let result = try run([Project.importer] + command)
            #expect(result.ending == .exit(0), "\(command): \(result.errorText)")
            #expect(result.outputText.isEmpty && result.errorText.isEmpty, "\(command): \(result.errorText)")
        }
        let model = try runImporter("infer", source, "--quiet")
        #expect(model.errorText.isEmpty && model.outputText.hasPrefix("{"), "\(model.errorText)")
        let failed = try runImporter("import", broken, "--into", store, "--quiet")
        #expect(failed.ending == .exit(65))
        #expect(failed.errorText.hasPrefix("importer: error: "), "\(failed.errorText)")
        let report = try runImporter("import", source, "--into", directory.path("j.sqlite"), "--quiet", "--json")
        #expect(report.errorText.isEmpty && report.outputText.contains("\"inserted\" : 2"), "\(report.outputText)")
        #expect(try runImporter("import", source, "--into", store, "--progress", "quiet").ending == .exit(64))
    }

    @Test func identifierCandidatesShareALine() throws {
        let directory = try TemporaryDirectory()
        let records = (1...100).map { #"{"guid":"g\#($0)","id":\#($0),"n":0,"items":[{"sku":"s\#($0)"}]}"# }
        let source = try directory.write("[\(records.joined(separator: ","))]", to: "n.json")
        let result = try runImporter("import", source, "--into", directory.path("s.sqlite"), "--nested", "tables")
        let line = "importer: n: guid, id look like identifiers: in every record, never repeat (--identifier NAME)\n"
        #expect(result.errorText.contains(line), "\(result.errorText)")
        let sku =
            "n_items: sku looks like an identifier: in every object, never repeats (\"identifier\" in a model file)\n"
        #expect(result.errorText.contains(sku), "\(result.errorText)")
    }

    @Test func atMostTenLinesOfNoticesAndHowToSeeTheOthers() throws {
        let directory = try TemporaryDirectory()
        let members = (1...43).map { "\"k\($0)\":" }
        let one = members.map { $0 + "1" }.joined(separator: ",")
        let other = members.map { $0 + "\"x\"" }.joined(separator: ",")
        let source = try directory.write("[{\(one)},{\(other)},{\(one)},{\(other)}]", to: "my data.json")
        let inferred = try runImporter("infer", source).errorText
        let all = inferred.split(separator: "\n").filter { $0.contains("kinds vary") }
        #expect(all.count == 43, "\(inferred)")
        let imported = try runImporter("import", source, "--into", directory.path("s.sqlite")).errorText
        #expect(imported.split(separator: "\n").count { $0.contains("kinds vary") } == 9, "\(imported)")
        #expect(imported.contains("importer: … and 34 more: `\(Project.importer) infer '\(source)'`\n"), "\(imported)")
    }
}
