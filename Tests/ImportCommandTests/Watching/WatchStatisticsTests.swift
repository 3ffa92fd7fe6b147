import Importer
import Testing

@testable import ImportCommand

struct WatchStatisticsTests {
    /// Where nothing happens a watcher has nothing new to say.
    @Test(arguments: [ImportReport.State.interrupted, .finished, .failed])
    func haveNoSpeedWhileNothingRuns(state: ImportReport.State) {
        var meter = ProgressMeter(purpose: .importing)
        var statistics = WatchStatistics(look: WatchSamples.look())
        for second in 0...3 {
            statistics.look.records = Int64(second) * 100
            let frame = statistics.frame(&meter, elapsed: Double(second))
            #expect(frame.recordsPerSecond == (second == 0 ? nil : 100))
        }
        statistics.look.state = state
        let first = statistics.frame(&meter, elapsed: 4)
        for second in 5...12 { #expect(statistics.frame(&meter, elapsed: Double(second)) == first) }
        #expect(first.recordsPerSecond == nil && first.bytesPerSecond == nil && first.secondsLeft == nil)
        #expect(first.elapsed == statistics.look.seconds)
    }
}
