import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

import struct ImportSources.Record

/// How the values of an attribute are distributed, by a look at all rows or at some from everywhere.
package struct ColumnDistribution: Sendable {
    /// A range of numbers, and how many values are in it.
    package struct Bin: Sendable {
        /// The smallest value of the range; whole where the attribute's are.
        package let from: Record.Value
        /// Its end, which belongs to the next one, if there is one.
        package let to: Record.Value
        /// How many values are in it.
        package var count: Int64
    }

    /// The attribute.
    package let attribute: AttributeDescription
    /// How many rows were read.
    package let rows: Int64
    /// True if there are others.
    package let isSampled: Bool
    /// How many of them have no value.
    package let nulls: Int64
    /// How many different values they have.
    package let distinct: Int64
    /// The most frequent values, the most frequent first.
    package let top: [(value: Record.Value, count: Int64)]
    /// Numbers, and dates in milliseconds since 1970, in ranges of the same width; empty for anything else.
    package let histogram: [Bin]

    /// Values beyond this many bytes are told apart by their beginnings.
    fileprivate static let valueBytes = 200
    /// More rows than these are not read.
    fileprivate static let mostRows: Int64 = 100_000
    /// The number of ranges of row ids that a sample is read from; what is between them is passed over.
    fileprivate static let mostPlaces: Int64 = 100
    fileprivate static let mostTop = 20
    fileprivate static let bins = 30
}

extension StoreReader {
    /// Counts the values of an attribute, in up to 100,000 rows.
    ///
    /// Rows are found by their row ids, so no more are read than are counted.
    ///
    /// - Throws: `ImportError` when there is no such entity or attribute, or the store cannot be read.
    package func distribution(
        of attribute: String,
        in name: String,
        _ interruption: Interruption
    ) throws -> ColumnDistribution {
        try read(interruption) { database in
            let entity = try entity(named: name, database)
            guard let attribute = entity.description.attribute(named: attribute) else {
                throw ImportError(noAttribute: attribute, in: entity.description)
            }
            let table = entity.description.table.quotedIdentifier
            let last = try RawRowCursor.number(database, SQLFragment("SELECT max(rowid) FROM \(table)")) ?? 0
            let first = try RawRowCursor.number(database, SQLFragment("SELECT min(rowid) FROM \(table)")) ?? 0
            let range = UInt64(bitPattern: last &- first)
            let isSampled = range >= UInt64(ColumnDistribution.mostRows)
            let places = isSampled ? ColumnDistribution.mostPlaces : 1
            let value = WindowQuery.value(of: attribute.column.quotedIdentifier, bytes: ColumnDistribution.valueBytes)
            var conditions = [SQLFragment("rowid BETWEEN ? AND ?")]
            if let condition = entity.condition { conditions.append(condition) }
            var statement = SQLFragment("SELECT \(value) FROM \(table) WHERE ") + .all(conditions)
            statement.sql += " ORDER BY rowid LIMIT \(ColumnDistribution.mostRows / places)"
            let rows = try RawRowCursor(database, SQLFragment(statement.sql))
            defer { rows.reset() }
            var tally = ValueCounter(of: attribute)
            for place in 0..<places {
                let step = range / UInt64(places)
                let start = first &+ Int64(bitPattern: step * UInt64(place))
                let end = place + 1 == places ? last : start &+ Int64(bitPattern: step) - 1
                try rows.bind([.integer(start), .integer(end)] + (entity.condition?.arguments ?? []))
                while let row = try rows.next() { tally.add(row.stored(at: 0)) }
            }
            return tally.distribution(isSampled: isSampled)
        }
    }
}

/// Counts values one by one.
private struct ValueCounter {
    private let attribute: AttributeDescription
    /// Values with their types: what `String` takes for the same text need not be.
    private var counts: [RawArgument: Int64] = [:]
    private var rows: Int64 = 0

    init(of attribute: AttributeDescription) { self.attribute = attribute }

