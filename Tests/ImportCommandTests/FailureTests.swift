import Testing

@testable import ImportCommand
@testable import Importer

struct FailureTests {
    @Test(
        arguments: [
            (ImportError.Code.usage, 64), (.badInput, 65), (.noInput, 66), (.software, 70), (.cannotCreate, 73),
            (.io, 74), (.inUse, 75), (.hangup, 129), (.interrupted, 130), (.terminated, 143),
        ] as [(ImportError.Code, Int32)]
    )
    func exitCodesAreThoseOfTheManual(code: ImportError.Code, exitCode: Int32) {
        #expect(Failure(ImportError(code, "x")).exitCode == exitCode)
    }

    @Test func saysWhatHappenedAndWhatToDo() {
        let failure = Failure(ImportError(.noInput, "there is no a.json", advice: "Look for it.\nThen try again."))
        #expect(failure.text == "importer: error: there is no a.json\n  Look for it.\n  Then try again.\n")
    }

    @Test func anInterruptionIsNoError() {
        let failure = Failure(ImportError(.interrupted, "interrupted", advice: "To resume:  importer resume s"))
        #expect(failure.text == "importer: interrupted\n  To resume:  importer resume s\n")
    }

    @Test func aReaderThatHadEnoughIsNoError() {
        let failure = Failure(OutputClosed())
        #expect(failure.exitCode == 0)
        #expect(failure.text.isEmpty)
    }

    @Test func aLineBreakInANameIsNoNewLine() {
        #expect(Failure(ImportError(.noInput, "a\nb.json: no such file")).text.contains("a\\nb.json"))
    }

    @Test func errorsFromTheDataCannotCommandTheTerminal() {
        #expect(Samples.isHarmless(Failure(ImportError(.badInput, "at \u{1B}[2J\u{9B}", advice: "\u{7}")).text))
    }
}
