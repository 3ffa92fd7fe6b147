import Glibc
import Synchronization

/// A terminal that is taken for a full screen, and given back as it was on any exit.
///
/// There is one per process, as there is one terminal: what ends the process calls `restore`, also a signal that kills.
final class TerminalMode: Sendable {
    /// The alternate screen, without a cursor, and without lines that wrap.
    static let enterSequence = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    static let leaveSequence: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// What must be known to give the terminal back.
    private struct SavedState {
        var input: Int32 = -1
        var output: Int32 = -1
        var modes = termios()
    }

    // Written while `isTaken` is false only, and read by the one that makes it false. It is memory of its own, never freed: what
    // guards a variable's value is nothing for a signal handler.
    nonisolated(unsafe) private static let saved: UnsafeMutablePointer<SavedState> = {
        let saved = UnsafeMutablePointer<SavedState>.allocate(capacity: 1)
        saved.initialize(to: SavedState())
        return saved
    }()
    private static let isTaken = Atomic(false)

    /// Where keys come from: standard input, or the terminal itself where that is something else.
    let input: Int32
    private let output: Int32
    private let ownsInput: Bool

    /// Prepares for the terminal behind `output`; nothing is changed yet.
    ///
    /// - Returns: nil where there is no terminal to read keys from.
    init?(output: Int32) {
        self.output = output
        if isatty(STDIN_FILENO) == 1 {
            (input, ownsInput) = (STDIN_FILENO, false)
        } else {
            input = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)
            ownsInput = true
            guard input >= 0 else { return nil }
        }
    }

    deinit {
        leave()
        if ownsInput, input >= 0 { close(input) }
    }

    /// Takes the terminal, or takes it again after somebody else had it: keys come at once and are not echoed; those that
    /// send signals still do.
    ///
    /// - Returns: whether it could be taken.
    @discardableResult
    func enter() -> Bool {
        if !Self.isTaken.load(ordering: .acquiring) {
            var modes = termios()
            guard tcgetattr(input, &modes) == 0 else { return false }
            let saved = Self.saved
            (saved.pointee.input, saved.pointee.output, saved.pointee.modes) = (input, output, modes)
            CrashHandlers.install()
            Self.isTaken.store(true, ordering: .releasing)
        }
        var modes = Self.saved.pointee.modes
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        modes.c_iflag &= ~tcflag_t(IXON)
        tcsetattr(input, TCSANOW, &modes)
        return RawOutput.writeAll(Self.enterSequence, to: output) == 0
    }

    /// Gives the terminal back.
    func leave() { Self.restore(mayWait: true) }

    /// Gives the terminal back, if it is taken, before the process ends at once.
    ///
    /// Any thread may ask, and a signal handler: it calls nothing that is not safe there. It does not wait for a terminal that
    /// takes nothing, as one that is stopped; such a one stays on the other screen.
    static func restore() { restore(mayWait: false) }

    /// True if something can be written there, after waiting a moment for it.
    static func hasRoom(_ descriptor: Int32) -> Bool {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&room, 1, 100) > 0
    }

    private static func restore(mayWait: Bool) {
        guard isTaken.exchange(false, ordering: .acquiringAndReleasing) else { return }
        // It would stop a background job that changes a terminal.
        var stopping = sigset_t()
        var mask = sigset_t()
        sigemptyset(&stopping)
        sigaddset(&stopping, SIGTTOU)
        pthread_sigmask(SIG_BLOCK, &stopping, &mask)
        // No output depends on the modes that are changed, so there is nothing to wait for.
        tcsetattr(saved.pointee.input, TCSANOW, &saved.pointee.modes)
        let output = saved.pointee.output
        if mayWait {
            _ = write(output, leaveSequence.utf8Start, leaveSequence.utf8CodeUnitCount)
        } else {
            let flags = fcntl(output, F_GETFL)
            _ = hasRoom(output)
            _ = fcntl(output, F_SETFL, flags | O_NONBLOCK)
            _ = write(output, leaveSequence.utf8Start, leaveSequence.utf8CodeUnitCount)
            _ = fcntl(output, F_SETFL, flags)
        }
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
}
