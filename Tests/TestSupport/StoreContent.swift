import Foundation

/// What a store holds, read by Python's SQLite and not by the program under test.
package enum StoreContent {
    /// A reading that failed: what the script said.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(_ description: String) { self.description = description }
    }

    /// The user tables, with row ids, storage classes and the bytes of every column, as a SHA-256.
    package static func digest(_ store: String) throws -> String {
        try read(["digest", store])
    }

    /// The same as text, a line per row, for looking at what differs.
    package static func text(_ store: String) throws -> String {
        try read(["text", store])
    }

    /// User tables, rejects and ledger: what must not depend on workers, sizes or interruptions.
    package static func result(_ store: String) throws -> String {
        try read(["result", store])
    }

    /// How many rows the user tables hold; 0 where there is no store yet.
    package static func rowCount(_ store: String) throws -> Int {
        guard FileManager.default.fileExists(atPath: store) else { return 0 }
        return try Int(read(["count", store])) ?? 0
    }

    /// The same while a program changes the store; nil where there is nothing to read, or it cannot be read just now.
    package static func rowCountNow(_ store: String) throws -> Int? {
        try Int(read(["now", store]))
    }

    /// How many rows its user tables would hold if the program that changes the store, and is stopped, were killed; nil where
    /// there is no store.
    package static func rowCountLeft(_ store: String) throws -> Int? {
        try Int(read(["left", store]))
    }

    /// The rows of a query, a line each, columns separated by `|`.
    package static func query(_ store: String, _ sql: String) throws -> String {
        try read(["query", store, sql])
    }

    /// The names of the user tables, in alphabetical order, a line each.
    package static func tables(_ store: String) throws -> [String] {
        try read(["tables", store]).split(separator: "\n").map(String.init)
    }

    /// Whether SQLite finds the file whole.
    package static func isWhole(_ store: String) throws -> Bool {
        try read(["query", store, "PRAGMA integrity_check"]) == "ok"
    }

    /// Runs SQL statements on a store, as another program would.
    package static func execute(_ store: String, _ sql: String) throws {
        _ = try read(["execute", store, sql])
    }

    private static func read(_ arguments: [String]) throws -> String {
        let result = try Python.run("store_dump.py", arguments)
        guard result.ending == .exit(0) else { throw Failure("\(arguments): \(result.errorText)") }
        return result.outputText.trimmingCharacters(in: .newlines)
    }
}
