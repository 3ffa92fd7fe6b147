import ArgumentParser
import Foundation
import ImportPostgreSQL
import Importer

/// Options of a store that is a schema of a PostgreSQL server.
struct PostgreSQLArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The schema of a server's database; an import creates it.",
            discussion: "Default: the connection's own (current_schema).",
            valueName: "name"
        )
    )
    var schema: String?

    @Option(
        help: ArgumentHelp(
            "How long to try to reconnect to a lost server, in seconds.",
            valueName: "seconds"
        )
    )
    var reconnect: Int?

    static let defaultReconnect = 120

    func validate() throws {
        if schema?.isEmpty == true { throw ValidationError("--schema: the name is empty") }
        if let reconnect, reconnect < 0 { throw ValidationError("--reconnect must not be negative") }
    }

    /// - Parameter others: more options of a server, and whether they are given.
    /// - Throws: `ImportError` where one of them is given beside the path of a file.
    func checkThatNoneIsGiven(_ others: [(String, Bool)] = []) throws {
        let own = [("--schema", schema != nil), ("--reconnect", reconnect != nil)]
        for (option, isGiven) in own + others where isGiven {
            throw ImportError(
                .optionsConflict,
                "\(option) is for a server's database",
                advice: "Leave it out, or give an address as postgresql://USER@HOST/DATABASE."
            )
        }
    }

    /// The schema that an address and these options name.
    func store(at address: String, showsValues: Bool = false) throws -> PostgreSQLStore {
        var address = try PostgreSQLAddress(address)
        address.schema = schema
        var store = PostgreSQLStore(address)
        store.reconnect = Double(reconnect ?? Self.defaultReconnect)
        store.showsValues = showsValues
        if isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 {
            store.passwordPrompt = { question in
                guard let answer = getpass(question) else { return nil }
                return String(cString: answer)
            }
        }
        return store
    }
}
