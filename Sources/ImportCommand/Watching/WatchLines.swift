import Foundation
import Importer

/// A store's import as a line per second, where there is no terminal.
///
/// While nothing happens nothing is printed.
struct WatchLines {
    /// Between two lines.
    private static let intervalInMilliseconds: Int32 = 1000

    let store: String
    /// True if it continues when the job is finished.
    let follows: Bool
    /// True if a line is a JSON object.
    let isJSON: Bool

    /// Prints until the job is finished or `interruption` asks for an end.
    ///
    /// - Throws: `ImportError` when the store cannot be read, `OutputClosed` when nobody reads the lines.
    func run(_ interruption: Interruption) throws {
        let watch = StoreWatch(store: store)
        var meter = ProgressMeter(purpose: .importing)
        var statistics = WatchStatistics()
        var last = ""
        let start = ContinuousClock.now
        while true {
            if try watch.connect() == nil { statistics.look = StoreSnapshot() }
            if let look = try watch.look() { statistics.look = look }
            let frame = statistics.frame(&meter, elapsed: start.duration(to: .now) / .seconds(1))
            let line = try text(frame, statistics)
            if line != last { try StandardOutput.write(line) }
            last = line
            if statistics.look.state == .finished, !follows { return }
            guard try wait(interruption) else { return }
        }
    }

    private func text(_ frame: ProgressFrame, _ statistics: WatchStatistics) throws -> String {
        if isJSON {
            let counts = statistics.look.entities.map { ($0.name, $0.counts) }
            let entities = Dictionary(counts) { first, _ in first }
            return try ProgressLine.json(frame, state: statistics.stateText, entities: entities)
        }
        switch statistics.look.job == nil ? nil : statistics.look.state {
        case nil: return TerminalText.escaped("waiting for an import into \(store)") + "\n"
        case .interrupted?: return "interrupted, " + ProgressLine.text(frame) + "\n"
        case .failed?:
            let reason = statistics.look.message.map { " (\($0))" } ?? ""
            return TerminalText.escaped("failed\(reason), " + ProgressLine.text(frame)) + "\n"
        default: return ProgressLine.text(frame) + "\n"
        }
    }

    /// Waits for the next line; false when the end was asked for.
    private func wait(_ interruption: Interruption) throws -> Bool {
        var rest = Self.intervalInMilliseconds
        while rest > 0 {
            if interruption.isRequested { return false }
            var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            // A pipe that nobody reads is known before anything is written to it.
            if poll(&output, 1, 100) > 0, output.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 {
                throw OutputClosed()
            }
            rest -= 100
        }
        return true
    }
}
