import Importer
import Testing

@testable import ImportCommand

struct CommandExitTests {
    @Test(
        arguments: [
            (.optionInvalid, 64), (.notJSON, 65), (.fileNotFound, 66), (.fault, 70), (.noThreads, 71),
            (.pathUnusable, 73),
            (.storeDamaged, 74), (.serverUnavailable, 69), (.storeInUse, 75), (.loginRefused, 77), (.hungUp, 129),
            (.interrupted, 130), (.terminated, 143),
        ] as [(ImportError.Reason, Int32)]
    )
    func exitCodesAreThoseOfTheManual(reason: ImportError.Reason, exitCode: Int32) {
        #expect(CommandExit(ImportError(reason, "x")).exitCode == exitCode)
    }

    @Test func saysWhatHappenedAndWhatToDo() {
        let failure = CommandExit(
            ImportError(.fileNotFound, "there is no a.json", advice: "Look for it.\nThen try again.")
        )
        #expect(failure.text == "importer: error: there is no a.json\n  Look for it.\n  Then try again.\n")
    }

    @Test func anInterruptionIsNoError() {
        let failure = CommandExit(ImportError(.interrupted, "interrupted", advice: "To resume:  importer resume s"))
        #expect(failure.text == "importer: interrupted\n  To resume:  importer resume s\n")
    }

    @Test func aReaderThatHadEnoughIsNoError() {
        let failure = CommandExit(OutputClosed())
        #expect(failure.exitCode == 0)
        #expect(failure.text.isEmpty)
    }

    @Test func aLineBreakInANameIsNoNewLine() {
        #expect(CommandExit(ImportError(.fileNotFound, "a\nb.json: no such file")).text.contains("a\\nb.json"))
    }

    @Test func errorsFromTheDataCannotCommandTheTerminal() {
        #expect(Samples.isHarmless(CommandExit(ImportError(.notJSON, "at \u{1B}[2J\u{9B}", advice: "\u{7}")).text))
    }
}
