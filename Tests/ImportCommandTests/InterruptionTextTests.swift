import Testing

@testable import ImportCommand
@testable import Importer

struct InterruptionTextTests {
    private func text(
        _ phase: ImportProgress.Phase,
        report: ImportReport? = nil,
        isPiped: Bool = false,
        change: (inout ImportProgress.Snapshot) -> Void = { _ in }
    ) -> String {
        var snapshot = ImportProgress.Snapshot()
        snapshot.phase = phase
        snapshot.splitRecords = 53_423
        snapshot.importedRecords = 53_000
        change(&snapshot)
        let error = InterruptionText.error(
            ImportError(.interrupted, "interrupted"),
            snapshot: snapshot,
            report: report,
            store: "s.sqlite",
            isPiped: isPiped,
            command: "importer"
        )
        #expect(error.code == .interrupted)
        return error.description
    }

    @Test func whatIsLookedAtForAModelIsNotCommitted() throws {
        #expect(
            text(.inferring, report: try Samples.report()) == """
                interrupted while inferring the model; nothing is committed yet, 53,423 records are read
                To resume:  importer resume s.sqlite
                """
        )
        let resumed = text(.inferring, report: try Samples.report()) { $0.resumedRecords = 1 }
        #expect(resumed.contains("; 1 record committed to s.sqlite, 53,423 records are read\n"))
    }

    @Test func saysHowManyAreCommitted() throws {
        #expect(
            text(.importing, report: try Samples.report()) == """
                interrupted; 53,000 records committed to s.sqlite
                To resume:  importer resume s.sqlite
                """
        )
    }

    @Test func whereNothingWasBegunThereIsNothingToResume() throws {
        let text = text(.starting)
        #expect(text == "interrupted before the first record\nRun the same command again to begin.")
        #expect(!self.text(.starting, isPiped: true).contains("resume"))
        // The job was there and its sources were being checked.
        let report = try Samples.report(#"{"records_read": 12}"#)
        #expect(self.text(.starting, report: report).contains("; 12 records committed to s.sqlite\n"))
    }

    @Test func aStreamIsToBePipedInAgain() throws {
        #expect(text(.importing, report: try Samples.report(), isPiped: true).contains("… | importer resume s.sqlite"))
    }
}
