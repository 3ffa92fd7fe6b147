import Testing

@testable import ImportCommand
@testable import Importer

struct ProgressMeterTests {
    private func snapshot(bytes: Int64, records: Int64, resumed: Int64 = 0) -> ImportProgress.Snapshot {
        var snapshot = ImportProgress.Snapshot()
        snapshot.phase = .importing
        snapshot.totalBytes = 10_000
        snapshot.splitBytes = bytes
        snapshot.importedBytes = bytes
        snapshot.importedRecords = records
        snapshot.resumedBytes = resumed
        return snapshot
    }

    @Test func ratesAreThoseOfTheWindow() {
        var meter = ProgressMeter(purpose: .importing)
        var frame = ProgressFrame()
        // A slow minute and then a fast one: after the window has passed only the fast one counts.
        for second in 0...60 { frame = meter.add(snapshot(bytes: Int64(second), records: 0), elapsed: Double(second)) }
        for second in 1...10 {
            frame = meter.add(
                snapshot(bytes: 60 + Int64(second) * 100, records: Int64(second) * 10),
                elapsed: 60 + Double(second)
            )
        }
        #expect(frame.bytesPerSecond == 100)
        #expect(frame.recordsPerSecond == 10)
        #expect(frame.secondsLeft == Double(10_000 - 1060) / 100)
    }

    @Test func whatWasThereBeforeIsNoSpeed() {
        var meter = ProgressMeter(purpose: .importing)
        _ = meter.add(ImportProgress.Snapshot(), elapsed: 0)
        _ = meter.add(snapshot(bytes: 5000, records: 0, resumed: 5000), elapsed: 1)
        let frame = meter.add(snapshot(bytes: 5100, records: 0, resumed: 5000), elapsed: 2)
        #expect(frame.bytesPerSecond == 100)
        #expect(frame.secondsLeft == 49)
    }

    @Test func aNewPhaseBeginsAnew() {
        var meter = ProgressMeter(purpose: .importing)
        var inferring = snapshot(bytes: 10_000, records: 100)
        inferring.phase = .inferring
        _ = meter.add(inferring, elapsed: 0)
        #expect(meter.add(inferring, elapsed: 1).work == .infer)
        let frame = meter.add(snapshot(bytes: 0, records: 0), elapsed: 2)
        #expect(frame.work == .import)
        #expect(frame.bytesPerSecond == nil)
    }

    @Test func anInferenceNeverBecomesAnImport() {
        var meter = ProgressMeter(purpose: .inferring)
        var done = snapshot(bytes: 10_000, records: 100)
        done.phase = .inferring
        #expect(meter.add(done, elapsed: 0).work == .infer)
        done.phase = .finished
        #expect(meter.add(done, elapsed: 1).work == .infer)
    }

    @Test func saysNothingOfTheEndWhereItIsUnknown() {
        var meter = ProgressMeter(purpose: .splitting)
        var unknown = snapshot(bytes: 0, records: 0)
        unknown.totalBytes = nil
        _ = meter.add(unknown, elapsed: 0)
        unknown.splitBytes = 500
        let frame = meter.add(unknown, elapsed: 1)
        #expect(frame.bytesPerSecond == 500)
        #expect(frame.secondsLeft == nil)
        #expect(frame.work == nil)
    }
}
