import Foundation
import Synchronization
import Testing

@testable import ImportCommand

/// One after the other: the handlers are the process's.
@Suite(.serialized) struct CrashHandlerTests {
    /// Anyone who wanted to know of a crash before is told, and what was there before is there again.
    @Test func handsOnToTheHandlerThatWasThereBefore() {
        let calls = Calls.count
        var own = sigaction()
        own.__sigaction_handler.sa_handler = { _ in Calls.note() }
        var before = sigaction()
        sigaction(SIGTRAP, &own, &before)
        defer { sigaction(SIGTRAP, &before, nil) }
        for round in 1...2 {
            // The second time, it must not hand on to itself.
            CrashHandlers.install()
            CrashHandlers.install()
            raise(SIGTRAP)
            #expect(Calls.count == calls + round)
        }
        raise(SIGTRAP)
        #expect(Calls.count == calls + 3)
    }

    /// A handler has a stack where that of the thread is full, and one that is ignored stays so.
    @Test func hasAStackOfItsOwn() {
        var ignoring = sigaction()
        ignoring.__sigaction_handler.sa_handler = SIG_IGN
        var before = sigaction()
        sigaction(SIGQUIT, &ignoring, &before)
        defer { sigaction(SIGQUIT, &before, nil) }
        CrashHandlers.install()
        var stack = stack_t()
        #expect(sigaltstack(nil, &stack) == 0 && stack.ss_flags & Int32(SS_DISABLE) == 0)
        for number in CrashHandlers.signals where number != SIGQUIT && number != SIGTRAP {
            var action = sigaction()
            sigaction(number, nil, &action)
            #expect(action.sa_flags & SA_ONSTACK != 0 && action.sa_flags & SA_SIGINFO != 0)
        }
        var action = sigaction()
        sigaction(SIGQUIT, nil, &action)
        #expect(unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1)
    }

    /// What a signal handler can count in.
    private enum Calls {
        private static let counter = Atomic(0)

        static var count: Int { counter.load(ordering: .relaxed) }

        static func note() { counter.wrappingAdd(1, ordering: .relaxed) }
    }
}
