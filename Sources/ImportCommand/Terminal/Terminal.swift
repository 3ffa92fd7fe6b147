import Glibc

/// What is known of the terminal behind a descriptor.
enum Terminal {
    /// Its width in columns, as it is now; nil where there is no terminal.
    static func columns(of descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// True if it can go back to the beginning of a line and erase it.
    static func canRedraw(_ descriptor: Int32, environment: [String: String]) -> Bool {
        isatty(descriptor) == 1 && environment["TERM"] != "dumb" && environment["TERM"]?.isEmpty == false
    }

    /// True if this process may write to its terminal now: not while it is a background job.
    static func isForeground(_ descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }

    /// True if the locale's encoding is UTF-8 (POSIX: `LC_ALL`, else `LC_CTYPE`, else `LANG`).
    static func isUTF8(environment: [String: String]) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        let locale = names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale = locale?.lowercased() else { return false }
        return locale.contains("utf-8") || locale.contains("utf8")
    }
}
