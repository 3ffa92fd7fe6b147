import ArgumentParser
import Importer

/// Where errors become exit codes and texts (after BSD's `sysexits.h`).
struct CommandExit {
    let exitCode: Int32
    /// What standard error gets to read; empty where there is nothing to say.
    let text: String

    /// - Parameter store: the one that the command was given; nil for none.
    init(_ error: any Error, store: String? = nil) {
        switch error {
        case is OutputClosed:
            // The reader had enough, as `head` does: nothing failed.
            exitCode = 0
            text = ""
        case let code as ExitCode:
            exitCode = code.rawValue
            text = ""
        case let error as ImportError:
            exitCode = error.code.rawValue
            let terms = CommandLineTerms(store: store)
            let message = terms.text(error.text)
            text = Self.text(error.isInterruption ? message : "error: \(message)", advice: error.remedy.map(terms.text))
        case let error as RecordPredicateError:
            exitCode = ImportError.Code.usage.rawValue
            let lines = PredicateErrorText.lines(error).joined(separator: "\n")
            text = Self.text("error: --where: \(error.message)", advice: lines)
        default:
            exitCode = ImportError.Code.software.rawValue
            text = Self.text(
                "error: \(error)",
                advice: "This is a bug in the importer. Please report it."
            )
        }
    }

    /// Prints the text and returns the exit code.
    func report() -> Int32 {
        if !text.isEmpty { StandardError.write(text) }
        return exitCode
    }

    private static func text(_ message: String, advice: String?) -> String {
        // A message is one line, an advice may have several.
        var lines = ["importer: " + message]
        if let advice { lines += advice.split(separator: "\n", omittingEmptySubsequences: false).map { "  " + $0 } }
        return lines.map { TerminalText.escaped($0) + "\n" }.joined()
    }
}
