import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A terminal that is taken for a full screen, and given back as it was on any exit.
///
/// There is one per process, as there is one terminal: whoever ends the process asks `restore`, also a signal that kills.
final class TerminalMode: Sendable {
    /// The alternate screen, without a cursor, and without lines that wrap.
    static let enterSequence = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l"
    static let leaveSequence: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// What must be known to give the terminal back, in a form that a signal handler can read.
    private struct Taken {
        var input: Int32 = -1
        var output: Int32 = -1
        var modes = termios()
    }

    // Written while `isTaken` is false only, and read by whoever makes it false.
    nonisolated(unsafe) private static var taken = Taken()
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
            Self.catchCrashes()
            (Self.taken.input, Self.taken.output, Self.taken.modes) = (input, output, modes)
            Self.isTaken.store(true, ordering: .releasing)
        }
        var modes = Self.taken.modes
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        modes.c_iflag &= ~tcflag_t(IXON)
        tcsetattr(input, TCSADRAIN, &modes)
        return RawOutput.writeAll(Self.enterSequence, to: output) == 0
    }

    /// Gives the terminal back.
    func leave() { Self.restore() }

    /// Gives the terminal back, if it is taken.
    ///
    /// Any thread may ask, and a signal handler: it calls nothing that is not safe there.
    static func restore() {
        guard isTaken.exchange(false, ordering: .acquiringAndReleasing) else { return }
        _ = write(taken.output, leaveSequence.utf8Start, leaveSequence.utf8CodeUnitCount)
        tcsetattr(taken.input, TCSADRAIN, &taken.modes)
    }

    /// A fault of the program must not leave a terminal that shows nothing of what is typed.
    private static func catchCrashes() {
        for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { number in
                TerminalMode.restore()
                raise(number)
            }
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_NODEFER)
            sigaction(number, &action, nil)
        }
    }
}
