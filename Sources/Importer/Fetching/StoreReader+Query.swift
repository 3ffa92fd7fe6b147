import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

import class GRDB.Database
import struct GRDB.DatabaseError
import class GRDB.DatabaseQueue

/// SQL statements that people write.
extension StoreReader {
    /// Runs an SQL statement that only reads, in one transaction, which lasts until all rows are given.
    ///
    /// Values are as they are stored; of columns with the same name, the second is `name_2`.
    ///
    /// - Parameters:
    ///   - begin: is given an attribute for each column, a number where the first row has one, before the first row.
    ///   - body: is given each row.
    /// - Throws: `ImportError` with `.usage` when the statement is wrong, or writes; another when the store cannot be read; what
    ///   `begin` and `body` throw.
    package func query(
        _ sql: String,
        _ interruption: Interruption = Interruption(),
        begin: ([AttributeDescription]) throws -> Void,
        _ body: ([Record.Value]) throws -> Void
    ) throws {
        try read(interruption) { database in
            do {
                let names = try Self.columns(of: sql, database)
                let statement = try RawRowCursor(database, SQLFragment(sql))
                defer { statement.reset() }
                var row = try statement.next()
                let columns = names.enumerated().map { index, name in
                    let isNumber = row?.stored(at: index).doubleValue != nil
                    return AttributeDescription(name: name, type: isNumber ? .double : .string, isOptional: true)
                }
                try begin(columns)
                while let values = row {
                    try body(names.indices.map { values.stored(at: $0) })
                    row = try statement.next()
                }
            } catch let error as DatabaseError where Self.isMistake(error) {
                throw Self.wrong(error, (try? graph(database).entities.map(\.description)) ?? [])
            }
        }
    }

    /// Checks a statement as far as that is possible without a store.
    ///
    /// - Throws: `ImportError` with `.usage` when it is not SQL.
    package static func check(query sql: String) throws {
        do {
            _ = try DatabaseQueue().read { try columns(of: sql, $0) }
        } catch let error as DatabaseError where isMistake(error) {
            if error.message?.hasPrefix("no such ") != true { throw wrong(error, []) }
        }
    }

    /// The columns of a statement's rows, each with a name of its own.
    private static func columns(of sql: String, _ database: Database) throws -> [String] {
        let statement = try database.makeStatement(sql: sql)
        guard statement.isReadonly, !statement.columnNames.isEmpty else {
            throw ImportError(
                .optionInvalid,
                "the statement writes, or returns no rows",
                advice: "Give one that begins with select, with, values, explain or pragma; `sqlite3` runs all others."
            )
        }
        var used: Set<String> = []
        return statement.columnNames.map { name in
            var (own, number) = (name, 1)
            while !used.insert(own).inserted { (own, number) = ("\(name)_\(number + 1)", number + 1) }
            return own
        }
    }

    /// True if the statement is at fault, and not the store.
    private static func isMistake(_ error: DatabaseError) -> Bool {
        [.SQLITE_ERROR, .SQLITE_MISUSE, .SQLITE_RANGE].contains(error.resultCode.primaryResultCode)
    }

    private static func wrong(_ error: DatabaseError, _ entities: [EntityDescription]) -> ImportError {
        let isOne = error.resultCode.primaryResultCode != .SQLITE_MISUSE
        let message = isOne ? error.message ?? "\(error.resultCode)" : "there is more than one statement"
        let tables = entities.map(\.table)
        let name = message.wholeMatch(of: /no such (table|column): (?:\w+\.)?(.*)/)?.output
        let names = name?.1 == "table" ? tables : entities.flatMap { $0.attributes.map(\.column) }
        return ImportError(
            .optionInvalid,
            "\(message)\(name.map { NameSuggestion.question(for: String($0.2), among: Array(Set(names))) } ?? "")",
            advice: name == nil || tables.isEmpty ? nil : "Its tables: \(tables.joined(separator: ", ").printable)."
        )
    }
}
