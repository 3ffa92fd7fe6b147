import Foundation
import Importer

/// The live view on a terminal: waits for keys, for what the reader finds and for the terminal's own events, and draws.
///
/// Used by one thread.
final class WatchScreen {
    /// How a view ended.
    enum Ending {
        /// By a key.
        case quit
        /// The job is finished.
        case finished
        /// It was asked for.
        case stopped
        /// The terminal is gone.
        case closed
        case failed(ImportError)
    }

    /// What is watched, and how.
    struct Options: Sendable {
        var store: String
        var entity: String?
        var sort: [RecordSort] = []
        /// True if it stays when the job is finished.
        var follows = false
    }

    /// Where it is shown.
    struct Display: Sendable {
        let options: Options
        let terminal: TerminalMode
        let output: Int32
        let signals: TerminalSignals

        /// To be made on the main thread before others are made.
        ///
        /// - Returns: nil where there is no terminal that can show it.
        /// - Throws: `ImportError` with `.noResources` when the system gives no thread or descriptor.
        init?(_ options: Options, output: Int32) throws {
            guard Terminal.canRedraw(output, environment: ProcessInfo.processInfo.environment),
                let terminal = TerminalMode(output: output)
            else { return nil }
            self.options = options
            self.terminal = terminal
            self.output = output
            signals = try TerminalSignals.start()
        }
    }

    /// In seconds: a picture takes at most an eightieth of one processor.
    private static let drawInterval = 0.1
    private static let drawShare = 80.0

    private let options: Options
    private let terminal: TerminalMode
    private let output: Int32
    private let signals: TerminalSignals
    private let reader: WatchReader
    private let own: ImportProgress?
    private let style: ProgressBar.Style
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var state: WatchState
    private var meter = ProgressMeter(purpose: .importing)
    private var keys = KeyReader()
    private var lastByte = ContinuousClock.now
    private var drawn: TerminalScreen?
    private var isDirty = true
    private var isOut = true
    private var lastMeter = -1.0
    private var lastDraw = 0.0
    private var nextDraw = 0.0

    /// - Parameter own: the progress of the import, in its own process.
    /// - Throws: `ImportError` with `.noResources` when the system gives no thread to read the store.
    init(_ display: Display, own: ImportProgress? = nil) throws {
        let environment = ProcessInfo.processInfo.environment
        options = display.options
        terminal = display.terminal
        output = display.output
        signals = display.signals
        self.own = own
        style = ProgressBar.Style(
            isUnicode: Terminal.isUTF8(environment: environment),
            isColored: (environment["NO_COLOR"] ?? "").isEmpty
        )
        start = clock.now
        let name = options.store.split(separator: "/").last.map(String.init) ?? options.store
        state = WatchState(store: name, entity: options.entity, sort: options.sort)
        reader = try WatchReader(store: options.store) { [signals] in signals.wake() }
    }

    /// How far the import is, as last seen.
    var frame: ProgressFrame { state.frame }

    /// Shows the view until it ends; the terminal is as it was before, then.
    ///
    /// - Parameter shouldStop: asked 10 times a second: whether to end, and what else there is to say.
    func run(_ shouldStop: () -> (isStopped: Bool, message: String?)) -> Ending {
        defer {
            reader.stop()
            terminal.leave()
            signals.end()
        }
        while true {
            guard let bytes = wait() else { return .closed }
            let control = shouldStop()
            if control.isStopped { return .stopped }
            if isOut, Terminal.isForeground(output), !comeIn() { return .closed }
            for key in pressed(bytes) {
                isDirty = true
                nextDraw = 0
                switch state.press(key) {
                case .quit: return .quit
                case .redraw: drawn = nil
                case .nothing: break
                }
            }
            handle(signals.take())
            let now = start.duration(to: clock.now) / .seconds(1)
            if let findings = reader.take(), let ending = take(findings, at: now) { return ending }
            say(control.message)
            measure(at: now)
            if state.marksEnd(after: lastDraw, until: now) { isDirty = true }
            if isDirty, now >= nextDraw, !draw(at: now) { return .closed }
            reader.ask(state.request)
        }
    }

    // MARK: Waiting

