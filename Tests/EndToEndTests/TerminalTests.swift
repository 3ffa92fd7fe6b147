import Foundation
import TestSupport
import Testing

/// However the screen of `watch` ends, the terminal is as it was, and the process ends as it would have done without one.
struct TerminalTests {
    @Test(arguments: [
        ("background", "exit 143"), ("key", "signal \(SIGQUIT)"), ("\(SIGABRT)", "signal \(SIGABRT)"),
        ("\(SIGSEGV)", "signal \(SIGSEGV)"), ("\(SIGTRAP)", "signal \(SIGTRAP)"), ("\(SIGTERM)", "exit 143"),
    ])
    func isGivenBack(way: String, ending: String) throws {
        #expect(try found(way) == "\(ending) modes same screen left")
    }

    /// One that takes nothing any more holds up nobody who wants to end.
    @Test func isNotWaitedForWhereItIsStopped() throws {
        #expect(try found("stopped").hasPrefix("exit 143 modes same"))
    }

    private func found(_ way: String) throws -> String {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"id\": 1}]", to: "item.json")
        let store = directory.path("item.sqlite")
        #expect(try runImporter("import", source, "--into", store).ending == .exit(0))
        let result = try run(
            [Project.python, Project.check("terminal.py"), way, Project.importer, "watch", store, "--follow"]
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return result.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
