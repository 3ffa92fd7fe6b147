import ArgumentParser
import Testing

@testable import ImportCommand
@testable import Importer

struct CommandWordsTests {
    private let words = CommandWords(command: "importer")

    @Test(
        arguments: [
            ("Leave \(.again) out.", "Leave --again out.", "Leave `again` out."),
            (
                "\(anyOf: .chunkDirectory) on another disk", "--chunks DIR on another disk",
                "`chunkDirectory` on another disk"
            ),
            ("\(.onError, "stop")", "--on-error stop", "`onError: stop`"),
            ("\(.records, "$['a b'][*]")", #"--records '$['\''a b'\''][*]'"#, "`records: $['a b'][*]`"),
            (
                "\(call: .resuming(store: "-a b", maxErrors: "none"))", "`importer resume './-a b' --max-errors none`",
                "`ImportPipeline(resuming:run:maxErrors:)`"
            ),
            ("\(call: .inferring(from: ["-", "a b"]))", "`importer infer - 'a b'`", "`ImportPipeline.infer`"),
            ("\(call: .inferring(from: ["a", "b", "c", "d"]))", "`importer infer SOURCE...`", "`ImportPipeline.infer`"),
        ] as [(ImportText, String, String)]
    )
    func aTextIsInTheWordsOfItsReader(text: ImportText, command: String, program: String) {
        #expect(words.text(text) == command)
        #expect(text.description == program)
    }

    @Test func textsAreEqualThatReadAlike() {
        let name = "a"
        let text: ImportText = "\(name): give \(.again)\("")."
        #expect(text == "a: \("give" as ImportText) \(.again).")
        #expect(text == ("a: give " as ImportText) + "\(.again)" + ".")
        #expect(text != "a: give --again.")
    }

    /// An option that is renamed must be so here.
    @Test func everySettingIsAnOptionOfTheCommand() {
        let commands: [any ParsableCommand.Type] = [
            ImportSubcommand.self, RejectsSubcommand.self, SplitSubcommand.self, MigrateSubcommand.self,
            PatchSubcommand.self,
        ]
        let help = commands.map { ImporterCommand.helpMessage(for: $0, columns: 400) }.joined()
        for setting in ImportText.Setting.allCases where setting != .sources {
            let option = words.text("\(setting)")
            #expect(help.contains("\(option) ") || help.contains("\(option)\n"), "\(setting)")
        }
    }
}
