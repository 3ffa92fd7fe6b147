import ArgumentParser

/// How an import shows what it does and did.
struct OutputArguments: ParsableArguments {
    @OptionGroup var progress: ProgressArguments

    @Flag(help: "Show the store full screen during the import, like `importer watch`; q returns to the progress.")
    var watch = false

    @Option(help: ArgumentHelp("Write the final report as JSON to this file.", valueName: "file"))
    var report: String?

    @Flag(help: "Print the summary as JSON.")
    var json = false

    func validate() throws {
        if report == "-" { throw ValidationError("--report needs a file; for standard output use --json") }
        if report?.isEmpty == true { throw ValidationError("--report: the path is empty") }
    }
}
