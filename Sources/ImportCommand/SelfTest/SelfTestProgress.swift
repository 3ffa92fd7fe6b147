import Foundation

/// Says on standard error how far a test is.
struct SelfTestProgress {
    /// Seconds between two lines of text.
    private static let interval = 10.0

    private let mode: ProgressMode
    private let start = ContinuousClock.now
    private var last = -interval
    private var isDrawn = false

    init(_ mode: ProgressMode) {
        let canRedraw = Terminal.canRedraw(STDERR_FILENO, environment: ProcessInfo.processInfo.environment)
        self.mode = mode.resolved(canRedraw: canRedraw)
    }

    mutating func show(_ report: SelfTestReport, _ work: String) {
        let elapsed = start.duration(to: .now) / .seconds(1)
        let total = report.total
        let text =
            "selftest \(NumberText.clock(elapsed)), \(NumberText.counted(Int64(total.times), "import")), killed "
            + NumberText.counted(Int64(total.kills), "time") + "; now \(work)"
        switch mode {
        case .auto, .bar:
            guard Terminal.isForeground(STDERR_FILENO) else { return }
            isDrawn = true
            StandardError.write(
                "\r" + text.prefix(max((Terminal.columns(of: STDERR_FILENO) ?? 80) - 1, 1)) + "\u{1B}[K"
            )
        case .lines, .json:
            guard elapsed - last >= Self.interval else { return }
            last = elapsed
            StandardError.write(message: text, mode: mode)
        case .none, .quiet: break
        }
    }

    /// Takes the line away.
    func end() {
        if isDrawn { StandardError.write("\r\u{1B}[K") }
    }
}
