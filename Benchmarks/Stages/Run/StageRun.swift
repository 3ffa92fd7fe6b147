import CCallgrind
import Foundation
import StageBenchmarks

/// One benchmark, once: a first run that does not count, and one that does.
///
/// Apart from the benchmark package's program: it has one thread of its own and no more, which is what valgrind can follow.
@main
enum StageRun {
    /// `list` prints all names and floors, a line each.
    ///
    /// A benchmark's name runs it and prints a line: the name, how many records it went through, and nanoseconds of the
    /// clock and of the processor.
    static func main() {
        exit(run(CommandLine.arguments.dropFirst().first ?? "list"))
    }

    private static func run(_ name: String) -> Int32 {
        if name == "list" {
            for stage in StageBenchmark.all { print("\(stage.name)\t\(stage.floor ?? "")") }
            return 0
        }
        guard let stage = StageBenchmark.all.first(where: { $0.name == name }) else {
            FileHandle.standardError.write(Data("there is no benchmark \(name)\n".utf8))
            return 64
        }
        do {
            let workplace = try Workplace()
            let body = try stage.prepare(workplace)
            try body { try $0() }
            var spent = (clock: 0, processor: 0)
            try body { measured in
                let start = now
                ccallgrind_start()
                try measured()
                ccallgrind_stop()
                let end = now
                spent = (end.clock - start.clock, end.processor - start.processor)
            }
            print("\(name)\t\(workplace.records * stage.passes)\t\(spent.clock)\t\(spent.processor)")
            return 0
        } catch {
            FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
            return 1
        }
    }

    private static var now: (clock: Int, processor: Int) {
        (nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_PROCESS_CPUTIME_ID))
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int(time.tv_sec) * 1_000_000_000 + Int(time.tv_nsec)
    }
}
