import Glibc

/// Gives the terminal back when a fault ends the program, and then lets happen what would have happened without it.
///
/// Everything that runs when a signal comes is async-signal-safe (signal-safety(7)): no memory is allocated, no lock taken.
enum CrashHandlers {
    /// Those that end a program with a core, but not those that it is stopped by.
    static let signals = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP]

    /// As much as others' handlers may need that are called after this one.
    private static let stackSize = 64 << 10

    /// What was to happen before, by signal; never freed, and written once for a signal, before its handler is there.
    nonisolated(unsafe) private static let earlier: UnsafeMutablePointer<sigaction> = {
        let count = Int(signals.max() ?? 0) + 1
        let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: count)
        actions.initialize(repeating: sigaction(), count: count)
        return actions
    }()

    /// Installs the handlers, also again: after one has run, or somebody else has put another in its place.
    ///
    /// A stack that is full has no room for a handler; the calling thread gets another one for it. Threads are made in many
    /// places, and the others do without: a handler cannot be called there.
    static func install() {
        makeAlternateStack()
        let handler: @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void = {
            number,
            info,
            _ in CrashHandlers.handle(number, info)
        }
        for number in signals {
            var present = sigaction()
            guard sigaction(number, nil, &present) == 0 else { continue }
            let address = unsafeBitCast(present.__sigaction_handler.sa_sigaction, to: Int.self)
            // One that is ignored does not end the program.
            guard address != 1, address != unsafeBitCast(handler, to: Int.self) else { continue }
            earlier[Int(number)] = present
            var action = sigaction()
            sigemptyset(&action.sa_mask)
            action.__sigaction_handler.sa_sigaction = handler
            action.sa_flags = SA_SIGINFO | SA_ONSTACK
            sigaction(number, &action, nil)
        }
    }

    private static func makeAlternateStack() {
        var stack = stack_t()
        guard sigaltstack(nil, &stack) == 0, stack.ss_flags & Int32(SS_DISABLE) != 0 else { return }
        stack.ss_sp = malloc(stackSize)
        stack.ss_size = stackSize
        stack.ss_flags = 0
        guard stack.ss_sp != nil else { return }
        sigaltstack(&stack, nil)
    }

    private static func handle(_ number: Int32, _ info: UnsafeMutablePointer<siginfo_t>?) {
        let code = errno
        TerminalMode.restore()
        sigaction(number, earlier + Int(number), nil)
        // A fault comes again when its instruction does, and so the core shows it. What was sent, by abort() or a key, does
        // not: it is sent again, and comes when this function returns.
        let comesAgain: Bool
        switch number {
        case SIGBUS, SIGFPE, SIGILL, SIGSEGV: comesAgain = (info?.pointee.si_code ?? 0) > 0
        default: comesAgain = false
        }
        if !comesAgain { raise(number) }
        errno = code
    }
}
