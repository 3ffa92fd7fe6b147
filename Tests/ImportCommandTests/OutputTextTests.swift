import Foundation
import ImportModel
import Testing

@testable import ImportCommand
@testable import ImportEngine
@testable import Importer

struct OutputTextTests {
    @Test func summarySaysWhatCameOfEachRecord() throws {
        let text = ReportText.text(try Samples.report(), store: "people.sqlite", command: "importer")
        #expect(
            text == """
                Imported people.json into people.sqlite in 0.50 s (2,000 records/s, 630 kB/s)
                  read      1,000
                  inserted    997
                  rejected      3

                To list the rejects:  importer rejects people.sqlite

                """
        )
    }

    @Test func anInterruptedJobSaysHowToCarryOn() throws {
        let report = try Samples.report(#"{"state": "interrupted", "chunks_done": 1}"#)
        let text = ReportText.text(report, store: "my people.sqlite", command: "importer")
        #expect(
            text.hasPrefix(
                "The import of people.json into my people.sqlite was interrupted after 1,000 records (315 kB), in 0.50 s"
            )
        )
        #expect(text.contains("; 1 more chunk is ready\n"))
        #expect(text.contains("To resume:  importer resume 'my people.sqlite'\n"))
        let piped = try Samples.report(#"{"state": "failed", "sources": ["-"]}"#)
        #expect(ReportText.text(piped, store: "s", command: "importer").contains("… | importer resume s\n"))
    }

    @Test func thatItWasInterruptedIsSaidOnce() throws {
        let interrupted = try Samples.report(#"{"state": "interrupted", "message": "interrupted"}"#)
        let text = ReportText.text(interrupted, store: "s", command: "importer")
        #expect(text.ranges(of: "interrupted").count == 1)
        let failed = try Samples.report(#"{"state": "failed", "message": "line 3: bad"}"#)
        #expect(ReportText.text(failed, store: "s", command: "importer").contains("\nline 3: bad\n"))
        let new = try Samples.report(#"{"state": "interrupted", "bytes": 0, "records_read": 0}"#)
        #expect(ReportText.text(new, store: "s", command: "importer").contains("interrupted before the first commit"))
    }

    @Test func severalSourcesAre() throws {
        let two = try Samples.report(#"{"sources": ["a.json", "b.json"]}"#)
        #expect(ReportText.text(two, store: "s", command: "importer").hasPrefix("Imported a.json, b.json into s"))
        let stream = try Samples.report(#"{"sources": ["-"]}"#)
        #expect(ReportText.alreadyFinished(stream, store: "s").hasPrefix("s has all of this stream already"))
    }

    @Test func otherUnfinishedJobsAreNotHidden() throws {
        let first = try Samples.report(#"{"state": "interrupted", "job": 1, "records_read": 12400, "sources": ["a"]}"#)
        let second = try Samples.report(#"{"state": "failed", "job": 2, "sources": ["b"]}"#)
        let third = try Samples.report(#"{"job": 3, "rejected": 0}"#)
        let finished = ReportText.text(third, unfinished: [first, second], store: "s", command: "importer")
        #expect(
            finished.hasSuffix(
                """

                Not finished
                  job 1  a: interrupted after 12,400 records
                  job 2  b: stopped after 1,000 records

                To resume:  importer resume s  (one at a time, the newest first)

                """
            )
        )
        let open = ReportText.text(second, unfinished: [first, second], store: "s", command: "importer")
        #expect(open.contains("\nNot finished either\n  job 1  a: interrupted after 12,400 records\n"))
        #expect(!open.contains("job 2"))
        #expect(open.ranges(of: "To resume").count == 1)
        let alone = ReportText.text(first, unfinished: [first], store: "s", command: "importer")
        #expect(!alone.contains("Not finished"))
    }

    @Test func statusForScriptsHasTheReportsKeysAndTheUnfinishedJobs() throws {
        let open = try Samples.report(#"{"state": "interrupted", "job": 2}"#)
        let text = try JSONText.document(StatusReport(report: open, unfinished: [open], jobs: [], jobCount: 2))
        #expect(try JSONDecoder().decode(ImportReport.self, from: Data(text.utf8)) == open)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let unfinished = try #require(object["unfinished"] as? [[String: Any]])
        #expect(unfinished.map { $0["job"] as? Int } == [2])
    }

    @Test func verifySaysThatAnImportIsNotFinished() throws {
        let kept = StoreInspection.Check(
            "every reject is kept",
            of: "job 1",
            holds: true,
            detail: "1234567 and 1234567"
        )
        let checks = [StoreInspection.Check("the database is sound", holds: true, detail: "ok"), kept]
        #expect(
            CheckText(checks: checks).text(.verbose) == """
                ok      the database is sound
                ok      job 1: every reject is kept: 1,234,567 and 1,234,567
                All 2 checks hold.

                """
        )
        #expect(
            CheckText(checks: checks + [kept]).text() == """
                ok      the database is sound
                ok      every reject is kept: 2 jobs
                All 3 checks hold.

                """
        )
        let open = try Samples.report(#"{"state": "interrupted", "records_read": 12400}"#)
        #expect(
            CheckText(checks: checks, unfinished: [open]).text().hasSuffix(
                """
                note    job 1 is interrupted after 12,400 records, not finished
                All 2 checks hold; 1 import is not finished.

                """
            )
        )
        let broken = StoreInspection.Check("x", holds: false, detail: "")
        #expect(
            CheckText(checks: checks + [broken], unfinished: [open, open]).text()
                .hasSuffix("\n1 of 3 checks failed; 2 imports are not finished.\n")
        )
        #expect(CheckText(checks: checks).text(.quiet) == "All 2 checks hold.\n")
        // A table is a line and a check of its own, unless other programs have changed it.
        func table(deleted: Int) throws -> StoreInspection.TableComparison {
            let json = """
                {"table": "t", "isThere": true, "isView": false, "rows": 3, "expected": 3, "added": 0, "deleted": \(deleted),
                "compared": 3, "changed": 0}
                """
            return try JSONDecoder().decode(StoreInspection.TableComparison.self, from: Data(json.utf8))
        }
        let untouched = CheckText(checks: checks, tables: [try table(deleted: 0)]).text()
        #expect(untouched.split(separator: "\n").count { $0.hasPrefix("ok ") } == 3)
        #expect(untouched.hasSuffix("\nAll 3 checks hold.\n"))
        #expect(
            CheckText(checks: checks, tables: [try table(deleted: 1)]).text(.quiet)
                == "All 2 checks hold; 1 table was changed by other programs.\n"
        )
        let json = try JSONText.line([CheckJSON(checks[0]), CheckJSON(unfinished: open)])
        #expect(json.contains(#"{"detail":"ok","holds":true,"name":"the database is sound"}"#))
        #expect(json.contains(#""name":"job 1: is not finished","note":true}"#))
    }

    @Test func errorsAreGroupedInGoodEnglish() throws {
        func line(_ code: String, _ expected: String, _ found: String, _ count: Int64, _ path: String = "a") -> String {
            let first = ErrorGroup.Place(source: "orders.json", byteOffset: 88_213, record: 7)
            let group = ErrorGroup(
                entity: "Order",
                keyPath: path,
                code: code,
                expected: expected,
                found: found,
                count: count,
                first: first
            )
            return ErrorGroupText.lines([group], namesEntity: false).joined()
        }
        #expect(
            line("wrongKind", "double", "string", 4_112, "items[].price")
                == "`items[].price`: 4,112 strings where a double was expected, first at byte 88,213 of orders.json"
        )
        let end = ", first at byte 88,213 of orders.json"
        for (text, expected) in [
            (line("wrongForm", "integer16", "string", 1), "`a`: 1 string where an integer16 was expected"),
            (line("unexpectedNull", "uuid", "null", 2), "`a`: 2 nulls where a uuid was expected"),
            (line("missingValue", "date", "nothing", 1), "`a`: missing in 1 record"),
            (line("missingValue", "date", "nothing", 1_000), "`a`: missing in 1,000 records"),
            (line("outOfRange", "integer16", "number", 1), "`a`: 1 number out of the range of integer16"),
            (
                line("notIntegral", "integer32", "number with a fraction", 3),
                "`a`: 3 numbers with a fraction where an integer32 was expected"
            ),
            (line("notAnObject", "object", "array", 1, ""), "`$`: 1 array where an object was expected"),
            (line("malformed", "a JSON value", "something else", 1, ""), "`$`: 1 record that is not JSON"),
            (line("malformed", "a JSON value", "something else", 2, ""), "`$`: 2 records that are not JSON"),
            (line("invalidUTF8", "UTF-8", "other bytes", 2, ""), "`$`: 2 records that are not UTF-8"),
            (
                line("recordTooLarge", "at most 2000 bytes", "more", 2, ""),
                "`$`: 2 records that are too large (at most 2000 bytes are allowed)"
            ),
            (
                line("recordTooDeep", "at most 4 levels", "more", 1, ""),
                "`$`: 1 record that is nested too deeply (at most 4 levels are allowed)"
            ),
            (
                line("lossy", "double", "number with more digits than double holds", 2),
                "`a`: 2 numbers with more digits than double holds, which would be lost"
            ),
            (line("lossy", "date", "date with an offset", 1), "`a`: 1 date with an offset, which would be lost"),
            (line("later", "at least 3 characters", "string", 2), "`a`: 2 strings (expected at least 3 characters)"),
            (line("", "", "", 2, ErrorGroup.others), "2 errors of other kinds"),
        ] {
            #expect(text == expected + end)
        }
    }

    @Test func theSummaryShowsTheFirstTenGroups() throws {
        let groups = (1...13).map { index in
            """
            {"entity": "a", "key_path": "p\(index)", "code": "wrongKind", "expected": "double", "found": "string",
             "count": 1, "first": {"source": "-", "byte_offset": 5, "record": 1}}
            """
        }
        let report = try Samples.report("{\"errors\": [\(groups.joined(separator: ","))]}")
        let text = ReportText.text(report, store: "s", command: "importer")
        #expect(text.contains("\n\nErrors\n  `p1`: 1 string where a double was expected, "))
        #expect(text.contains("first at byte 5 of standard input\n"))
        #expect(text.contains("  `p10`: "))
        #expect(text.contains("\n  … and 3 more (--json has all)\n"))
        #expect(!text.contains("p11"))
    }

    @Test func aPlanSaysWhatARestartTakesBack() throws {
        func text(_ action: ImportPlan.Action, _ job: ImportReport?) -> String {
            let plan = ImportPlan(
                store: "s",
                action: action,
                sources: [],
                infersModel: false,
                chunkDirectory: "s.chunks",
                workers: 1,
                chunkSize: 1,
                commitEvery: 1
            )
            return String(PlanText.text(plan, job: job).prefix { $0 != "\n" })
        }
        let job = try Samples.report(#"{"state": "interrupted"}"#)
        #expect(text(.restart, job) == "Would remove 1,000 committed records in s and restart")
        #expect(text(.resume, job) == "Would resume the interrupted import into s, after 1,000 records (315 kB)")
        #expect(text(.begin, nil) == "Would import into s")
    }

    @Test func aSplitCountsWhatIsInTheChunks() {
        let summary = SplitSummary(
            directory: "ch",
            chunks: 1,
            records: 2000,
            passedOver: 1493,
            bytes: 627_000,
            outside: [:],
            notFound: []
        )
        #expect(
            SplitText.text(summary) == """
                507 records in 1 chunk of ch, from 627 kB
                  skipped      1,493 records too large or too deep

                """
        )
    }

    @Test func nothingTakenIsAnErrorThatSaysWhatToDo() throws {
        func error(_ json: String, hasModel: Bool = false) throws -> ImportError? {
            ReportText.nothingTaken(try Samples.report(json), store: "a b", command: "importer", hasModel: hasModel)
        }
        let rejected = try error(#"{"records_read": 3, "inserted": 0, "message": "every record was rejected"}"#)
        #expect(rejected?.code == .badInput)
        #expect(rejected?.message == "people.json: every record was rejected")
        #expect(rejected?.advice == "To see their errors:  importer rejects 'a b'")
        let given = try error(
            #"{"records_read": 3, "inserted": 0, "message": "every record was rejected"}"#,
            hasModel: true
        )
        #expect(given?.advice?.hasPrefix("Is this the right model? To see") == true)
        let unfound = try error(#"{"records_read": 0, "rejected": 0, "message": "nothing was found at $.x[*]"}"#)
        #expect(unfound?.advice?.contains("records") == true)
        #expect(try error("{}") == nil)
        #expect(try error(#"{"records_read": 0, "rejected": 0}"#) == nil)
        #expect(try error(#"{"state": "failed", "message": "x"}"#) == nil)
    }

    @Test func aFinishedJobHasNothingToCarryOn() throws {
        let text = ReportText.text(try Samples.report(#"{"rejected": 0}"#), store: "s", command: "importer")
        #expect(!text.contains("resume"))
        #expect(!text.contains("rejects s"))
    }

    @Test func ledgerAndEntitiesAreListed() throws {
        let report = try Samples.report(
            #"""
            {"entities": {"b": {"records_read": 2, "inserted": 2, "updated": 0, "unchanged": 0, "ignored": 0, "rejected": 0},
                          "a": {"records_read": 998, "inserted": 995, "updated": 0, "unchanged": 0, "ignored": 0, "rejected": 3}},
             "ledger": {"a": {"price": {"kindChanged": 4112, "trimmed": 1}}, "": {"$.m": {"outside": 1}}}}
            """#
        )
        let text = ReportText.text(report, store: "s", command: "importer")
        #expect(text.contains("Entities\n  a  995 inserted, 3 rejected\n  b  2 inserted\n"))
        #expect(text.contains("\n  a.price  4,112 × converted to the column's type, 1 × trimmed\n"))
        #expect(text.contains("\n  $.m      1 × outside of the records\n"))
    }

    @Test func namesFromTheDataCannotCommandTheTerminal() throws {
        let evil = "\\u001b]0;x\\u0007\\u009b2J\\n"
        let report = try Samples.report(
            #"""
            {"state": "failed", "sources": ["EVIL"], "ledger": {"EVIL": {"EVIL": {"kindChanged": 1, "EVIL": 1}}},
             "errors": [{"entity": "EVIL", "key_path": "EVIL", "code": "EVIL", "expected": "EVIL", "found": "EVIL",
                         "count": 1, "first": {"source": "EVIL", "byte_offset": 1, "record": 1}}], "message": "EVIL"}
            """#
            .replacing("EVIL", with: evil)
        )
        let text = ReportText.text(report, store: "s\u{1B}c", command: "importer")
        #expect(Samples.isHarmless(text))
        let reject = Samples.reject(source: "a\u{1B}[2J\nb", record: Array("{\"a\":\"\u{1B}[31m\u{9B}1m\"}".utf8))
        #expect(Samples.isHarmless(RejectText.text(reject, showsRecord: true)))
        #expect(RejectText.text(reject, showsRecord: true).split(separator: "\n").count == 3)
        #expect(Samples.isHarmless(try JSONText.line(RejectJSON(reject: reject, showsRecord: true))))
    }

    @Test func escapedJSONReadsAsItWas() throws {
        let value = ["a\u{9B}b\u{202E}\u{7F}\u{1}\n\"": "é😀"]
        for text in [try JSONText.line(value), try JSONText.document(value)] {
            #expect(try JSONDecoder().decode([String: String].self, from: Data(text.utf8)) == value)
            #expect(Samples.isHarmless(text))
        }
    }

    @Test func valuesAreShownOnlyWhenAskedFor() throws {
        let reject = Samples.reject(record: Array(#"{"secret": 1}"#.utf8))
        #expect(!RejectText.text(reject, showsRecord: false).contains("secret"))
        #expect(RejectText.text(reject, showsRecord: true).contains("secret"))
        #expect(!(try JSONText.line(RejectJSON(reject: reject, showsRecord: false)).contains("secret")))
    }

    @Test func aRejectSaysWhatAndWhere() {
        let text = RejectText.text(Samples.reject(record: []), showsRecord: false)
        #expect(
            text == """
                #7  open  people.json at byte 4,096, record 1,234, people
                    address.city: expected string, found object (byte 4,100)

                """
        )
    }

    @Test func excerptsFitTheTerminalAndSayWhenThereIsMore() {
        #expect(TerminalText.excerpt(Array("short".utf8), columns: 10) == "short")
        let long = TerminalText.excerpt([UInt8](repeating: 0x61, count: 1 << 20), columns: 10)
        #expect(long == "aaaaaaaaa…")
        #expect(TerminalText.excerpt([UInt8](repeating: 0x01, count: 100), columns: 10).count == 10)
        #expect(TerminalText.excerpt([0xFF, 0x61], columns: 10) == "\u{FFFD}a")
    }

    @Test func bytesThatAreNotTextComeInBase64() throws {
        let line = try JSONText.line(RejectJSON(reject: Samples.reject(record: [0xFF, 0x00]), showsRecord: true))
        #expect(line.contains(#""record_base64":"/wA=""#))
    }

    @Test(
        arguments: [
            ("people.sqlite", "people.sqlite"), ("-x", "./-x"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#),
            ("$(rm)", "'$(rm)'"), ("", "''"), ("é", "é"), ("a\nb", #"$'a\nb'"#),
            ("a'\u{301};b", "'a'\\''\u{301};b'"), ("it's\u{1B}[2J\u{202E}\\", #"$'it\'s\033[2J\342\200\256\\'"#),
            ("-\t", #"$'./-\t'"#),
        ])
    func pathsCanBePastedIntoAShell(path: String, quoted: String) {
        #expect(path.shellQuoted == quoted)
    }

    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (9994, "9.99 kB"), (9995, "10.0 kB"), (99_949, "99.9 kB"),
            (99_950, "100 kB"), (999_499, "999 kB"), (999_500, "1.00 MB"), (470_000_000, "470 MB"),
            (Int64.max, "9.22 EB"),
        ])
    func bytesHaveThreeDigits(count: Int64, text: String) {
        #expect(NumberText.bytes(count) == text)
    }

    @Test func numbersAreGrouped() {
        #expect(NumberText.grouped(0) == "0")
        #expect(NumberText.grouped(-1234) == "-1,234")
        #expect(NumberText.grouped(.min) == "-9,223,372,036,854,775,808")
        #expect(NumberText.grouped(whole: 1e300) == "9,223,372,036,854,774,784")
        #expect(NumberText.grouped(whole: .nan) == "0")
        #expect(NumberText.bytes(Double.infinity) == "9.22 EB")
        #expect(NumberText.counted(1, "record") == "1 record")
        #expect(NumberText.clock(3723) == "1:02:03")
        #expect(NumberText.clock(.infinity) == "--:--")
        #expect(NumberText.seconds(0.424) == "0.42 s")
    }
}
