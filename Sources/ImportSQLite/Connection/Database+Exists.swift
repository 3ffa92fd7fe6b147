import GRDB

extension Database {
    /// True if a query has a row.
    package func exists(_ query: String, _ arguments: StatementArguments = StatementArguments()) throws -> Bool {
        try Bool.fetchOne(self, sql: "SELECT EXISTS (\(query))", arguments: arguments) ?? false
    }
}
