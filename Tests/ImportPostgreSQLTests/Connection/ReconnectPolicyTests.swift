import Importer
import Testing

@testable import ImportPostgreSQL

struct ReconnectPolicyTests {
    private let lost = PGError(message: "gone", isConnectionLost: true)

    @Test func waitsLongerEachTimeUpToTenSeconds() {
        var reconnection = ReconnectPolicy(for: .seconds(1_000))
        let delays = (0..<9).map { _ in reconnection.nextDelay(jitter: 1) }
        #expect(delays == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10].map { .seconds($0) })
    }

    @Test func endsWhenTheTimeIsOver() {
        var reconnection = ReconnectPolicy(for: .seconds(5))
        let start = ContinuousClock.now
        #expect(reconnection.nextDelay(now: start, jitter: 1) == .seconds(0.1))
        // The last attempt is at the end, not after it.
        #expect(reconnection.nextDelay(now: start + .milliseconds(4_900), jitter: 1) == .milliseconds(100))
        #expect(reconnection.nextDelay(now: start + .seconds(5), jitter: 1) == nil)
    }

    @Test func endsWithHowToResume() throws {
        var reconnection = ReconnectPolicy(for: .zero)
        let error = #expect(throws: ImportError.self) {
            try reconnection.wait(after: lost, label: "postgresql://a/b", Interruption())
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("gone") == true)
        #expect(error?.remedy?.text { "\($0)".contains("postgresql://a/b") ? "resume" : "" }.contains("resume") == true)
    }

    @Test func doesNotWaitForWhatStays() throws {
        var reconnection = ReconnectPolicy(for: .seconds(1_000))
        let failure = PGError(sqlState: "28P01", message: "no")
        let error = #expect(throws: ImportError.self) {
            try reconnection.wait(after: failure, label: "postgresql://a/b", Interruption())
        }
        #expect(error?.reason == .loginRefused)
    }

    @Test func hearsAnInterruption() throws {
        var reconnection = ReconnectPolicy(for: .seconds(1_000))
        let interruption = Interruption()
        interruption.request(.terminate)
        let error = #expect(throws: ImportError.self) {
            try reconnection.wait(after: lost, label: "postgresql://a/b", interruption)
        }
        #expect(error?.reason == .terminated)
    }

    @Test func aPasswordIsAskedForOnce() {
        let questions = SharedCount()
        let memory = PasswordCache { question in
            questions.add()
            return question + "!"
        }
        #expect(memory.answer(to: "a") == "a!")
        #expect(memory.answer(to: "a") == "a!")
        #expect(memory.answer(to: "b") == "b!")
        #expect(questions.value == 2)
    }
}
