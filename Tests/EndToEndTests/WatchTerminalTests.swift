import Foundation
import TestSupport
import Testing

/// What the live view makes of its terminal, and how it leaves it.
@Suite(.enabled(if: TerminalSession.isPossible, "needs tmux"))
struct WatchTerminalTests {
    // MARK: Keys

    @Test func showsOtherRowsAndOrdersForKeys() throws {
        let directory = try TemporaryDirectory()
        let store = try FedRecords.finishedStore(directory)
        let session = try TerminalSession(watching: store, "--follow --sort id:desc")
        try session.shows("finished") { $0.first == 400 && $0 == $0.sorted(by: >) }
        try session.press("r")
        try session.shows { $0.first == 1 && $0 == $0.sorted() }
        try session.press("G")
        try session.shows { $0.last == 400 }
        try session.press("g")
        try session.shows { $0.first == 1 }
        try session.press("PageDown")
        try session.shows { !$0.isEmpty && !$0.contains(1) && $0 == $0.sorted() }
        try session.press("Up")
        try session.press("PageUp")
        try session.shows { $0.first == 1 }
        try session.press("Down")
        try session.shows { $0.first == 2 }
        try session.press("s")
        try session.screen("another order") { $0.contains { $0.contains("▲city") } }
        try session.press("S")
        try session.screen("the order before") { $0.contains { $0.contains("▲id") } && $0.recordIDs.first == 1 }
        try session.press("Right")
        try session.screen("the second column first") { lines in
            !lines.dropFirst().contains { $0.contains("▲id") } && lines.contains { $0.hasPrefix("  city") }
        }
        try session.press("q")
        try session.ends()
    }

    // MARK: What is shown

    @Test func linesUpWhateverStandsInAColumn() throws {
        let directory = try TemporaryDirectory()
        let store = try FedRecords.finishedStore(directory, count: 5)
        let session = try TerminalSession(watching: store, "--follow --sort id", rows: 30)
        let lines = try session.shows("finished") { $0 == [1, 2, 3, 4, 5] }
        // Nothing of the data is obeyed.
        #expect(lines.contains { $0.contains("\\u{1B}[2J\\u{7}\\u{9B}31m\\u{202E}") })
        for text in ["Oslo", "東京", "e\u{301}vian", "👨‍👩‍👧"] { #expect(lines.contains { $0.contains(text) }) }
        let columns = try (1...5).map { try session.column(of: "n\($0)e") }
        #expect(columns[0] != nil && Set(columns).count == 1, "\(columns)")
        #expect(try session.column(of: "note") == columns[0])
        try session.press("q")
        #expect(try session.isRestored())
    }

    @Test func usesColorsUnlessTheyAreNotWanted() throws {
        let directory = try TemporaryDirectory()
        let store = try FedRecords.finishedStore(directory)
        for (environment, isColored) in [(["NO_COLOR": "1"], false), (["NO_COLOR": ""], true), ([:], true)] {
            let session = try TerminalSession(
                watching: store,
                "--follow",
                environment: environment.merging(["LC_ALL": "C.UTF-8"]) { $1 }
            )
            // The last row is drawn last.
            try session.screen("all") { $0.last?.hasPrefix("q quit") == true && $0.recordIDs.first == 400 }
            let codes = try session.styledScreen().split(separator: "\u{1B}[").dropFirst().flatMap { piece in
                piece.prefix { $0.isNumber || $0 == ";" }.split(separator: ";").compactMap { Int($0) }
            }
            #expect(codes.contains(1), "no heading is bold")
            #expect(codes.contains { (30...38).contains($0) || (90...97).contains($0) } == isColored)
            try session.press("q")
            #expect(try session.isRestored())
        }
    }

    @Test func sendsWhatItsLocaleHas() throws {
        let directory = try TemporaryDirectory()
        let store = try FedRecords.finishedStore(directory)
        let session = try TerminalSession(watching: store, "--follow", environment: ["LC_ALL": "C"])
        let lines = try session.screen("all") {
            $0.last?.hasPrefix("q quit") == true && $0.recordIDs.first == 400
        }
        #expect(lines.joined().utf8.allSatisfy { $0 < 0x80 })
        try session.press("q")
        #expect(try session.isRestored())
    }

    // MARK: How it ends

    @Test(arguments: [("q", 0), ("C-c", 130), ("C-\\", 131)]) func givesTheTerminalBackOnKeys(
        key: String,
        status: Int
    ) throws {
        let directory = try TemporaryDirectory()
        let session = try TerminalSession(watching: try FedRecords.finishedStore(directory), "--follow")
        try session.shows("finished")
        #expect(try session.isTaken())
        try session.press(key)
        try session.ends(with: status)
    }

    /// Crashes too.
    @Test(arguments: [SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGBUS, SIGILL])
    func givesTheTerminalBackOnSignals(number: Int32) throws {
        let directory = try TemporaryDirectory()
        let session = try TerminalSession(watching: try FedRecords.finishedStore(directory), "--follow")
        try session.shows("finished")
        #expect(try session.isTaken())
        try session.signal(number)
        try session.ends(with: 128 + Int(number))
    }

    @Test func givesTheTerminalBackWhileItIsInTheBackground() throws {
        let directory = try TemporaryDirectory()
        let store = try FedRecords.finishedStore(directory)
        let session = try TerminalSession("sh -i", environment: ["LC_ALL": "C.UTF-8", "PS1": "ready:"])
        try session.screen("a shell") { $0.contains { $0.hasPrefix("ready:") } }
        try session.press("-l", "'\(Project.importer)' watch '\(store)' --follow")
        try session.press("Enter")
        for round in 1...2 {
            try session.shows("finished")
            #expect(try session.isTaken())
            try session.press("C-z")
            try wait(for: "the terminal") { try session.isTaken() ? nil : true }
            try session.screen("the shell") { $0.filter { $0.contains("Stopped") }.count == round }
            try session.press("fg", "Enter")
        }
        try session.shows("finished")
        try session.press("q")
        try wait(for: "the terminal") { try session.isTaken() ? nil : true }
        try session.press("exit 7", "Enter")
        try session.ends(with: 7)
    }

    @Test func endsWithItsTerminal() throws {
        let directory = try TemporaryDirectory()
        let session = try TerminalSession(watching: try FedRecords.finishedStore(directory), "--follow")
        try session.shows("finished")
        try session.close()
    }

    // MARK: Mistakes

    @Test(arguments: [
        ("--entity nobody", 66, "has no entity nobody"), ("--sort nothing", 64, "has no attribute nothing"),
    ])
    func saysWhatIsNotThere(options: String, status: Int, text: String) throws {
        let directory = try TemporaryDirectory()
        let session = try TerminalSession(
            watching: try FedRecords.finishedStore(directory),
            options + " --follow"
        )
        try session.ends(with: status, printing: text)
    }

    @Test func saysWhatIsNoStore() throws {
        let directory = try TemporaryDirectory()
        let text = try directory.write("{\"people\": []}", to: "people.json")
        let session = try TerminalSession(watching: text, "--follow")
        try session.ends(with: 74, printing: "importer: error: \(text):")
    }
}
