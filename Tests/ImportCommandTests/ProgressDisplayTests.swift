import Foundation
import Testing

@testable import ImportCommand
@testable import Importer

struct ProgressDisplayTests {
    private func display(_ mode: ProgressMode) -> ProgressDisplay {
        ProgressDisplay(
            mode: mode,
            style: .init(isUnicode: true, isColored: false),
            meter: ProgressMeter(purpose: .importing)
        )
    }

    private func update(
        _ display: inout ProgressDisplay,
        _ snapshot: ImportProgress.Snapshot,
        elapsed: Double = 0,
        isStopping: Bool = false,
        isLast: Bool = false,
        width: Int = 80,
        isForeground: Bool = true
    ) -> String {
        display.update(
            snapshot,
            elapsed: elapsed,
            isStopping: isStopping,
            isLast: isLast,
            width: width,
            isForeground: isForeground
        )
    }

    private var snapshot: ImportProgress.Snapshot { Samples.frame().snapshot }

    @Test(arguments: [ProgressMode.bar, .lines, .json, .none])
    func printsEachMessageOnce(mode: ProgressMode) {
        var display = display(mode)
        var snapshot = snapshot
        var text = update(&display, snapshot)
        snapshot.messages = ["records: $[*]"]
        text += update(&display, snapshot, elapsed: 1)
        snapshot.messages.append("entity: people")
        text += update(&display, snapshot, elapsed: 2)
        text += update(&display, snapshot, elapsed: 3, isLast: true)
        #expect(text.ranges(of: "records: $[*]").count == 1)
        #expect(text.ranges(of: "entity: people").count == 1)
    }

    @Test(arguments: [ProgressMode.bar, .lines, .json, .none])
    func messagesCannotCommandTheTerminal(mode: ProgressMode) {
        var display = display(mode)
        var snapshot = ImportProgress.Snapshot()
        snapshot.messages = ["a\u{1B}]0;title\u{7}b\u{9B}2Jc\rd\u{202E}e"]
        let text = update(&display, snapshot).replacing("\u{1B}[J", with: "")
        #expect(Samples.isHarmless(text))
        #expect(text.contains("title"))
        #expect(!text.unicodeScalars.contains("\u{202E}"))
    }

    @Test(arguments: [ProgressMode.bar, .lines, .none])
    func aLineBreakInANameIsNoNewLine(mode: ProgressMode) {
        var display = display(mode)
        var snapshot = ImportProgress.Snapshot()
        snapshot.messages = ["n\nl.json: records at $[*]"]
        let text = update(&display, snapshot)
        #expect(text.contains("n\\nl.json: records"))
        #expect(text.filter { $0 == "\n" }.count == 1)
    }

    @Test(arguments: [ProgressMode.bar, .lines])
    func showsNoProgressWhereNoWorkIsDone(mode: ProgressMode) {
        for phase in [ImportProgress.Phase.starting, .inferring, .importing, .finished] {
            var display = display(mode)
            var snapshot = ImportProgress.Snapshot()
            snapshot.phase = phase
            #expect(update(&display, snapshot, elapsed: 0.1).isEmpty)
            #expect(update(&display, snapshot, elapsed: 0.2, isLast: true).isEmpty)
        }
    }

    @Test func takesAwayABarThatCameToNothing() {
        var display = display(.bar)
        var snapshot = ImportProgress.Snapshot()
        snapshot.phase = .importing
        // A source that is slow to come still has a bar.
        #expect(update(&display, snapshot, elapsed: 1).hasPrefix("split"))
        #expect(update(&display, snapshot, elapsed: 2, isLast: true) == "\r\u{1B}[1A\u{1B}[J")
    }

    @Test func redrawsInPlaceAndEndsOnALineOfItsOwn() {
        var display = display(.bar)
        let first = update(&display, snapshot)
        #expect(first.hasPrefix("split"))
        #expect(first.hasSuffix("\r"))
        let second = update(&display, snapshot, elapsed: 1)
        #expect(second.hasPrefix("\r\u{1B}[1A"))
        #expect(update(&display, snapshot, elapsed: 2, isLast: true).hasSuffix("\n"))
    }

    @Test func goesUpAsManyRowsAsANarrowerTerminalHasWrapped() {
        var display = display(.bar)
        let first = update(&display, snapshot, width: 200)
        let lengths = first.split(separator: "\n").map { $0.replacing(/\u{1B}\[[KJ]|\r/, with: "").count }
        #expect(lengths.count == 2)
        let rowsOfTheFirst = (lengths[0] + 29) / 30
        let second = update(&display, snapshot, elapsed: 1, width: 30)
        #expect(second.hasPrefix("\r\u{1B}[\(rowsOfTheFirst)A"))
    }

    @Test func drawsNothingOnATerminalThatIsNotItsOwn() {
        var display = display(.bar)
        _ = update(&display, snapshot)
        #expect(update(&display, snapshot, elapsed: 1, isForeground: false).isEmpty)
        // Back in the foreground it must not overwrite what others have printed above.
        #expect(update(&display, snapshot, elapsed: 2).hasPrefix("split"))
    }

    @Test func printsALineEveryTwoSecondsAndALastOne() {
        var display = display(.lines)
        var text = ""
        for tenth in 0..<50 { text += update(&display, snapshot, elapsed: Double(tenth) / 10) }
        #expect(text.split(separator: "\n").count == 2)
        text = update(&display, snapshot, elapsed: 5, isLast: true)
        #expect(text.hasPrefix("importer: import 45%, 212 MB of 470 MB, 675,000 records"))
        #expect(text.hasSuffix("0 rejects\n"))
    }

    @Test func printsOneObjectPerLineWhenSomethingChanged() throws {
        var display = display(.json)
        var snapshot = snapshot
        let first = update(&display, snapshot)
        #expect(first.filter { $0 == "\n" }.count == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any])
        #expect(object["records"] as? Int == 675_000)
        #expect(object["phase"] as? String == "importing")
        #expect(update(&display, snapshot, elapsed: 1).isEmpty)
        snapshot.importedRecords += 1
        #expect(!update(&display, snapshot, elapsed: 2).isEmpty)
    }

    @Test func saysOnceThatItIsStopping() {
        var display = display(.lines)
        var text = update(&display, snapshot, isStopping: true)
        text += update(&display, snapshot, elapsed: 1, isStopping: true)
        #expect(text.ranges(of: "stopping").count == 1)
    }
}
