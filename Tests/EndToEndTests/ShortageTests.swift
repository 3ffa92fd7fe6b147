import Foundation
import TestSupport
import Testing

/// Where the system gives no thread, no descriptor or no room in a file, a run ends by itself and says so, and the same command
/// continues from there.
struct ShortageTests {
    /// Files to import, and the results.
    private struct Job {
        let directory: TemporaryDirectory
        let store: String
        let command: [String]
        let expected: String

        init(hasModel: Bool = true, isCompressed: Bool = false) throws {
            directory = try TemporaryDirectory()
            store = directory.path("store.sqlite")
            var source = try directory.write(Samples.people(count: 600, seed: 71).array, to: "people.json")
            if isCompressed {
                #expect(try run(["gzip", source]).ending == .exit(0))
                source += ".gz"
            }
            var options = ["--chunk-size", "20K", "--commit-every", "50", "--workers", "2"]
            if hasModel {
                options += ["--model", try directory.write(Samples.model(identifier: "guid"), to: "model.json")]
            } else {
                options += ["--entity", "people"]
            }
            command = [Project.importer, "import", source] + options
            let whole = directory.path("whole.sqlite")
            let result = try run(command + ["--into", whole])
            #expect(result.ending == .exit(0), "\(result.errorText)")
            expected = try StoreContent.result(whole)
        }

        /// Runs it under a limit or with faults, then without; gives back how it ended with them.
        func strike(_ prefix: [String]) throws -> ChildProcess.Result {
            for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"] {
                try? FileManager.default.removeItem(atPath: directory.path(name))
            }
            try? FileManager.default.removeItem(atPath: store + ".chunks")
            let struck = try run(prefix + command + ["--into", store])
            let again = try run(command + ["--into", store])
            #expect(again.ending == .exit(0), "\(again.errorText)")
            #expect(try StoreContent.result(store) == expected)
            return struck
        }
    }

    @Test(arguments: zip([true, false], [false, true]))
    func aThreadThatCannotBeMadeEndsTheRun(hasModel: Bool, isCompressed: Bool) throws {
        let job = try Job(hasModel: hasModel, isCompressed: isCompressed)
        let shim = try Faults.shim()
        var codes: [ChildProcess.Ending] = []
        // Until it needs no more; each look into what is compressed needs one.
        for number in 1...40 where codes.last != .exit(0) {
            let struck = try job.strike([
                "env", "LD_PRELOAD=\(shim)", "FAULTS_CALL=thread", "FAULTS_HOW=errors", "FAULTS_ERRNO=\(EAGAIN)",
                "FAULTS_AT=\(number)",
            ])
            codes.append(struck.ending)
            #expect([.exit(0), .exit(71)].contains(struck.ending), "\(number): \(struck.ending) \(struck.errorText)")
            guard struck.ending == .exit(71) else { continue }
            #expect(struck.errorText.contains("the system gives no thread to "), "\(struck.errorText)")
            #expect(struck.errorText.contains("ulimit -u"), "\(struck.errorText)")
        }
        // Signals, progress, reading ahead, two workers, checkpoints, notifications, and what decompresses.
        #expect(codes.filter { $0 == .exit(71) }.count >= 7, "\(codes)")
        #expect(codes.last == .exit(0))
    }

    @Test(arguments: [true, false])
    func tooFewDescriptorsEndTheRun(hasModel: Bool) throws {
        let job = try Job(hasModel: hasModel)
        var codes: [ChildProcess.Ending] = []
        // With three the program cannot be loaded.
        for limit in Array(4...20) + [24, 32, 40, 48, 64] {
            let struck = try job.strike(["sh", "-c", "ulimit -n \(limit) && exec \"$@\"", "sh"])
            codes.append(struck.ending)
            #expect([.exit(0), .exit(71)].contains(struck.ending), "\(limit): \(struck.ending) \(struck.errorText)")
            guard struck.ending == .exit(71) else { continue }
            #expect(struck.errorText.contains("Too many open files"), "\(struck.errorText)")
            #expect(struck.errorText.contains("ulimit -n"), "\(struck.errorText)")
        }
        #expect(codes.first == .exit(71) && codes.last == .exit(0), "\(codes)")
    }

    /// In blocks of 512 bytes, as POSIX has it for `ulimit -f`.
    @Test(arguments: [1, 40, 100, 200])
    func aFileThatMayNotGrowIsAnError(limit: Int) throws {
        let job = try Job()
        let struck = try job.strike(["sh", "-c", "ulimit -f \(limit) && exec \"$@\"", "sh"])
        #expect(struck.ending == .exit(74), "\(struck.ending) \(struck.errorText)")
        #expect(struck.errorText.contains("importer: error: "), "\(struck.errorText)")
    }

    /// Files are cut off when the store leaves WAL mode, too, with the records long committed.
    @Test func aFileThatCannotBeCutOffIsAnError() throws {
        let job = try Job()
        let shim = try Faults.shim()
        var codes: [ChildProcess.Ending] = []
        for number in 1...40 where codes.last != .exit(0) {
            let struck = try job.strike([
                "env", "LD_PRELOAD=\(shim)", "FAULTS_FOLDER=\(job.directory.path)", "FAULTS_CALL=truncate",
                "FAULTS_HOW=errors", "FAULTS_ERRNO=\(ENOSPC)", "FAULTS_AT=\(number)",
            ])
            codes.append(struck.ending)
            #expect([.exit(0), .exit(74)].contains(struck.ending), "\(number): \(struck.ending) \(struck.errorText)")
        }
        #expect(codes.count > 1 && codes.last == .exit(0), "\(codes)")
    }
}
