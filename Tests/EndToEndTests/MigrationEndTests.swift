import Foundation
import TestSupport
import Testing

/// However a migration ends, the store is as before or as after.
struct MigrationEndTests {
    /// A store whose migration changes its files some hundred times.
    private struct Large {
        let related: RelatedImport
        let command: [String]
        let before: String

        init() throws {
            related = try RelatedImport()
            let records = (0..<30_000).map { #"{"id": \#($0), "n": \#($0)}"# }.joined(separator: "\n")
            guard try related.importing(records, "person", Self.model("integer32")).ending == .exit(0) else {
                throw StoreContent.Failure("the store was not made")
            }
            let file = try related.directory.write(Self.model("string"), to: "new.json")
            command = [Project.importer, "migrate", related.store, "--model", file]
            before = try StoreContent.text(related.store)
        }

        static func model(_ type: String) -> String {
            """
            {"entities": {"person": {"identifier": ["id"],
              "attributes": {"id": {"type": "integer64"}, "n": {"type": "\(type)"}}}}}
            """
        }

        /// The migration, stopped where its files have changed that often.
        func stopped(after changes: Int) throws -> ChildProcess {
            try SteppedProgram(command, every: changes, below: related.directory.path).released()
        }
    }

    @Test(arguments: zip([SIGINT, SIGTERM], [Int32(130), 143]))
    func anInterruptionEndsItAndTheStoreIsAsBefore(signal: Int32, code: Int32) throws {
        let large = try Large()
        var endings: [ChildProcess.Ending] = []
        // The signal is heard beside the work, which may be done before.
        for changes in [10, 20, 30, 40, 50] where endings.last != .exit(code) {
            let child = try large.stopped(after: changes)
            child.signal(signal)
            child.resume()
            let result = child.wait()
            endings.append(result.ending)
            guard result.ending == .exit(code) else { break }
            #expect(try StoreContent.text(large.related.store) == large.before)
            #expect(try StoreContent.isWhole(large.related.store))
        }
        #expect(endings.last == .exit(code), "\(endings)")
        #expect(try run(large.command).ending == .exit(0))
        #expect(try large.related.query("SELECT count(*), min(typeof(n)) FROM person") == "30000|text")
    }

    @Test func oneThatRunsKeepsOthersOut() throws {
        let large = try Large()
        let child = try large.stopped(after: 20)
        let second = try run(large.command)
        #expect(second.ending == .exit(75), "\(second.errorText)")
        let other = try large.related.importing(#"{"id": 1, "n": 2}"#, "person", Large.model("integer32"))
        #expect(other.ending == .exit(75), "\(other.errorText)")
        child.resume()
        let first = child.wait()
        #expect(first.ending == .exit(0), "\(first.errorText)")
        #expect(try large.related.query("SELECT count(*), min(typeof(n)) FROM person") == "30000|text")
    }

    @Test func oneThatAnotherProgramKeepsFromWritingSaysSo() throws {
        let large = try Large()
        let result = try Python.run(
            text: """
                import sqlite3, subprocess, sys
                database = sqlite3.connect(sys.argv[1], isolation_level=None)
                database.execute("BEGIN IMMEDIATE")
                run = subprocess.run(sys.argv[2:], capture_output=True, text=True)
                database.execute("ROLLBACK")
                print(run.returncode, "Nothing was" in run.stderr)
                """,
            [large.related.store] + large.command
        )
        #expect(result.outputText == "75 True\n", "\(result.errorText)")
        #expect(try StoreContent.text(large.related.store) == large.before)
    }

    /// Each change of a file in turn is one for which there is no room.
    @Test func aFullDiskLeavesTheStoreAsBefore() throws {
        let large = try Large()
        let shim = try Faults.shim()
        for number in [1, 5, 25, 60] {
            let faults = [
                "env", "LD_PRELOAD=\(shim)", "FAULTS_FOLDER=\(large.related.directory.path)", "FAULTS_CALL=write",
                "FAULTS_HOW=errors", "FAULTS_ERRNO=\(ENOSPC)", "FAULTS_AT=\(number)",
            ]
            let result = try run(faults + large.command)
            #expect(result.ending == .exit(74), "\(number): \(result.ending) \(result.errorText)")
            #expect(result.errorText.contains("Nothing was "), "\(result.errorText)")
            #expect(try StoreContent.text(large.related.store) == large.before)
            #expect(try StoreContent.isWhole(large.related.store))
        }
        #expect(try run(large.command).ending == .exit(0))
    }
}
