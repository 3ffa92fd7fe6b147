import ArgumentParser
import ImportServer

/// Where a page is served, and to whom.
struct ServeArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Port to listen on, 0 to 65535; 0 for any free port.",
            discussion: "Default: 8087, or the next free one of 20.",
            valueName: "n"
        )
    )
    var port: UInt16?

    @Option(
        help: ArgumentHelp(
            "Address to listen on; unless it is this machine's own, the page's address has a token.",
            valueName: "address"
        )
    )
    var bind = "127.0.0.1"

    @Option(help: ArgumentHelp("Host name that a proxy uses for the page. May be repeated.", valueName: "name"))
    var host: [String] = []

    @Flag(help: "Hide values and the bytes of records.")
    var hideValues = false

    @Flag(help: "Open the page in the browser.")
    var open = false

    /// True if any of them is given.
    var isGiven: Bool { port != nil || bind != "127.0.0.1" || !host.isEmpty || hideValues || open }

    func validate() throws {
        guard ServerOptions.isAddress(bind) else {
            throw ValidationError("--bind: \(bind) is not an IPv4 or IPv6 address")
        }
        if host.contains(where: \.isEmpty) { throw ValidationError("--host: the name is empty") }
    }
}
