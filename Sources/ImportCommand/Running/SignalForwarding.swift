import Dispatch
import Foundation
import Importer

/// Turns SIGINT, SIGTERM and SIGHUP into a request to stop; a second signal ends the process at once.
///
/// The signals are blocked and one thread waits for them (`sigwait(3)`), so nothing has to be async-signal-safe.
enum SignalForwarding {
    /// One request often comes as two signals: `timeout` signals its child and then the child's group.
    private static let echo: Duration = .milliseconds(200)

    /// Starts forwarding.
    ///
    /// To be called on the main thread before others are made: they inherit its mask.
    ///
    /// - Throws: `ImportError` with `.noResources` when the system gives no thread.
    static func start(to interruption: Interruption) throws {
        try start { interruption.request(reason(of: $0)) }
    }

    /// The same for commands that only read: the process ends soon after the first signal, whatever it waits for.
    ///
    /// - Throws: as `start(to:)` does.
    static func endSoon(after interruption: Interruption) throws {
        try start { number in
            interruption.request(reason(of: number))
            Thread.sleep(forTimeInterval: patience)
            _exit(128 + number)
        }
    }

    /// How long a reader may take to end what it has begun, in seconds.
    private static let patience = 1.0

    /// Has the first signal end the process, which leaves no file that is not whole: for commands that write nothing else.
    ///
    /// To be called as `start(to:)` is, and instead of it.
    ///
    /// - Throws: `ImportError` with `.noResources` when the system gives no thread.
    static func endAtOnce() throws {
        try start { number in
            AtomicFile.discardAll {
                StandardError.write("importer: \(reason(of: number).message)\n")
                _exit(128 + number)
            }
        }
    }

    /// - Parameter ask: is given the first signal.
    private static func start(_ ask: @escaping @Sendable (Int32) -> Void) throws {
        var signals: [Int32] = [SIGINT, SIGTERM]
        // A shell without job control starts background jobs with SIGINT ignored. An import that was asked to stop stops.
        signal(SIGINT, SIG_DFL)
        // `nohup` is to be respected.
        if !isIgnored(SIGHUP) { signals.append(SIGHUP) }

        var set = sigset_t()
        sigemptyset(&set)
        for number in signals { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let waited = set
        try SystemThread.start(to: "wait for signals") {
            var set = waited
            var first: (code: Int32, time: ContinuousClock.Instant)?
            while true {
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                if let first {
                    guard first.time.duration(to: .now) > echo else { continue }
                    TerminalMode.restore()
                    if TerminalMode.hasRoom(STDERR_FILENO) { StandardError.write("\n") }
                    _exit(first.code)
                }
                first = (128 + number, .now)
                ask(number)
            }
        }
    }

    private static func reason(of signal: Int32) -> Interruption.Reason {
        switch signal {
        case SIGHUP: .hangup
        case SIGTERM: .terminate
        default: .interrupt
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        let previous = signal(number, SIG_IGN)
        guard let previous else {
            signal(number, SIG_DFL)
            return false
        }
        _ = signal(number, previous)
        return unsafeBitCast(previous, to: Int.self) == 1
    }
}
