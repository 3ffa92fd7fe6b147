import Importer
import Testing

@testable import ImportServer

/// What is kept of how fast an import has been.
struct ThroughputHistoryTests {
    private func statistics(_ records: Int64, job: Int64? = 1, state: ImportReport.State = .running) -> WatchStatistics
    {
        var look = StoreSnapshot()
        look.job = job
        look.state = state
        look.hasModel = true
        look.records = records
        return WatchStatistics(look: look)
    }

    @Test func aSampleASecondForTenMinutes() {
        var history = ThroughputHistory()
        for quarter in 0..<8_000 { history.add(statistics(Int64(quarter)), at: Double(quarter) / 4) }
        #expect(history.samples.count <= 600 && history.samples.count > 590)
        #expect(history.samples.last.map { $0.time > 1_998 } == true)
        #expect(history.samples.first.map { $0.time > 1_398 } == true)
        #expect(zip(history.samples, history.samples.dropFirst()).allSatisfy { $1.time - $0.time > 0.9 })
    }

    @Test func whatDoesNotChangeIsKeptOnce() {
        var history = ThroughputHistory()
        history.add(statistics(5, state: .finished), at: 0)
        for second in 1...1_000 { history.add(statistics(5, state: .finished), at: Double(second)) }
        #expect(history.samples.map(\.records) == [5])
    }

    /// An import of less than a second has a beginning and an end.
    @Test func whatWasDoneLastIsKeptHoweverSoon() {
        var history = ThroughputHistory()
        history.add(statistics(5), at: 0)
        history.add(statistics(8), at: 0.25)
        history.add(statistics(9, state: .finished), at: 0.5)
        #expect(history.samples.map(\.records) == [5, 9])
    }

    @Test func anotherJobBeginsAnew() {
        var history = ThroughputHistory()
        for second in 0...9 { history.add(statistics(Int64(second)), at: Double(second)) }
        history.add(statistics(100, job: 2), at: 10)
        #expect(history.samples.map(\.records) == [100])
        history.add(statistics(3, job: 2), at: 11)
        #expect(history.samples.map(\.records) == [3])
        history.add(statistics(0, job: nil), at: 12)
        #expect(history.samples.isEmpty)
    }
}
