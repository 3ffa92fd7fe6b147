import ArgumentParser
import Importer
import Testing

@testable import ImportCommand
@testable import ImportMigration

struct CommandLineTermsTests {
    private let words = CommandLineTerms(command: "importer")

    @Test(
        arguments: [
            ("Leave \(.again) out.", "Leave --again out.", "Leave `again` out."),
            (
                "\(anyOf: .chunkDirectory) on another disk", "--chunks DIR on another disk",
                "`chunkDirectory` on another disk"
            ),
            ("Then \(.sameAgain).", "Then run the same command again.", "Then make the same call again."),
            ("\(.onError, "stop")", "--on-error stop", "`onError: stop`"),
            ("\(.records, "$['a b'][*]")", #"--records '$['\''a b'\''][*]'"#, "`records: $['a b'][*]`"),
            (
                "\(call: .resuming(store: "-a b", maxErrors: "none"))", "`importer resume './-a b' --max-errors none`",
                "`ImportPipeline(resuming:run:maxErrors:)`"
            ),
            ("\(call: .inferring(from: ["-", "a b"]))", "`importer infer - 'a b'`", "`ImportPipeline.infer(sources:)`"),
            (
                "\(call: .inferring(from: ["a", "b", "c", "d"]))", "`importer infer SOURCE...`",
                "`ImportPipeline.infer(sources:)`"
            ),
        ] as [(MessageText, String, String)]
    )
    func aTextIsInTheWordsOfItsReader(text: MessageText, command: String, program: String) {
        #expect(words.text(text) == command)
        #expect(text.description == program)
    }

    @Test func textsAreEqualThatReadAlike() {
        let name = "a"
        let text: MessageText = "\(name): give \(.again)\("")."
        #expect(text == "a: \("give" as MessageText) \(.again).")
        #expect(text == ("a: give " as MessageText) + "\(.again)" + ".")
        #expect(text != "a: give --again.")
    }

    /// An option that is renamed must be so here.
    @Test func everySettingIsAnOptionOfTheCommand() {
        let commands: [any ParsableCommand.Type] = [
            ImportSubcommand.self, RejectsSubcommand.self, SplitSubcommand.self, MigrateSubcommand.self,
            PatchSubcommand.self, UndoSubcommand.self,
        ]
        let help = commands.map { ImporterCommand.helpMessage(for: $0, columns: 400) }.joined()
        for setting in MessageText.Setting.allCases where setting != .sources {
            let option = words.text("\(setting)")
            #expect(help.contains("\(option) ") || help.contains("\(option)\n"), "\(setting)")
        }
    }

    /// A command for the same server needs it, too.
    @Test func namesTheSchemaThatWasGiven() {
        let words = CommandLineTerms(command: "importer", schema: "--schema people")
        let url = "postgresql://a@b/c"
        #expect(words.text("\(call: .resuming(store: url))") == "`importer resume \(url) --schema people`")
        #expect(
            words.text("\(call: .resuming(maxErrors: "none"))")
                == "`importer resume STORE --schema people --max-errors none`"
        )
        #expect(
            words.text("\(call: .status), \(call: .rejects)").components(separatedBy: "STORE --schema people").count
                == 3
        )
        #expect(words.text("\(call: .working)") == "`importer work URL --schema people`")
        // That of a file has none.
        #expect(words.text("\(call: .resuming(store: "a b.sqlite"))") == "`importer resume 'a b.sqlite'`")
        #expect(self.words.text("\(call: .resuming(store: url))") == "`importer resume \(url)`")
    }

    @Test func findsTheSchemaAmongTheArguments() {
        #expect(CommandName.schema(in: ["importer", "resume", "u", "--schema", "my own"]) == "--schema 'my own'")
        #expect(CommandName.schema(in: ["importer", "--schema=a=b", "resume"]) == "--schema 'a=b'")
        #expect(CommandName.schema(in: ["importer", "model", "schema", "--schemas"]) == nil)
    }
}
