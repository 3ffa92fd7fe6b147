import TestSupport
import Testing

/// What a test has to say of a program for which it waited in vain.
struct RunningProgramTests {
    @Test func tellsWhatItsThreadsDo() throws {
        let child = try ChildProcess(["sleep", "100"])
        try wait(for: "sleep", instead: { child.account }) {
            child.account.hasPrefix("thread \(child.processIdentifier): sleep S ") ? true : nil
        }
    }

    @Test func tellsHowItEndedAndWhatItSaid() throws {
        let child = try ChildProcess(["sh", "-c", "echo out; echo bad >&2; exit 3"])
        child.wait()
        #expect(child.account == "exit(3)\nout\nbad\n")
    }
}
