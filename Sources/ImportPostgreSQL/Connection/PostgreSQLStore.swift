import Foundation
import ImportModel
import Importer

/// A schema of a PostgreSQL server to import into, with its settings.
public struct PostgreSQLStore: Sendable {
    /// The address of the server and its schema.
    public var address: PostgreSQLAddress
    /// With `.off`, a commit does not wait until it is on the server's disk
    /// (<https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-SYNCHRONOUS-COMMIT>).
    ///
    /// A pipeline uses the value of its `RunOptions`.
    public var durability: RunOptions.Durability = .normal
    /// The time in seconds, from 0, during which a lost connection is tried again; then the error is `.serverUnavailable`.
    public var reconnect: Double = 120
    /// True if the advice of errors may contain values from the server's messages (DETAIL).
    public var showsValues = false
    /// Prompts for a password with a text; nil if there is nobody to ask.
    ///
    /// It is called once, however many connections need the password.
    public var passwordPrompt: (@Sendable (String) -> String?)? {
        didSet { passwords = passwordPrompt.map { PasswordCache($0) } }
    }

    /// Counts the round trips of all its connections; nil where nobody wants to know.
    var trips: RoundTripCounter?

    private var passwords: PasswordCache?

    /// Creates a schema with the command's default settings, without connecting.
    ///
    /// - Parameter address: the address of the server and its schema.
    public init(_ address: PostgreSQLAddress) {
        self.address = address
    }

    /// What people call it.
    var label: String { address.label }
    /// What files have for a name that are made for it.
    var fileName: String { address.schema ?? address.database ?? "importer" }
    /// What this machine is called, for people and for the files on it.
    var host: String { ProcessInfo.processInfo.hostName }
    /// The beginning of the name of its advisory lock.
    var lockName: String { "importer" }
    var patience: ReconnectPolicy { ReconnectPolicy(for: .seconds(reconnect)) }

    /// A connection whose statements see this schema alone.
    ///
    /// - Parameters:
    ///   - writes: whether the schema is to be written, and made where it is not there; a replica can be read.
    ///   - waitsForDisk: whether a commit waits for the server's disk, if the transaction says nothing of it and the durability is not off.
    /// - Throws: `PGError` where a later try may go well, `ImportError` where none will.
    func connect(
        _ interruption: Interruption,
        writes: Bool = true,
        waitsForDisk: Bool = true
    ) throws -> PGConnection {
        let connection = try PGConnection(
            address,
            interruption: interruption,
            writes: writes,
            waitsForDisk: waitsForDisk && !(writes && durability == .off),
            trips: trips,
            askForPassword: passwords?.answer
        )
        if writes, !connection.hadSchema { try connection.makeSchema() }
        return connection
    }

    /// Calls `body` with each row of a query; not again with the first ones where the connection is lost in the middle.
    ///
    /// - Throws: as `PGConnection.forEachRow` does; after the first row `ImportError` in place of `PGError`.
    func forEachRow(
        _ sql: String,
        _ parameters: [PGValue] = [],
        _ connection: PGConnection,
        _ body: (PGRow) throws -> Void
    ) throws {
        var hasBegun = false
        do {
            try connection.forEachRow(sql, parameters) { row in
                hasBegun = true
                try body(row)
            }
        } catch let failure as PGError where hasBegun {
            throw failure.importError(at: label, showsValues: showsValues)
        }
    }

    /// A worker's connection, which waits for the server's disk in transactions alone that begin with `durableBegin`.
    ///
    /// If it is lost that a chunk was taken, the chunk's fence is as before, and it is taken again.
    ///
    /// - Throws: as `connect` does.
    func connectWorker(_ interruption: Interruption) throws -> PGConnection {
        try connect(interruption, waitsForDisk: false)
    }

    /// How a transaction begins that is on the server's disk when it is committed, unless the durability is off.
    var durableBegin: String {
        durability == .off ? "BEGIN" : "BEGIN; SET LOCAL synchronous_commit = on"
    }
}
