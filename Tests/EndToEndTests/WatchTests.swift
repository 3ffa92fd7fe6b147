import Foundation
import TestSupport
import Testing

/// The live view beside imports that continue as far as they are fed, in terminals of several sizes.
@Suite(.enabled(if: TerminalSession.isPossible, "needs tmux"))
struct WatchTests {
    private static let sizes = [(20, 5), (40, 12), (80, 24), (200, 60)]

    // MARK: Before, during, after

    @Test(arguments: sizes) func showsAnImportFromBeforeItsBeginningToItsEnd(columns: Int, rows: Int) throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let session = try TerminalSession(watching: records.store, columns: columns, rows: rows)
        try session.shows("waiting") { $0.isEmpty }
        #expect(try session.isTaken())

        let child = try records.startImport()
        try records.feed(FedRecords.first)
        // Records are there while the import is under way, the newest first; those that come are marked.
        try session.shows("importing") { !$0.isEmpty && $0 == $0.sorted(by: >) }
        try session.shows(feeding: records) { $0.marksARecord && $0.count == rows }
        if rows >= 12 {
            try session.screen("rejects") { $0.contains { $0.contains("`age`: ") && $0.contains("string") } }
        }
        #expect(child.isRunning)

        records.close()
        #expect(child.wait().ending == .exit(0))
        try session.ends(printing: records.endText)
    }

    @Test func showsAnImportThatIsUnderWay() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let child = try records.startImport()
        try records.feed(FedRecords.first)
        try hasRows(records.store, 100)
        let session = try TerminalSession(watching: records.store)
        try session.shows("importing") { ($0.max() ?? 0) >= 100 }
        records.close()
        #expect(child.wait().ending == .exit(0))
        try session.ends()
    }

    @Test func endsWhereTheImportIsFinished() throws {
        let directory = try TemporaryDirectory()
        let session = try TerminalSession(watching: try FedRecords.finishedStore(directory))
        try session.ends(printing: "400 records, done in")
    }

    // MARK: In the import's own terminal

    @Test func showsTheSameInTheImportsTerminalAndInAnother() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let own = try records.startWatchedImport()
        try own.screen("the view") { $0.last?.hasPrefix("q quit") == true }
        let other = try TerminalSession(watching: records.store)
        try records.feed(FedRecords.first)
        for session in [own, other] {
            try session.shows("importing")
            let seen = records.count
            try session.shows(feeding: records) { ($0.recordIDs.max() ?? 0) > seen }
        }
        records.close()
        for session in [own, other] {
            #expect(try session.end() == 0)
            #expect(try session.isRestored())
        }
        try other.printed(records.endText)
        #expect(try StoreContent.rowCount(records.store) == records.rowCount)
    }

    @Test func givesTheTerminalBackWhenTheImportFails() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let session = try records.startWatchedImport()
        try records.feed(FedRecords.first)
        try session.shows("importing")
        try records.feed(text: "{\"id\": 1")
        records.close()
        try session.ends(with: 65, printing: "importer: error:")
        #expect(try StoreContent.rowCount(records.store) == records.rowCount)
    }

    @Test func letsTheImportGoOnWhenTheViewIsQuit() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let session = try records.startWatchedImport()
        try records.feed(FedRecords.first)
        try session.shows("importing")
        try session.press("q")
        try wait(for: "the terminal") { try session.isTaken() ? nil : true }
        try session.screen("the bar") { $0.contains { $0.hasPrefix("import ") } }
        #expect(try session.exitStatus() == nil)
        try records.feed(100)
        records.close()
        try session.ends()
        #expect(try StoreContent.rowCount(records.store) == records.rowCount)
    }

    /// An import that is asked to stop ends as it does without a view.
    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)])
    func stopsTheImportOnSignals(number: Int32, status: Int) throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let session = try records.startWatchedImport()
        try records.feed(FedRecords.first)
        try session.shows("importing")
        if number == SIGINT { try session.press("C-c") } else { try session.signal(number) }
        try session.ends(with: status, printing: "resume")
        #expect(try Report(runImporter("status", records.store, "--json").output).state == "interrupted")
    }

    @Test func givesTheTerminalBackWhenTheImportCrashes() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let session = try records.startWatchedImport()
        try records.feed(FedRecords.first)
        try session.shows("importing")
        try session.signal(SIGSEGV)
        try session.ends(with: 128 + Int(SIGSEGV))
    }

    // MARK: Interruptions

    @Test func goesOnWhenItWasStopped() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let session = try TerminalSession(watching: records.store)
        let child = try records.startImport()
        try records.feed(FedRecords.first)
        try session.shows("importing")
        try session.suspend()
        // The import does not wait for it.
        try records.feed(300)
        try hasRows(records.store, 400)
        try session.resume()
        try session.shows("importing") { ($0.max() ?? 0) > 400 }
        try session.suspend()
        records.close()
        #expect(child.wait().ending == .exit(0))
        try session.resume()
        try session.ends(printing: records.endText)
    }

    @Test func showsAllWhenItIsStartedAgain() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let killed = try TerminalSession(watching: records.store)
        let child = try records.startImport()
        try records.feed(FedRecords.first)
        try killed.shows("importing")
        try killed.signal(SIGKILL)
        #expect(try killed.end() == 128 + Int(SIGKILL))
        try records.feed(100)
        let again = try TerminalSession(watching: records.store)
        try again.shows("importing") { ($0.max() ?? 0) > 200 }
        records.close()
        #expect(child.wait().ending == .exit(0))
        try again.ends(printing: records.endText)
    }

    @Test func waitsForAKilledImportToGoOn() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let session = try TerminalSession(watching: records.store)
        let child = try records.startImport()
        try records.feed(FedRecords.first)
        try session.shows("importing")
        child.signal(SIGKILL)
        child.wait()
        try session.shows("interrupted")

        // The same stream once more.
        let same = try FedRecords(directory)
        let resumed = try same.startImport()
        try same.feed(FedRecords.first + 100)
        try session.shows("importing") { ($0.max() ?? 0) > FedRecords.first }
        same.close()
        #expect(resumed.wait().ending == .exit(0))
        try session.ends()
        #expect(try StoreContent.rowCount(records.store) == same.rowCount)
    }

    @Test func followsTheSizeOfItsTerminal() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let child = try records.startImport()
        try records.feed(FedRecords.first)
        let sessions = [
            try TerminalSession(watching: records.store), try TerminalSession(watching: records.store, "--follow"),
        ]
        for session in sessions { try session.shows("importing") }
        for (columns, rows) in [(40, 12), (20, 5), (200, 60), (1, 1), (80, 24)] {
            for session in sessions { try session.resize(columns: columns, rows: rows) }
            let seen = records.count
            for session in sessions {
                try session.shows(feeding: records) { lines in
                    guard lines.count == rows else { return false }
                    guard columns > 1 else { return true }
                    return lines[0].hasSuffix("importing") && lines[0].count == columns - 1
                        && (rows < 8 || lines.last?.hasPrefix("q quit") == true)
                        && (lines.recordIDs.max() ?? 0) > seen
                }
            }
        }
        records.close()
        #expect(child.wait().ending == .exit(0))
        #expect(try sessions[0].end() == 0)
        #expect(try sessions[0].isRestored())
        try sessions[1].shows("finished")
        try sessions[1].press("q")
        #expect(try sessions[1].isRestored())
    }

    // MARK: A store that goes

    @Test func waitsForAStoreThatWasDeleted() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let child = try records.startImport()
        try records.feed(FedRecords.first)
        let session = try TerminalSession(watching: records.store)
        try session.shows("importing")
        child.signal(SIGKILL)
        child.wait()
        for suffix in ["", "-wal", "-shm"] { unlink(records.store + suffix) }
        // Without their store, its chunks are nobody's that an import may remove.
        try FileManager.default.removeItem(atPath: records.store + ".chunks")
        try session.shows("waiting") { $0.isEmpty }

        let source = try directory.write("[{\"a\": 1}, {\"a\": 2}]", to: "letters.json")
        #expect(try runImporter("import", source, "--into", records.store).ending == .exit(0))
        try session.ends(printing: "2 records, done in")
    }

    @Test func showsTheStoreThatTookItsPlace() throws {
        let directory = try TemporaryDirectory()
        let store = try FedRecords.finishedStore(directory)
        let session = try TerminalSession(watching: store, "--follow")
        try session.shows("finished")
        for round in 1...5 {
            let other = directory.path("other.sqlite")
            let source = try directory.write("[{\"a\": \(round)}]", to: "letters\(round).json")
            #expect(try runImporter("import", source, "--into", other).ending == .exit(0))
            for suffix in ["-wal", "-shm"] { unlink(store + suffix) }
            #expect(rename(other, store) == 0)
            try session.screen("the new store") { lines in
                lines[0].hasSuffix("finished") && lines.contains { $0.contains("letters\(round)") }
                    && lines.recordIDs == [round]
            }
        }
        try session.press("q")
        try session.ends()
    }

    private func hasRows(_ store: String, _ count: Int) throws {
        try wait(for: "\(count) rows") { try StoreContent.rowCount(store) >= count ? true : nil }
    }
}
