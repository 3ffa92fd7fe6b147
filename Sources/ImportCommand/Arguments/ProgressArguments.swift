import ArgumentParser

/// How progress is shown.
struct ProgressArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How progress is shown on standard error.",
            discussion: "auto is a bar on a terminal and lines elsewhere.",
            valueName: "how"
        )
    )
    var progress = ProgressMode.auto

    @Flag(name: .shortAndLong, help: "Print errors only: no progress, no notices, no summary.")
    var quiet = false

    /// How progress and messages are shown.
    var mode: ProgressMode { quiet ? .quiet : progress }
}
