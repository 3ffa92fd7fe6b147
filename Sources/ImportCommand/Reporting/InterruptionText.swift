import ImportModel
import Importer

/// What an interrupted import says: what is committed, and how to resume.
enum InterruptionText {
    /// Adds to the library's error what is known here.
    ///
    /// - Parameters:
    ///   - report: the job's report; nil where none was begun or resumed yet.
    ///   - store: the store's path as it was given.
    ///   - isPiped: whether a source is standard input.
    /// - Returns: an error with the same code.
    static func error(
        _ error: ImportError,
        snapshot: ImportProgress.Snapshot,
        report: ImportReport?,
        store: String,
        isPiped: Bool,
        command: String
    ) -> ImportError {
        if snapshot.phase == .starting, report == nil {
            return error.saying("\(error.text) before the first record").advising(
                isPiped ? "Pipe the stream in again to begin." : "Run the same command again to begin."
            )
        }
        let resume = "\(command) resume \(store.storeWords())"
        return error.saying("\(error.text)\(state(snapshot, report: report, store: store))").advising(
            isPiped ? "To resume, pipe the same stream in again:  … | \(resume)" : "To resume:  \(resume)"
        )
    }

    static let goingOn: MessageText = "The same command goes on from here."

    /// The same of an import that followed its sources and was not at work.
    static func followed(_ error: ImportError, _ report: ImportReport?, store: String, command: String) -> ImportError {
        let records = NumberText.counted(report?.recordsRead ?? 0, "record")
        return error.saying(
            report == nil
                ? "\(error.text); nothing new has come" : "\(error.text); all that has come is in \(store): \(records)"
        )
        .advising(goingOn)
    }

    private static func state(_ snapshot: ImportProgress.Snapshot, report: ImportReport?, store: String) -> String {
        // While a model is inferred the snapshot counts what was looked at; only earlier runs can have committed.
        let committed =
            switch snapshot.phase {
            case .starting: report?.recordsRead ?? 0
            case .inferring: snapshot.resumedRecords
            default: snapshot.importedRecords
            }
        let text = "\(NumberText.counted(committed, "record")) committed to \(store)"
        guard snapshot.phase == .inferring else { return "; " + text }
        let cut = NumberText.counted(snapshot.splitRecords, "record is read", "records are read")
        return " while inferring the model; " + (committed == 0 ? "nothing is committed yet" : text) + ", " + cut
    }
}
