import Foundation
import Importer
import Synchronization

/// What happens to a terminal beside its keys, and a way to wake anyone who waits for keys.
///
/// The signals are blocked and one thread waits for them, as `SignalForwarding` does it.
final class TerminalSignals: Sendable {
    /// What happened since it was last asked.
    struct Events: Sendable, Hashable {
        var isResized = false
        /// Ctrl-Z.
        var isSuspended = false
        var isContinued = false
    }

    private let pipe: WakePipe
    private let events = Mutex(Events())
    private let isOver = Atomic(false)

    private init() throws {
        pipe = try WakePipe()
    }

    /// Readable when something has happened.
    var wakeDescriptor: Int32 { pipe.descriptor }

    /// Starts waiting.
    ///
    /// To be called on the main thread before others are made: they inherit its mask.
    ///
    /// - Throws: `ImportError` with `.noResources` when the system gives no thread or descriptor.
    static func start() throws -> TerminalSignals {
        let signals = try TerminalSignals()
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGWINCH, SIGTSTP, SIGCONT] {
            // One that is ignored is never seen.
            signal(number, SIG_DFL)
            sigaddset(&set, number)
        }
        // The thread must not take what others wait for: it begins with everything blocked.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer {
            pthread_sigmask(SIG_SETMASK, &before, nil)
            pthread_sigmask(SIG_BLOCK, &set, nil)
        }
        let waited = set
        try SystemThread.start(to: "follow the terminal") {
            var set = waited
            while true {
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                signals.note(number)
            }
        }
        return signals
    }

    /// What has happened since the last call.
    func take() -> Events {
        pipe.rest()
        return events.withLock { events in
            defer { events = Events() }
            return events
        }
    }

    /// Stops the process as Ctrl-Z does by itself, until it is continued.
    ///
    /// Not by SIGSTOP: where no shell could continue the process, the system passes this signal over (an orphaned process
    /// group, POSIX.1-2017 XSH 2.4.3), as for a container's only program.
    static func suspend() {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTSTP)
        // For this thread alone, so that no other one takes it.
        raise(SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Nobody takes events any more: Ctrl-Z suspends as it would have done.
    func end() {
        isOver.store(true, ordering: .releasing)
    }

    /// Wakes those that wait.
    func wake() {
        pipe.wake()
    }

    private func note(_ number: Int32) {
        guard !isOver.load(ordering: .acquiring) else {
            if number == SIGTSTP { Self.suspend() }
            return
        }
        events.withLock { events in
            switch number {
            case SIGTSTP: events.isSuspended = true
            case SIGCONT: events.isContinued = true
            default: events.isResized = true
            }
        }
        wake()
    }
}
