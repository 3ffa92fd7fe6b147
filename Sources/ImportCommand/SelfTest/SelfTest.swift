import Foundation
import Importer

/// Imports made-up data for some minutes, stops these imports again and again, and compares.
struct SelfTest {
    /// The folder in which its own is made.
    let directory: String
    let seed: UInt64
    let minutes: Double
    let interruption: Interruption

    /// Runs the test; nothing is left of it unless something differs.
    ///
    /// - Parameter show: is given the result so far, and what is being done.
    /// - Throws: `ImportError` if it is interrupted, or the folder cannot be used.
    func run(_ show: (SelfTestReport, String) -> Void) throws -> SelfTestReport {
        let program: String
        do {
            program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        } catch {
            throw ImportError(.systemCallFailed, "the system does not say where this program is: \(error)")
        }
        let folder = URL(fileURLWithPath: directory).appendingPathComponent("importer-selftest-\(UUID().uuidString)")
            .path
        guard mkdir(folder, 0o700) == 0 else { throw ImportError.system(errno, "make the folder", folder) }
        var isKept = false
        defer { if !isKept { try? FileManager.default.removeItem(atPath: folder) } }

        let clock = ContinuousClock()
        let start = clock.now
        var report = SelfTestReport(directory: directory, seed: seed)
        for (kind, name) in SelfTestReport.Speed.kinds {
            show(report, "measuring \(name)")
            report.speeds.append(try speed(kind, name, program, in: folder))
        }
        var random = SeededNumbers(seed: seed)
        var number = 0
        repeat {
            let shape = SelfTestCase.Shape.allCases[number % SelfTestCase.Shape.allCases.count]
            number += 1
            show(report, shape.rawValue)
            let own = "\(folder)/\(number)"
            guard mkdir(own, 0o700) == 0 else { throw ImportError.system(errno, "make the folder", own) }
            let test = SelfTestCase(shape, seed: random.next())
            var run = SelfTestRun(program, in: own, interruption, SeededNumbers(seed: random.next()))
            let problem = try run.run(test)
            report.add(run, of: shape)
            if let problem {
                isKept = true
                report.difference = SelfTestReport.Difference(
                    shape: shape.rawValue,
                    what: problem,
                    folder: own,
                    commands: run.history
                )
                break
            }
            try? FileManager.default.removeItem(atPath: own)
            report.seconds = start.duration(to: clock.now) / .seconds(1)
        } while report.seconds < minutes * 60
        report.seconds = start.duration(to: clock.now) / .seconds(1)
        return report
    }

    /// Measures an import that is left alone, the start of the program included.
    private func speed(_ shape: SelfTestCase.Shape, _ name: String, _ program: String, in folder: String) throws
        -> SelfTestReport.Speed
    {
        let own = "\(folder)/speed"
        guard mkdir(own, 0o700) == 0 else { throw ImportError.system(errno, "make the folder", own) }
        defer { try? FileManager.default.removeItem(atPath: own) }
        let records = Int(min(max(minutes * 100_000, 2_000), 100_000))
        let test = SelfTestCase(shape, seed: seed, records: records)
        var run = SelfTestRun(program, in: own, interruption, SeededNumbers(seed: seed))
        let seconds = try run.measure(test)
        let bytes = test.nights.first?.values.reduce(0) { $0 + $1.count } ?? 0
        return SelfTestReport.Speed(
            name: name,
            recordsPerSecond: Double(records) / seconds,
            bytesPerSecond: Double(bytes) / seconds
        )
    }
}
