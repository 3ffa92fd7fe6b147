import Foundation
import ImportModel
import Importer

/// A schema of a PostgreSQL server that jobs import into, and how.
public struct ServerStore: Sendable {
    /// Where the server is, and which schema it is.
    public var address: ServerAddress
    /// Whether a commit waits until it is on the server's disk (`synchronous_commit`).
    public var durability: RunOptions.Durability = .normal
    /// How long a lost connection is tried again, in seconds.
    public var reconnect: Double = 120
    /// Whether messages may have values that the server names (its DETAIL).
    public var showsValues = false
    /// Asks a person for a password, by a text; nil where nobody can be asked.
    public var passwordPrompt: (@Sendable (String) -> String?)?

    /// A schema with what the command has without options.
    public init(_ address: ServerAddress) {
        self.address = address
    }

    /// What people call it.
    var label: String { address.label }
    /// What this machine is called, for people and for the files on it.
    var host: String { ProcessInfo.processInfo.hostName }
    /// The beginning of the name of its advisory lock.
    var lockName: String { "importer" }
    var patience: Patience { Patience(seconds: reconnect) }

    /// A connection whose statements see this schema alone.
    ///
    /// - Throws: `ServerFailure` where a later try may go well, `ImportError` where none will.
    func connect(_ interruption: Interruption) throws -> ServerConnection {
        let connection = try ServerConnection(address, interruption: interruption, askForPassword: passwordPrompt)
        try connection.makeSchema()
        if durability == .off { _ = try connection.execute("SET synchronous_commit = off") }
        return connection
    }
}

/// How long a server is waited for that cannot be reached.
struct Patience {
    private let deadline: ContinuousClock.Instant
    private var delay = 0.1

    init(seconds: Double) {
        deadline = .now + .seconds(seconds)
    }

    /// Waits a little longer each time, from 0.1 to 10 seconds.
    ///
    /// - Throws: `ImportError`: what `failure` means when the time is over, and the interruption's.
    mutating func wait(after failure: ServerFailure?, label: String, _ interruption: Interruption) throws {
        try interruption.check()
        guard ContinuousClock.now < deadline else {
            throw failure?.importError(at: label, showsValues: false)
                ?? ImportError(
                    .storeFailed,
                    at: label,
                    "the connection was lost again and again",
                    advice: "When the server can be reached: \(call: .resuming(store: label))."
                )
        }
        // Many clients must not come back at the same moment.
        let end = ContinuousClock.now + .seconds(delay * Double.random(in: 0.5...1))
        while ContinuousClock.now < end {
            Thread.sleep(forTimeInterval: 0.05)
            try interruption.check()
        }
        delay = min(delay * 2, 10)
    }
}
