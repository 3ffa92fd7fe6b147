import Foundation
import GRDB
import ImportModel
import Importer
import TestSupport

@testable import ImportMigration
@testable import ImportSQLite

/// An image, and beside it a database in which SQLite itself has laid out the same rows.
final class ImageBesideTables {
    /// A value to be stored; texts and blobs by their bytes.
    enum Value: Sendable {
        case null
        case integer(Int64)
        case real(Double)
        case text([UInt8])
        case blob([UInt8])

        var size: Int {
            switch self {
            case .null, .integer, .real: 8
            case .text(let bytes), .blob(let bytes): bytes.count
            }
        }

        static func text(_ text: String) -> Value { .text(Array(text.utf8)) }
    }

    let plans: [EntityPlan]
    let image: DatabaseImage
    private let schema: DatabaseImageSchema
    private let keyed: Set<Int32>
    private let directory: TemporaryDirectory
    /// The rows that the image has taken, by entity.
    private var rows: [[[Value]]]

    /// - Parameters:
    ///   - types: of each entity, its attributes' types.
    ///   - keyed: the entities whose first attribute is the row id, by their indexes.
    init(_ types: [[String]], keyed: Set<Int32> = []) throws {
        plans = try Self.plans(types, keyed: keyed)
        guard let schema = DatabaseImageSchema(plans, keyed: keyed) else {
            throw StoreContent.Failure("the schema does not fit a page")
        }
        self.schema = schema
        self.keyed = keyed
        image = DatabaseImage(schema)
        directory = try TemporaryDirectory()
        rows = types.map { _ in [] }
        reset()
    }

    /// The value that an attribute of this type has by default.
    static func defaultValue(_ type: String) -> Value {
        switch type {
        case "integer64": .integer(-300)
        case "double": .real(7)
        case "string": .text("fällt")
        default: .null
        }
    }

    static func plans(_ types: [[String]], keyed: Set<Int32> = []) throws -> [EntityPlan] {
        let entities = types.enumerated().map { entity, types in
            let attributes = types.enumerated().map { place, type in
                let fallback =
                    switch defaultValue(type) {
                    case .integer(let number): ", \"default\": \(number)"
                    case .real(let number): ", \"default\": \(number)"
                    case .text(let bytes): ", \"default\": \"\(String(decoding: bytes, as: UTF8.self))\""
                    default: ""
                    }
                if place == 0, keyed.contains(Int32(entity)) { return "\"c0\": {\"type\": \"\(type)\"}" }
                return "\"c\(place)\": {\"type\": \"\(type)\", \"optional\": true\(fallback)}"
            }
            let identifier = keyed.contains(Int32(entity)) ? "\"identifier\": [\"c0\"], " : ""
            return "\"e\(entity)\": {\"records\": \"$.e\(entity)[*]\", \(identifier)"
                + "\"attributes\": {\(attributes.joined(separator: ", "))}}"
        }
        let text = "{\"entities\": {\(entities.joined(separator: ", "))}}"
        return try ModelDescription(parsing: Array(text.utf8)).entities.enumerated().map {
            try EntityPlan(entity: $1, index: $0)
        }
    }

    /// Empties the image and lets rows in.
    func reset() {
        image.reset()
        image.reserve(80 << 20)
        for entity in plans.indices {
            image.open(Int32(entity))
            rows[entity] = []
        }
    }

    /// Leaves the first rows of the first entity to be compared, as the image has been taken back to them.
    func forget(after count: Int) { rows[0].removeLast(rows[0].count - count) }

    /// Adds a row to the image.
    ///
    /// - Parameter values: nil for an attribute that gets its default.
    /// - Returns: whether the image has taken it.
    func append(_ values: [Value?], to entity: Int = 0) -> Bool {
        var (chunk, own): ([UInt8], [UInt8]) = ([0x7B], [])
        var cells: [Cell] = []
        var mask = [UInt64](repeating: 0, count: (values.count + 63) / 64)
        for (place, value) in values.enumerated() {
            guard let value else { continue }
            mask[place >> 6] |= 1 << UInt64(place & 63)
            switch value {
            case .null: cells.append(.null)
            case .integer(let number): cells.append(.integer(number))
            case .real(let number): cells.append(.real(number))
            case .text(let bytes) where place.isMultiple(of: 2):
                cells.append(.text(.chunkText, offset: chunk.count, length: bytes.count))
                chunk += bytes
            case .text(let bytes):
                let tag: Cell.Tag = place % 4 == 1 ? .batchText : .generatedText
                cells.append(.text(tag, offset: own.count, length: bytes.count))
                own += bytes
            case .blob(let bytes):
                cells.append(.text(.batchBlob, offset: own.count, length: bytes.count))
                own += bytes
            }
        }
        let isTaken = cells.withUnsafeBufferPointer { cells in
            chunk.withUnsafeBufferPointer { chunk in
                own.withUnsafeBufferPointer { own in
                    mask.withUnsafeMutableBufferPointer { mask in
                        let values = RowValues(cells: cells, chunk: chunk, own: own, defaults: own)
                        return image.append(values, presence: mask, entity: Int32(entity))
                    }
                }
            }
        }
        if isTaken {
            let types = plans[entity].entity.attributes.map(\.type.rawValue)
            rows[entity].append(zip(values, types).map { $0 ?? Self.defaultValue($1) })
        }
        return isTaken
    }

