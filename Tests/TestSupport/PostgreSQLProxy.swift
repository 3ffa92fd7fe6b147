import Foundation

/// Stands between programs and a server, and cuts their connections in COMMIT (`Tests/Faults/postgres_proxy.py`), or lends them
/// the server's sessions (`postgres_pooler.py` there).
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

    /// Whose a session of the server is.
    package enum Pooling: String, Sendable {
        /// A program's, until its connection ends.
        case session
        /// Everybody's, one transaction after the other.
        case transaction
    }

    private let server: PostgreSQLServer
    private let directory: TemporaryDirectory
    private let child: ChildProcess

    /// Starts one that cuts; it ends when it goes.
    ///
    /// - Parameters:
    ///   - ordinals: which COMMITs are cut, of those of all connections.
    ///   - probability: with which each of them is cut.
    ///   - seed: of what `probability` decides.
    ///   - delay: in seconds, how long the server's connection outlives the program's, with `before` and `late`.
    package convenience init(
        to server: PostgreSQLServer,
        cutting cut: Cut,
        at ordinals: [Int] = [],
        probability: Double = 0,
        seed: UInt64 = 1,
        delay: Double = 0
    ) throws {
        let options = ["--probability", "\(probability)", "--seed", "\(seed)", "--delay", "\(delay)"]
        let places = ordinals.flatMap { ["--at", "\($0)"] }
        try self.init("postgres_proxy.py", to: server, [cut.rawValue] + options + places)
    }

    /// Starts a pooler; it ends when it goes.
    package convenience init(to server: PostgreSQLServer, pooling: Pooling) throws {
        try self.init("postgres_pooler.py", to: server, [pooling.rawValue])
    }

    private init(_ program: String, to server: PostgreSQLServer, _ arguments: [String]) throws {
        self.server = server
        directory = try TemporaryDirectory()
        let path = Project.root.appending(path: "Tests/Faults/\(program)").path
        let child = try ChildProcess([Project.python, "-B", path, directory.path, server.folder] + arguments)
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
