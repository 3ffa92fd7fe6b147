import ArgumentParser
import Foundation
import ImportModel
import Importer

/// Tests imports on the user's own disk.
///
/// `importer selftest`
struct SelftestSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "selftest",
        abstract: "Kill imports of made-up data on your disk, resume them, and compare.",
        discussion: """
            Imports made-up data of every shape, kills these imports at random and at chosen points, interrupts them, lets them \
            run out of room, resumes them, and compares each store with that of an import that was let alone: every value \
            and row id, rejects, `importer verify`. Prints what was tried, whether all were equal, and how fast imports are.

            Nothing is left behind. If something differs, the folder is kept, and the exit code is 70.

            EXAMPLES
              importer selftest
              importer selftest --dir /mnt/data --minutes 10
              importer selftest --seed 4711 --json
            """
    )

    /// Minutes that may be asked for.
    private static let minutes = 0.001...10_080

    @Option(
        help: ArgumentHelp(
            "The folder on the disk to test, in which a folder is made.",
            discussion: "Default: the temporary directory.",
            valueName: "folder"
        )
    )
    var dir: String?

    @Option(help: ArgumentHelp("How long; what is being done then is finished.", valueName: "n"))
    var minutes = 1.0

    @Option(
        help: ArgumentHelp(
            "The seed of data and kills, as a test prints it.",
            discussion: "Default: another each time.",
            valueName: "n"
        )
    )
    var seed: UInt64?

    @Flag(help: "Print the result as JSON.")
    var json = false

    @OptionGroup(title: "Output options") var progress: ProgressArguments

    func validate() throws {
        guard Self.minutes.contains(minutes) else { throw ValidationError("--minutes must be from 0.001 to 10080") }
        if dir?.isEmpty == true { throw ValidationError("--dir: the path is empty") }
    }

    func run() throws {
        let interruption = Interruption()
        try SignalForwarding.start(to: interruption)
        let directory = dir ?? FileManager.default.temporaryDirectory.path
        let test = SelfTest(
            directory: directory,
            seed: seed ?? UInt64.random(in: 1...999_999),
            minutes: minutes,
            interruption: interruption
        )
        if let system = FileSystemName(of: directory), system.isMemory {
            let text = "\(directory) is in memory (\(system.type)); --dir names a folder on the disk to test"
            StandardError.write(message: text, mode: progress.mode)
        }
        var shown = SelfTestProgress(progress.mode)
        let report: SelfTestReport
        do {
            defer { shown.end() }
            report = try test.run { shown.show($0, $1) }
        }
        try StandardOutput.write(json ? report.json() : report.text)
        guard let difference = report.difference else { return }
        let commands = ["cd \(difference.folder.shellQuoted)"] + difference.commands
        throw ImportError(
            .fault,
            "an import of \(difference.shape) is not as it must be: \(difference.what)",
            advice: MessageText(
                "Its folder is kept:  \(difference.folder)\nAll again:  \(CommandName.text) selftest --seed \(test.seed)"
                    + "\nThis one by hand:\n" + commands.map { "  " + $0 }.joined(separator: "\n")
            )
        )
    }
}
