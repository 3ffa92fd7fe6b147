import Foundation

/// Stands between a program and a server, and cuts the program's connections in COMMIT (`Tests/Faults/postgres_proxy.py`).
package final class PostgreSQLProxy: Sendable {
    /// What becomes of a COMMIT whose connection is cut.
    package enum Cut: String, Sendable {
        /// The server never gets it, and rolls back when it sees that the connection has gone.
        case before
        /// The server has done it, but the program does not get the answer.
        case after
        /// The program's connection goes, and `delay` later the server gets it.
        case late
    }

    private let server: PostgreSQLServer
    private let directory: TemporaryDirectory
    private let child: ChildProcess

    /// Starts it; it ends when it goes.
    ///
    /// - Parameters:
    ///   - ordinals: which COMMITs are cut, of those of all connections.
    ///   - probability: with which each of them is cut.
    ///   - seed: of what `probability` decides.
    ///   - delay: in seconds, how long the server's connection outlives the program's, with `before` and `late`.
    package init(
        to server: PostgreSQLServer,
        cutting cut: Cut,
        at ordinals: [Int] = [],
        probability: Double = 0,
        seed: UInt64 = 1,
        delay: Double = 0
    ) throws {
        self.server = server
        directory = try TemporaryDirectory()
        let program = Project.root.appending(path: "Tests/Faults/postgres_proxy.py").path
        let options = ["--probability", "\(probability)", "--seed", "\(seed)", "--delay", "\(delay)"]
        let command = [Project.python, "-B", program, directory.path, server.folder, cut.rawValue] + options
        let child = try ChildProcess(command + ordinals.flatMap { ["--at", "\($0)"] })
        self.child = child
        try wait(for: "the proxy", instead: { child.account }) {
            guard child.isRunning else { throw NeverCame("the proxy has ended: \(child.account)") }
            return child.outputSoFar.hasPrefix("listening\n") ? true : nil
        }
    }

    /// The URL by which a database of the server is reached through it.
    package func url(of database: String) -> String {
        database.replacing("host=\(server.folder)", with: "host=\(directory.path)")
    }

    /// What has become of each COMMIT so far, in their order; nil where it was passed on.
    package var commits: [Cut?] {
        let lines = child.outputSoFar.split(separator: "\n").dropFirst()
        return lines.map { line in line.split(separator: " ").last.flatMap { Cut(rawValue: String($0)) } }
    }
}
