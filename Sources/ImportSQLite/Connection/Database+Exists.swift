import GRDB

extension Database {
    /// True if a query has a row.
    package func exists(_ query: String, _ arguments: StatementArguments = StatementArguments()) throws -> Bool {
        try Bool.fetchOne(self, sql: "SELECT EXISTS (\(query))", arguments: arguments) ?? false
    }

    /// True if any table of the store has triggers.
    package func hasTriggers() throws -> Bool {
        try exists("SELECT 1 FROM main.sqlite_master WHERE type = 'trigger'")
    }
}