    // MARK: What they hold

    /// Finishes the image and looks at it as a worker's connection does, beside a `main` that is empty.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        image.finish()
        let queue = try DatabaseQueue()
        let (attached, result) = try queue.inDatabase { database in
            let attached = try AttachedDatabaseImage(database, schema)
            var result: Result?
            var batch = DecodedBatch()
            batch.layout = image
            try attached.showing(batch) { result = try body(database) }
            return (attached, result)
        }
        try queue.close()
        return try withExtendedLifetime(attached) {
            guard let result else { throw StoreContent.Failure("the image was not shown") }
            return result
        }
    }

    /// What SQLite finds wrong with the image; `ok` for nothing.
    func check() throws -> [String] {
        try read { try String.fetchAll($0, sql: "PRAGMA \(AttachedDatabaseImage.name).integrity_check") }
    }

    /// The image as a file.
    func file() throws -> String {
        image.finish()
        return try directory.write(Data(image.bytes), to: "image.sqlite")
    }

    /// What the image holds of each entity: a line per row, and some columns of it.
    func imageContent() throws -> [[String]] {
        try read { database in
            try plans.map { try Self.content($0, of: AttachedDatabaseImage.name, database) }
        }
    }

    /// The same for the database that SQLite has written, and that as a file.
    func tables() throws -> (content: [[String]], file: String) {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA page_size = \(DatabaseImage.pageSize)") }
        let path = directory.path("tables-\(UUID().uuidString).sqlite")
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { database in
            for (plan, rows) in zip(plans, rows) {
                let table = DatabaseImageSchema.table(plan.index)
                let isKeyed = keyed.contains(plan.index)
                let columns = plan.entity.attributes.enumerated().map {
                    "c\($0) \($1.declaredType)" + ($0 == 0 && isKeyed ? " PRIMARY KEY" : "")
                }
                try database.execute(sql: "CREATE TABLE \(table) (\(columns.joined(separator: ", ")))")
                for row in rows { try Self.insert(row, into: table, database) }
            }
        }
        let content = try queue.read { database in try plans.map { try Self.content($0, of: "main", database) } }
        try queue.close()
        return (content, path)
    }

    private static func insert(_ row: [Value], into table: String, _ database: Database) throws {
        var arguments: [any DatabaseValueConvertible] = []
        let places = row.map { value in
            switch value {
            case .null: return "NULL"
            case .integer(let number): arguments.append(number)
            case .real(let number): arguments.append(number)
            case .blob(let bytes): arguments.append(Data(bytes))
            case .text(let bytes):
                arguments.append(Data(bytes))
                return "CAST(? AS TEXT)"
            }
            return "?"
        }
        try database.cachedStatement(sql: "INSERT INTO \(table) VALUES (\(places.joined(separator: ", ")))")
            .execute(arguments: StatementArguments(arguments))
    }

    private static func content(_ plan: EntityPlan, of schema: String, _ database: Database) throws -> [String] {
        var lines: [String] = []
        // A result has no more columns than a table.
        for first in stride(from: 0, to: plan.attributes.count, by: 500) {
            let columns = (first..<min(first + 500, plan.attributes.count)).map {
                "typeof(c\($0)), CASE typeof(c\($0)) WHEN 'text' THEN CAST(c\($0) AS BLOB) ELSE c\($0) END"
            }
            let sql =
                "SELECT rowid, \(columns.joined(separator: ", ")) FROM \(schema).\(DatabaseImageSchema.table(plan.index))"
            let rows = try Row.fetchCursor(database, sql: sql)
            while let row = try rows.next() {
                lines.append(row.databaseValues.map(Self.text).joined(separator: " "))
            }
        }
        return lines
    }

    /// No two different values look the same; nor do 0.0 and -0.0.
    private static func text(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "null"
        case .int64(let number): "\(number)"
        case .double(let number): "\(number) \(number.bitPattern)"
        case .string(let text): text
        case .blob(let data): data.base64EncodedString()
        }
    }
}

// Expectations that fail show the values that they are about, all of them, however long.
extension ImageBesideTables: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension ImageBesideTables.Value: CustomReflectable, CustomStringConvertible {
    var description: String {
        switch self {
        case .null: "null"
        case .integer(let number): "integer \(number)"
        case .real(let number): "real \(number)"
        case .text(let bytes): "text of \(bytes.count) bytes"
        case .blob(let bytes): "blob of \(bytes.count) bytes"
        }
    }

    var customMirror: Mirror { Mirror(self, children: []) }
}
