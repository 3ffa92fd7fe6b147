import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// A row of a bookkeeping table, whose values are checked when they are read: another program may have written
/// anything there.
///
/// A value that the importer does not write is an `ImportError` with `.io` that names the table and the column.
package struct BookkeepingRow {
    /// What counts, offsets and numbers of records and bytes may be: sums of many of them stay far within 64 bits.
    package static let counts: ClosedRange<Int64> = 0...(1 << 53)
    /// What an index in a list may be.
    package static let places: ClosedRange<Int64> = 0...Int64(Int32.max)

    private let row: Row
    private let table: String
    private let database: Database

    /// - Parameter table: the table that the values are of, for messages.
    package init(_ row: Row, of table: String, _ database: Database) {
        self.row = row
        self.table = table
        self.database = database
    }

    /// Rows of a table; none where it is not there.
    ///
    /// - Parameter job: the job whose rows are wanted; nil for any job's.
    /// - Parameter rest: what follows the table, or the job, in the statement.
    package static func all(
        _ database: Database,
        _ columns: String = "*",
        from table: String,
        of job: Int64? = nil,
        _ rest: String = "",
        _ arguments: StatementArguments = StatementArguments()
    ) throws -> [BookkeepingRow] {
        let select = select(columns, from: table, of: job, rest)
        return try fetchAll(database, from: table, sql: select.sql, arguments: select.job + arguments)
    }

    /// As `all`, of the first row; nil where there is none.
    package static func first(
        _ database: Database,
        _ columns: String = "*",
        from table: String,
        of job: Int64? = nil,
        _ rest: String = "",
        _ arguments: StatementArguments = StatementArguments()
    ) throws -> BookkeepingRow? {
        let select = select(columns, from: table, of: job, rest)
        return try fetchOne(database, from: table, sql: select.sql, arguments: select.job + arguments)
    }

    /// What a job has changed or lost of values.
    package static func ledger(of job: Int64, _ database: Database) throws -> [BookkeepingRow] {
        try all(database, "entity, attribute, kind, count", from: "_import_ledger", of: job, "AND NOT is_error")
    }

    private static func select(
        _ columns: String,
        from table: String,
        of job: Int64?,
        _ rest: String
    ) -> (sql: String, job: StatementArguments) {
        guard let job else { return ("SELECT \(columns) FROM \(table) \(rest)", StatementArguments()) }
        return ("SELECT \(columns) FROM \(table) WHERE job = ? \(rest)", [job])
    }

    /// The rows of a statement; none where the table is not there.
    package static func fetchAll(
        _ database: Database,
        from table: String,
        sql: String,
        arguments: StatementArguments = StatementArguments()
    ) throws -> [BookkeepingRow] {
        guard try isThere(table, database) else { return [] }
        return try Row.fetchAll(database, sql: sql, arguments: arguments).map {
            BookkeepingRow($0, of: table, database)
        }
    }

    /// The first row of a statement; nil where there is none, or the table is not there.
    package static func fetchOne(
        _ database: Database,
        from table: String,
        sql: String,
        arguments: StatementArguments = StatementArguments()
    ) throws -> BookkeepingRow? {
        guard try isThere(table, database) else { return nil }
        return try Row.fetchOne(database, sql: sql, arguments: arguments).map {
            BookkeepingRow($0, of: table, database)
        }
    }

    private static func isThere(_ table: String, _ database: Database) throws -> Bool {
        try BookkeepingSchema.lasting.contains(table) || database.hasTable(table)
    }

    // MARK: Values

    /// An integer; by default one that counts something.
    package func number(_ column: String, in range: ClosedRange<Int64> = counts) throws -> Int64 {
        guard case .int64(let value) = storage(column), range.contains(value) else { throw damage(column) }
        return value
    }

    /// An integer, or nil for NULL.
    package func optionalNumber(_ column: String, in range: ClosedRange<Int64> = counts) throws -> Int64? {
        if case .null = storage(column) { return nil }
        return try number(column, in: range)
    }

    /// A row id, which may be any number.
    package func rowID(_ column: String) throws -> Int64 { try number(column, in: .min ... .max) }

    /// An index in a list, from 0.
    package func index(_ column: String) throws -> Int { Int(try number(column, in: Self.places)) }

    package func flag(_ column: String) throws -> Bool { try number(column, in: 0...1) == 1 }

    /// A length of time, in seconds.
    package func seconds(_ column: String) throws -> Double {
        let seconds: Double
        switch storage(column) {
        case .double(let value): seconds = value
        case .int64(let value): seconds = Double(value)
        default: throw damage(column)
        }
        guard (0...1e12).contains(seconds) else { throw damage(column) }
        return seconds
    }

    package func text(_ column: String) throws -> String {
        guard case .string(let value) = storage(column) else { throw damage(column) }
        return value
    }

    /// A text, or nil for NULL.
    package func optionalText(_ column: String) throws -> String? {
        if case .null = storage(column) { return nil }
        return try text(column)
    }

    package func bytes(_ column: String) throws -> [UInt8] {
        guard case .blob(let value) = storage(column) else { throw damage(column) }
        return [UInt8](value)
    }

    /// One of the texts that a type has.
    package func choice<Choice: RawRepresentable>(
        _ column: String,
        as type: Choice.Type = Choice.self
    ) throws -> Choice where Choice.RawValue == String {
        guard let choice = Choice(rawValue: try text(column)) else { throw damage(column) }
        return choice
    }

    /// A value that is kept as a JSON text.
    ///
    /// - Parameter isSound: whether it is one that the importer writes.
    package func json<Value: Decodable>(
        _ column: String,
        as type: Value.Type = Value.self,
        where isSound: (Value) -> Bool = { _ in true }
    ) throws -> Value {
        guard let value = try? BookkeepingJSON.decode(type, text(column)), isSound(value) else { throw damage(column) }
        return value
    }

    private func storage(_ column: String) -> DatabaseValue.Storage {
        (row[column] as DatabaseValue?)?.storage ?? .null
    }

    // MARK: Damage

    /// How many characters of a text are shown, at most.
    private static let shownCharacters = 40

    /// What is wrong with a value.
    package func damage(_ column: String) -> ImportError {
        let value =
            switch storage(column) {
            case .null: "NULL"
            case .int64(let value): "\(value)"
            case .double(let value): "\(value)"
            case .string(let text):
                "'\(text.prefix(Self.shownCharacters))\(text.count > Self.shownCharacters ? "…" : "")'"
            case .blob(let data): "a BLOB of \(data.count.grouped) bytes"
            }
        return ImportError(damaged: UntrustedStoreGuard.path(of: database), "\(table).\(column) is \(value)")
    }
}

extension ImportError {
    /// A store whose bookkeeping is not what the importer writes.
    ///
    /// - Parameter what: the table, the column and the value.
    package init(damaged store: String, _ what: String) {
        self.init(
            .storeDamaged,
            at: store,
            "the store is damaged: \(what)",
            advice: "Restore it from a backup, or import its sources into another store."
        )
    }
}
