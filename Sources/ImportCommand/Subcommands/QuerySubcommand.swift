import ArgumentParser
import Foundation
import Importer

/// Asks a database in SQL.
///
/// `importer query STORE SQL`
struct QuerySubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Print what an SQL statement selects.",
        discussion: """
            STORE may be any SQLite database; it is read only, also while an import is running. Values are as they are stored: \
            a boolean is 0 or 1, JSON is a text.

            EXAMPLES
              importer query people.sqlite 'select city, count(*) from people group by 1'
              importer query people.sqlite 'select * from people' --format ndjson
            """
    )

    @Argument(help: "The store, or another SQLite database.")
    var store: String

    @Argument(help: "One statement that reads.")
    var sql: String

    @OptionGroup var query: QueryArguments

    func validate() throws {
        let files = FileManager.default
        guard !files.fileExists(atPath: store), files.fileExists(atPath: sql) else { return }
        throw ValidationError("the store comes first, and then the statement")
    }

    func run() throws {
        do {
            try query.print(sql, of: StoreReader(store: store))
        } catch let error as ImportError where error.message.hasSuffix("is not an SQLite database") {
            let command = "\(CommandName.text) memory \(store.shellQuoted) \(sql.shellQuoted)"
            throw error.advising("To ask a JSON file:  \(command)")
        }
    }
}
