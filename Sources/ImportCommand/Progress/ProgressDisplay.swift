import Importer

/// Decides what standard error gets at each look: what is above the bar, what must be erased, what is due.
///
/// Pure but for its memory of what it has written, so that it can be tested without a terminal.
struct ProgressDisplay {
    /// Seconds between two lines of text.
    private static let lineInterval = 2.0
    /// Seconds after which a bar is shown though nothing is done yet: it may be the source that is slow.
    private static let patience = 0.5

    /// Anything but `auto`.
    let mode: ProgressMode
    private let bar: ProgressBar
    private var meter: ProgressMeter
    private var messagesShown = 0
    private var hasShownStopping = false
    private var lastLine = 0.0
    private var lastSnapshot: ImportProgress.Snapshot?
    /// The visible lengths of the bar's lines as they are on the screen.
    private var drawn: [Int] = []

    init(mode: ProgressMode, style: ProgressBar.Style, meter: ProgressMeter) {
        self.mode = mode
        bar = ProgressBar(style: style)
        self.meter = meter
    }

    /// How long to wait until the next look.
    var intervalInMilliseconds: Int {
        if lastSnapshot?.phase == .following { return 1_000 }
        return switch mode {
        case .json: 200
        default: 100
        }
    }

    /// What standard error gets now, in one piece so that nothing flickers; often nothing.
    ///
    /// - Parameters:
    ///   - elapsed: seconds since this run began.
    ///   - isLast: whether this is the last look.
    ///   - width: the terminal's columns, as they are now.
    ///   - isForeground: whether the terminal is this process's to draw on.
    /// - Returns: the bytes to write.
    mutating func update(
        _ snapshot: ImportProgress.Snapshot,
        elapsed: Double,
        isStopping: Bool,
        isLast: Bool,
        width: Int,
        isForeground: Bool
    ) -> String {
        let frame = meter.add(snapshot, elapsed: elapsed)
        let messages = newMessages(snapshot, isStopping: isStopping && !isLast)
        let isNews = isLast || snapshot != lastSnapshot
        lastSnapshot = snapshot
        switch mode {
        case .auto, .bar:
            return barUpdate(frame, messages: messages, isLast: isLast, width: width, isForeground: isForeground)
        case .lines:
            let isWaiting = snapshot.phase == .following && !isNews
            let isDue = isLast || elapsed - lastLine >= Self.lineInterval && !isWaiting
            if isDue { lastLine = elapsed }
            let isShown = isDue && Self.isWorthShowing(frame, isLast: isLast)
            return Self.prefixed(messages) + (isShown ? "importer: " + ProgressLine.text(frame) + "\n" : "")
        case .json:
            let lines = messages.compactMap { try? ProgressLine.json(message: CommandLineTerms().text($0)) }
            return lines.joined() + (isNews ? (try? ProgressLine.json(frame)) ?? "" : "")
        case .none:
            return Self.prefixed(messages)
        case .quiet:
            return ""
        }
    }

    private mutating func newMessages(_ snapshot: ImportProgress.Snapshot, isStopping: Bool) -> [MessageText] {
        var messages = Array(snapshot.messages.dropFirst(messagesShown))
        messagesShown = max(messagesShown, snapshot.messages.count)
        if isStopping && !hasShownStopping {
            hasShownStopping = true
            messages.append("stopping after the running commit; a second signal stops at once, just as safely")
        }
        return messages
    }

    private mutating func barUpdate(
        _ frame: ProgressFrame,
        messages: [MessageText],
        isLast: Bool,
        width: Int,
        isForeground: Bool
    ) -> String {
        guard isForeground || isLast else {
            // What has the terminal now has moved the cursor: nothing of the bar is known to be where it was.
            drawn = []
            return Self.prefixed(messages)
        }
        let isShown = Self.isWorthShowing(frame, isLast: isLast)
        guard isShown || !drawn.isEmpty || !messages.isEmpty else { return "" }
        var text = moveToTop(width: width)
        if !messages.isEmpty || !isShown { text += "\u{1B}[J" + Self.prefixed(messages) }
        guard isShown else {
            drawn = []
            return text
        }
        let plain = ProgressBar(style: .init(isUnicode: bar.style.isUnicode, isColored: false))
        drawn = plain.lines(frame, width: width).map(\.count)
        let lines = bar.lines(frame, width: width)
        text += lines.joined(separator: "\u{1B}[K\n") + "\u{1B}[K\u{1B}[J"
        // At the beginning of the line, what a key press echoes is overwritten by the next look.
        text += isLast ? "\n" : "\r"
        return text
    }

    /// True if there is progress at all: a run that finds nothing to do, or fails at once, has none.
    private static func isWorthShowing(_ frame: ProgressFrame, isLast: Bool) -> Bool {
        let snapshot = frame.snapshot
        guard snapshot.phase != .starting else { return false }
        let counts = [snapshot.splitBytes, snapshot.splitRecords, snapshot.importedBytes, snapshot.importedRecords]
        if counts.contains(where: { $0 > 0 }) { return true }
        return !isLast && frame.elapsed >= patience
    }

    /// Goes from the last line of the bar to its first.
    ///
    /// A terminal that became narrower has wrapped the lines.
    private func moveToTop(width: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let columns = max(width, 1)
        let rows = drawn.reduce(0) { $0 + max(($1 + columns - 1) / columns, 1) }
        // The cursor is at the beginning of the last line, before the rows into which that one has wrapped.
        let lastRows = max(((drawn.last ?? 0) + columns - 1) / columns, 1)
        let up = rows - lastRows
        return up > 0 ? "\r\u{1B}[\(up)A" : "\r"
    }

    private static func prefixed(_ messages: [MessageText]) -> String {
        // A message is one line; a line break can only be part of a name.
        messages.map { "importer: " + TerminalText.escaped(CommandLineTerms().text($0)) + "\n" }.joined()
    }
}
