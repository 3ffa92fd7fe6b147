import Foundation
import ImportServer
import Importer

/// Serves a store's page beside whatever else the process does.
struct ServerRun {
    private let options: ServerOptions
    private let opensBrowser: Bool

    init(_ arguments: ServerArguments, store: String, progress: ImportProgress? = nil) {
        var options = ServerOptions(store: store)
        options.port = arguments.port
        options.address = arguments.bind
        options.hosts = arguments.host
        options.hidesValues = arguments.hideValues
        options.progress = progress
        options.groupText = { ErrorGroupText.line($0, namesEntity: true) }
        self.options = options
        opensBrowser = arguments.open
    }

    /// Starts to listen, and prints the page's address then.
    ///
    /// - Throws: `ImportError` with `.cannotListen` when no port is to be had.
    func start() throws {
        let server = try StoreServer.start(options)
        try StandardOutput.write(server.address + "\n")
        if opensBrowser { Self.open(server.address) }
    }

    /// Asks the desktop to open an address; where there is none, nothing happens.
    private static func open(_ address: String) {
        let browser = Process()
        browser.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        #if os(macOS)
            browser.arguments = ["open", address]
        #else
            browser.arguments = ["xdg-open", address]
        #endif
        browser.standardInput = FileHandle.nullDevice
        browser.standardOutput = FileHandle.nullDevice
        browser.standardError = FileHandle.nullDevice
        try? browser.run()
    }
}
