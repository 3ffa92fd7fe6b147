import GRDB
import ImportEngine
import ImportModel

import struct ImportSources.Record

/// A statement or a part of one, with the values that are bound to it.
package struct SQLFragment: Sendable {
    package var sql: String
    package var arguments: [RawArgument]

    package init(_ sql: String, _ arguments: [RawArgument] = []) {
        self.sql = sql
        self.arguments = arguments
    }

    /// A condition that holds where all of these do.
    package static func all(_ conditions: [SQLFragment]) -> SQLFragment {
        joined(conditions, by: " AND ", empty: "1")
    }

    /// A condition that holds where one of these does.
    package static func any(_ conditions: [SQLFragment]) -> SQLFragment {
        joined(conditions, by: " OR ", empty: "0")
    }

    private static func joined(_ conditions: [SQLFragment], by word: String, empty: String) -> SQLFragment {
        SQLFragment(
            conditions.isEmpty ? empty : conditions.map { "(\($0.sql))" }.joined(separator: word),
            conditions.flatMap(\.arguments)
        )
    }

    package static func + (one: SQLFragment, other: SQLFragment) -> SQLFragment {
        SQLFragment(one.sql + other.sql, one.arguments + other.arguments)
    }

    /// True if SQLite sorts before it gives the first row (<https://www.sqlite.org/eqp.html>), or the rows come in their order
    /// by themselves.
    package func sorts(_ database: Database) throws -> Bool {
        let plan = try RawRowCursor(database, SQLFragment("EXPLAIN QUERY PLAN ") + self)
        defer { plan.reset() }
        while let row = try plan.next() {
            if case .text(let detail) = row.stored(at: 3), detail.hasPrefix("USE TEMP B-TREE") { return true }
        }
        return false
    }
}

/// A value that is bound to a statement, byte by byte: a text may hold NUL, and be not UTF-8.
package enum RawArgument: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    package init(_ value: Record.Value) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let text): .text(Array(text.utf8))
            case .blob(let bytes): .blob(bytes)
            }
    }

    package init(_ value: StoredRow.Value) {
        self =
            switch value {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let bytes): .text(Array(bytes))
            case .blob(let bytes): .blob(Array(bytes))
            }
    }
}