    mutating func add(_ value: Record.Value) {
        rows += 1
        counts[RawArgument(value), default: 0] += 1
    }

    func distribution(isSampled: Bool) -> ColumnDistribution {
        var values = counts.map { (value: $0.key.stored, count: $0.value) }
        let nulls = values.first { $0.value.isNull }?.count ?? 0
        values.removeAll { $0.value.isNull }
        // Those that are as frequent come in the same order each time.
        let top = values.sorted { ($1.count, $0.value.order) < ($0.count, $1.value.order) }.prefix(
            ColumnDistribution.mostTop
        )
        return ColumnDistribution(
            attribute: attribute,
            rows: rows,
            isSampled: isSampled,
            nulls: nulls,
            distinct: Int64(values.count),
            top: Array(top),
            histogram: histogram(values)
        )
    }

    private func histogram(_ values: [(value: Record.Value, count: Int64)]) -> [ColumnDistribution.Bin] {
        switch attribute.type {
        case .integer16, .integer32, .integer64: wholeHistogram(values) ?? realHistogram(values)
        default: realHistogram(values)
        }
    }

    /// Ranges that begin at whole numbers; nil where there are others.
    private func wholeHistogram(_ values: [(value: Record.Value, count: Int64)]) -> [ColumnDistribution.Bin]? {
        var numbers: [(number: Int64, count: Int64)] = []
        for (value, count) in values {
            switch value {
            case .integer(let number): numbers.append((number, count))
            // What has another type is in no range.
            case .text, .blob, .null: continue
            case .real: return nil
            }
        }
        guard let least = numbers.map(\.number).min(), let most = numbers.map(\.number).max(), most > least else {
            return []
        }
        func distance(_ number: Int64) -> UInt64 { UInt64(bitPattern: number &- least) }
        // The least that so many ranges can have.
        let width = distance(most) / UInt64(ColumnDistribution.bins) + 1
        let last = distance(most) / width
        var bins = (0...last).map { place in
            let from = least &+ Int64(bitPattern: width * place)
            let to = place == last ? most : from &+ Int64(bitPattern: width)
            return ColumnDistribution.Bin(from: .integer(from), to: .integer(to), count: 0)
        }
        for (number, count) in numbers { bins[Int(distance(number) / width)].count += count }
        return bins
    }

    private func realHistogram(_ values: [(value: Record.Value, count: Int64)]) -> [ColumnDistribution.Bin] {
        let numbers = values.compactMap { value, count in number(value).map { (number: $0, count: count) } }
        guard let least = numbers.map(\.number).min(), let most = numbers.map(\.number).max(), most > least,
            (most - least).isFinite
        else { return [] }
        let width = (most - least) / Double(ColumnDistribution.bins)
        guard width > 0 else { return [] }
        var bins = (0..<ColumnDistribution.bins).map { place in
            let end = place + 1 == ColumnDistribution.bins ? most : least + width * Double(place + 1)
            return ColumnDistribution.Bin(from: .real(least + width * Double(place)), to: .real(end), count: 0)
        }
        for (number, count) in numbers {
            bins[min(max(Int((number - least) / width), 0), bins.count - 1)].count += count
        }
        return bins
    }

    /// A number to be put into a range; nil where it is none.
    private func number(_ value: Record.Value) -> Double? {
        let number: Double? =
            switch attribute.type {
            case .integer16, .integer32, .integer64, .float, .double: value.doubleValue
            case .decimal: value.doubleValue ?? value.textValue.flatMap(Double.init)
            case .date: StoredDate.milliseconds(of: value, storage: attribute.ownForm).map(Double.init)
            default: nil
            }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }
}

extension Record.Value {
    /// What equally frequent values are sorted by.
    fileprivate var order: String {
        switch self {
        case .null: ""
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): text
        case .blob(let bytes): Data(bytes).base64EncodedString()
        }
    }
}

extension RawArgument {
    /// The value as a record has it.
    fileprivate var stored: Record.Value {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
        case .blob(let bytes): .blob(bytes)
        }
    }
}