    /// Waits for a key, an event or the time of the next look; nil when the terminal is gone.
    private func wait() -> [UInt8]? {
        var polled = [
            pollfd(fd: signals.wakeDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: output, events: 0, revents: 0),
            pollfd(fd: terminal.input, events: Int16(POLLIN), revents: 0),
        ]
        // Keys are the shell's while this is a background job.
        let count = isOut && !Terminal.isForeground(output) ? 2 : 3
        let pause = keys.isInside ? 20 : Int32(Self.drawInterval * 1000)
        guard poll(&polled, nfds_t(count), pause) > 0 else { return [] }
        let gone = Int16(POLLERR | POLLHUP | POLLNVAL)
        if polled[1].revents & gone != 0 || polled[2].revents & Int16(POLLNVAL) != 0 { return nil }
        guard count == 3, polled[2].revents != 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 256)
        let got = read(terminal.input, &buffer, buffer.count)
        if got > 0 { return Array(buffer[..<got]) }
        return got < 0 && (errno == EINTR || errno == EAGAIN) ? [] : nil
    }

    /// The keys that `bytes` complete, or that do not continue for a while.
    private func pressed(_ bytes: [UInt8]) -> [Key] {
        if !bytes.isEmpty {
            lastByte = clock.now
            return keys.take(bytes)
        }
        return keys.isInside && lastByte.duration(to: clock.now) > .milliseconds(50) ? keys.flush() : []
    }

    /// Takes the terminal; false when it is gone.
    private func comeIn() -> Bool {
        guard terminal.enter() else { return false }
        isOut = false
        drawn = nil
        isDirty = true
        return true
    }

    private func handle(_ events: TerminalSignals.Events) {
        if events.isSuspended {
            terminal.leave()
            isOut = true
            // What the key would have done without us.
            TerminalSignals.suspend()
        } else if events.isContinued {
            // Anyone who had the terminal meanwhile may have left it in any mode.
            isOut = true
        }
        if events.isResized {
            isDirty = true
            nextDraw = 0
        }
    }

    // MARK: Figures

    private func take(_ findings: WatchReader.Findings, at now: Double) -> Ending? {
        isDirty = true
        // An import is not ended by its view, nor a view by a lock that another program holds for long.
        if let error = findings.error, own == nil, error.code != .inUse { return .failed(error) }
        state.trouble = findings.error.map { CommandLineTerms().text($0.text) }
        do {
            if let look = findings.look { try state.take(look) }
            if findings.isThere == false, state.statistics.look.job != nil { try state.take(StoreSnapshot()) }
        } catch {
            return .failed(error as? ImportError ?? ImportError(.fault, "\(error)"))
        }
        if let records = findings.records { state.take(records, at: now) }
        let isOver = state.statistics.look.state == .finished && own == nil && !options.follows
        if isOver { measure(at: now, isLast: true) }
        return isOver ? .finished : nil
    }

    private func say(_ message: String?) {
        guard let message, state.message != message else { return }
        state.message = message
        isDirty = true
    }

    private func measure(at now: Double, isLast: Bool = false) {
        let own = own?.snapshot
        if own != state.statistics.own {
            state.statistics.own = own
            isDirty = true
        }
        guard isLast || now - lastMeter >= (isDirty ? Self.drawInterval : 1) else { return }
        lastMeter = now
        let statistics = state.statistics
        let frame = statistics.frame(&meter, elapsed: now)
        if statistics.isRunning {
            let snapshot = frame.snapshot
            let records = frame.work == .import ? snapshot.importedRecords : snapshot.splitRecords
            state.history.add(records: records - snapshot.resumedRecords, at: now)
        }
        if frame != state.frame {
            state.frame = frame
            isDirty = true
        }
    }

    // MARK: Drawing

    /// Draws what has changed; false when the terminal is gone.
    private func draw(at now: Double) -> Bool {
        guard !isOut else { return true }
        let began = ThreadTime.now
        let layout = WatchLayout(size: TerminalSize(of: output), isUnicode: style.isUnicode)
        state.pageRows = layout.pageRows(for: state)
        let screen = layout.screen(state, at: now)
        let changes = screen.changes(from: drawn, hasColors: style.isColored)
        let isWhole = drawn == nil
        drawn = screen
        isDirty = false
        lastDraw = now
        let isWritten = changes.isEmpty || RawOutput.writeAll(changes, to: output) == 0
        let cost = ThreadTime.now - began
        nextDraw = now + max(Self.drawInterval, isWhole ? 0 : cost * Self.drawShare)
        return isWritten
    }
}
