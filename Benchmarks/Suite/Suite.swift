import Benchmark
import StageBenchmarks

/// What the benchmark package's generated `main` calls.
let benchmarks: @Sendable () -> Void = {
    for stage in StageBenchmark.all { register(stage) }
}

private func register(_ stage: StageBenchmark) {
    let preparation = Preparation()
    let configuration = Benchmark.Configuration(
        // A JMH file, which scripts/bench reads, needs the throughput.
        metrics: [.wallClock, .throughput],
        timeUnits: .microseconds,
        warmupIterations: 1,
        maxDuration: .seconds(2),
        maxIterations: 50
    )
    Benchmark(stage.name, configuration: configuration) { benchmark in
        try preparation.run { body in
            benchmark.startMeasurement()
            try body()
            benchmark.stopMeasurement()
        }
    } setup: {
        try preparation.prepare(stage)
    } teardown: {
        preparation.end()
    }
}

/// A benchmark's data and what is done in each run, from its setup to its teardown.
private final class Preparation {
    private var workplace: Workplace?
    private var body: ((Measure) throws -> Void)?

    func prepare(_ stage: StageBenchmark) throws {
        let workplace = try Workplace()
        self.workplace = workplace
        body = try stage.prepare(workplace)
    }

    func run(_ measure: Measure) throws {
        try body?(measure)
    }

    func end() {
        body = nil
        workplace = nil
    }
}
