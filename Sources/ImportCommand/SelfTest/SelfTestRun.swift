import Foundation
import ImportModel
import Importer

/// Does one case: an import that is left alone, and one that is stopped again and again, whose stores must be equal.
struct SelfTestRun {
    /// What has been done to imports.
    struct Counts: Equatable {
        var times = 0
        var kills = 0
        /// Of these, the ones of runs that resumed what an earlier one had begun.
        var killsOfResumed = 0
        /// Runs that a limit to the size of files has ended.
        var full = 0
        /// Runs that SIGINT has ended.
        var interrupted = 0
    }

    /// What is done to one run of an import.
    private enum Stop {
        case nothing
        /// `passes`: how often it passes the point before; `seconds` for a random moment.
        case kill(StopPoint, passes: Int, seconds: Double)
        case interrupt(seconds: Double)
        /// `ulimit -f`, in blocks.
        case full(blocks: Int)

        var text: String {
            switch self {
            case .nothing: "nothing was done to it"
            case .kill(.moment, _, let seconds): "killed after \(seconds) s"
            case .kill(let point, _, _): "killed \(point.rawValue)"
            case .interrupt(let seconds): "SIGINT after \(seconds) s"
            case .full(let blocks): "ulimit -f \(blocks)"
            }
        }
    }

    /// An import that was stopped as often as this is left alone.
    private static let mostStops = 8
    /// An import that takes this many seconds, and a hundred times as long as one that was let alone, has stopped working.
    private static let patience = 60.0
    private static let lookInMicroseconds: UInt32 = 300

    let program: String
    /// The case's own folder.
    let folder: String
    let interruption: Interruption
    var random: SeededNumbers
    private(set) var counts = Counts()
    private(set) var stops: [StopPoint: Int] = [:]
    /// What was done, a line each, with commands as a shell takes them.
    private(set) var history: [String] = []

    init(_ program: String, in folder: String, _ interruption: Interruption, _ random: SeededNumbers) {
        (self.program, self.folder, self.interruption, self.random) = (program, folder, interruption, random)
    }

    /// Does it.
    ///
    /// - Returns: what differs, or went wrong; nil if all is well.
    /// - Throws: `ImportError` if it is interrupted, or the files cannot be written.
    mutating func run(_ test: SelfTestCase) throws -> String? {
        for (night, files) in test.nights.enumerated() {
            try write(files)
            let input = test.input.flatMap { files[$0] }
            let name = night == 0 ? "" : "; the files have changed since"
            let clock = ContinuousClock()
            let start = clock.now
            let whole = command(test, into: "whole.sqlite")
            let ending = try perform(whole, input, .nothing, patience: .infinity)
            guard ending == .exit(0) else { return "the import that was let alone ended with \(Self.text(ending))" }
            let seconds = start.duration(to: clock.now) / .seconds(1)
            history.append("\(shown(whole, test))  # \(NumberText.seconds(seconds))\(name)")
            if let problem = try importStopped(test, input, seconds) { return problem }
            if let problem = try difference(test) { return problem }
        }
        counts.times += 1
        return nil
    }

    /// Measures an import that is left alone, in seconds.
    ///
    /// - Throws: as `run` does, and if it fails.
    mutating func measure(_ test: SelfTestCase) throws -> Double {
        try write(test.nights[0])
        let start = ContinuousClock.now
        let ending = try perform(command(test, into: "whole.sqlite"), nil, .nothing, patience: .infinity)
        guard ending == .exit(0) else {
            let output = (try? String(contentsOfFile: "\(folder)/\(ImporterProcess.output)", encoding: .utf8)) ?? ""
            throw ImportError(
                .fault,
                "an import of made-up data ended with \(Self.text(ending))",
                advice: MessageText(output.trimmingCharacters(in: .newlines))
            )
        }
        return start.duration(to: .now) / .seconds(1)
    }

    /// Imports until it ends by itself, and stops it before in all sorts of ways.
    private mutating func importStopped(_ test: SelfTestCase, _ input: Data?, _ seconds: Double) throws -> String? {
        for attempt in 0... {
            let stop = attempt < Self.mostStops ? drawStop(seconds) : .nothing
            let command = command(test, into: "stopped.sqlite") + drawRunOptions()
            history.append("\(shown(command, test))  # \(stop.text)")
            let ending = try perform(command, input, stop, patience: max(Self.patience, 100 * seconds))
            switch (ending, stop) {
            case (.exit(0), _): return nil
            // A stream that was killed when it was finished is refused. The stores are compared all the same.
            case (.exit(64), _) where test.input != nil && attempt > 0: return nil
            case (.signal(SIGKILL), .kill(let point, _, _)):
                counts.kills += 1
                counts.killsOfResumed += attempt > 0 ? 1 : 0
                stops[point, default: 0] += 1
            // It has not come as far as to look out for signals.
            case (.exit(130), .interrupt), (.signal(SIGINT), .interrupt): counts.interrupted += 1
            case (.exit(73), .full), (.exit(74), .full): counts.full += 1
            default: return "the import that was stopped \(attempt) times before ended with \(Self.text(ending))"
            }
        }
        return nil
    }

