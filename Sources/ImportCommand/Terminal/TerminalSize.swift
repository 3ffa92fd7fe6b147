#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How many characters a terminal shows.
struct TerminalSize: Sendable, Hashable {
    var columns: Int
    var rows: Int

    /// A size; never less than one character.
    init(columns: Int, rows: Int) {
        self.columns = max(columns, 1)
        self.rows = max(rows, 1)
    }

    /// The size of the terminal behind a descriptor, as it is now; 80 × 24 where it does not tell.
    init(of descriptor: Int32) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        self.init(columns: isKnown ? Int(size.ws_col) : 80, rows: isKnown ? Int(size.ws_row) : 24)
    }
}
