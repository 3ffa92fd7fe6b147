import ArgumentParser
import Dispatch
import Foundation
import ImportServer
import Importer

/// Serves a store's page beside whatever else the process does.
final class ServeRun {
    private let options: ServerOptions
    private let opensBrowser: Bool
    /// Where the page's address is printed.
    private let print: (String) throws -> Void
    private var server: StoreServer?

    /// - Parameter progress: the progress of the import in this process; nil for none.
    init(
        _ arguments: ServeArguments,
        store: String,
        progress: ImportProgress? = nil,
        print: @escaping (String) throws -> Void = StandardOutput.write
    ) {
        var options = ServerOptions(store: store)
        options.port = arguments.port
        options.address = arguments.bind
        options.hosts = arguments.host
        options.hidesValues = arguments.hideValues
        options.progress = progress
        options.groupText = { ErrorGroupText.line($0, namesEntity: true) }
        self.options = options
        self.print = print
        opensBrowser = arguments.open
    }

    /// Starts to listen, and prints the page's address then.
    ///
    /// - Throws: `ImportError` with `.cannotListen` when no port is to be had.
    func start() throws {
        let server = try StoreServer.start(options)
        self.server = server
        try print(server.address + "\n")
        if opensBrowser { Self.open(server.address) }
    }

    /// Does an import that is served, and waits at its end until `interruption` asks to stop.
    ///
    /// One that fails before it comes to any record, or that is interrupted, is not waited for.
    ///
    /// - Throws: what `work` throws, in the end: its exit code is the process's.
    func perform(until interruption: Interruption, _ work: () throws -> Void) throws {
        var exitCode: Int32 = 0
        do {
            try work()
        } catch let error as ImportError where server != nil && [.badInput, .io].contains(error.code) {
            exitCode = CommandExit(error).report()
        } catch {
            server?.close()
            throw error
        }
        wait(for: interruption)
        if exitCode != 0 { throw ExitCode(exitCode) }
    }

    /// Waits until `interruption` asks for an end, and closes the store; does nothing where nothing is served.
    func wait(for interruption: Interruption) {
        guard let server else { return }
        let bell = DispatchSemaphore(value: 0)
        interruption.onRequest { bell.signal() }
        bell.wait()
        server.close()
    }

    /// Asks the desktop to open an address; where there is none, nothing happens.
    private static func open(_ address: String) {
        let browser = Process()
        browser.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        browser.arguments = ["xdg-open", address]
        browser.standardInput = FileHandle.nullDevice
        browser.standardOutput = FileHandle.nullDevice
        browser.standardError = FileHandle.nullDevice
        try? browser.run()
    }
}