    private func difference(_ test: SelfTestCase) throws -> String? {
        let stopped = "\(folder)/stopped.sqlite"
        do {
            // A mirror that was killed when it was finished is done again: it is not the sources alone that may have changed.
            let countsJobs = test.shape != .mirror
            let whole = try StoreState(of: "\(folder)/whole.sqlite", countsJobs: countsJobs)
            let found = try StoreState(of: stopped, countsJobs: countsJobs)
            if let difference = found.difference(from: whole) { return difference }
            if let problem = try StoreCheck.problem(of: stopped) { return problem }
        } catch let error as ImportError where !error.isInterruption {
            return error.message
        }
        let left = try? FileManager.default.contentsOfDirectory(atPath: stopped + ".chunks")
        return left.map { "the folder of chunks is left: \($0.sorted().joined(separator: ", "))" }
    }

    // MARK: Processes

    private func command(_ test: SelfTestCase, into store: String) -> [String] {
        ["import"] + test.arguments + ["--into", store, "--progress", "none"]
    }

    private func shown(_ command: [String], _ test: SelfTestCase) -> String {
        let words = command.map { $0 == "-" ? $0 : $0.shellWord }.joined(separator: " ")
        return (test.input.map { "cat \($0) | " } ?? "") + "\(program.shellQuoted) \(words)"
    }

    /// - Returns: how it ended; nil if it did not, and was killed.
    private func perform(_ command: [String], _ input: Data?, _ stop: Stop, patience: Double) throws
        -> ImporterProcess.Ending?
    {
        var (blocks, passed): (Int?, Int) = (nil, 0)
        if case .full(let most) = stop { blocks = most }
        let process = try ImporterProcess(program, command, in: folder, input: input, blocks: blocks)
        var watch = ImportFileWatch(store: "\(folder)/stopped.sqlite")
        let clock = ContinuousClock()
        let start = clock.now
        var isSent = false
        while !process.hasEnded {
            if interruption.isRequested {
                process.kill()
                throw interruption.error
            }
            let elapsed = start.duration(to: clock.now) / .seconds(1)
            if elapsed > patience {
                process.kill()
                return nil
            }
            switch stop {
            case .kill(.moment, _, let seconds): if elapsed >= seconds { process.send(SIGKILL) }
            case .kill(let point, let passes, _):
                if watch.hasPassed(point) { passed += 1 }
                if passed >= passes { process.send(SIGKILL) }
            case .interrupt(let seconds):
                if elapsed >= seconds, !isSent {
                    process.send(SIGINT)
                    isSent = true
                }
            case .full, .nothing: break
            }
            usleep(Self.lookInMicroseconds)
        }
        return process.ending
    }

    private static func text(_ ending: ImporterProcess.Ending?) -> String {
        (ending?.text ?? "nothing: it went on and on") + "; \(ImporterProcess.output) has what it printed"
    }

    // MARK: Chance

    private mutating func drawStop(_ seconds: Double) -> Stop {
        // Many small commits take longer than what was let alone.
        let share = Double.random(in: 0...1.5, using: &random) * Double.random(in: 0...1, using: &random)
        let moment = (share * seconds * 1_000).rounded() / 1_000
        switch random.number(0...9) {
        case 0:
            var status = stat()
            stat("\(folder)/whole.sqlite", &status)
            // What is mapped for a WAL has to fit.
            let least = 65_536 / ImporterProcess.blockBytes
            return .full(blocks: random.number(least...max(least, Int(status.st_size) / ImporterProcess.blockBytes)))
        case 1: return .interrupt(seconds: moment)
        case 2...5: return .kill(.moment, passes: 0, seconds: moment)
        default:
            let point = random.one(of: [StopPoint.chunk, .commit, .done, .end])
            return .kill(point, passes: point == .end ? 1 : random.number(1...6), seconds: 0)
        }
    }

    private mutating func drawRunOptions() -> [String] {
        [
            "--workers", "\(random.number(1...4))", "--chunk-size", "\(random.number(1_000...12_000))",
            "--commit-every", "\(random.number(5...60))", "--durability", random.one(of: ["normal", "full"]),
        ]
    }

    private func write(_ files: [String: Data]) throws {
        for (name, data) in files {
            let url = URL(fileURLWithPath: "\(folder)/\(name)")
            do {
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                // In place: a file that grows stays the same file.
                try data.write(to: url)
            } catch {
                throw ImportError(.cannotWrite, at: url.path, "cannot be written: \(error.localizedDescription)")
            }
        }
    }
}
