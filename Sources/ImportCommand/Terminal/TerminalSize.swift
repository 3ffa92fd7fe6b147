import Glibc

/// How many characters a terminal shows.
struct TerminalSize: Sendable, Hashable {
    var columns: Int
    var rows: Int

    /// More than any screen has; a terminal may say anything.
    private static let most = 1_000

    /// A size of 1 to 1,000 characters each way.
    init(columns: Int, rows: Int) {
        self.columns = min(max(columns, 1), Self.most)
        self.rows = min(max(rows, 1), Self.most)
    }

    /// The size of the terminal behind a descriptor, as it is now; 80 × 24 where it does not tell.
    init(of descriptor: Int32) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        self.init(columns: isKnown ? Int(size.ws_col) : 80, rows: isKnown ? Int(size.ws_row) : 24)
    }
}
