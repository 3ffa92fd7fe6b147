import ImportModel

/// The tables of a job's images: one for each entity, with a column for each attribute.
///
/// All images have the same first page and the same roots, so they differ by their rows only.
package final class DatabaseImageSchema {
    /// An entity's table, in memory that lives as long as the schema.
    package struct Table {
        /// How many columns it has.
        package let width: Int
        let affinities: UnsafePointer<ColumnAffinity>
        /// What a column gets that a record does not mention.
        package let defaults: UnsafePointer<SQLiteRecordValue>
        /// True if all defaults are what their columns leave as it is.
        let takesDefaults: Bool
        /// The column that is the row id; -1 where rows are numbered.
        package let rowIDColumn: Int
    }

    /// By the entities' indexes in the job.
    package let tables: [Table]
    /// The database's header, and the table of the tables.
    let firstPage: [UInt8]
    /// The texts of defaults, by entity.
    private let defaultBytes: [UnsafeBufferPointer<UInt8>]

    /// - Parameters:
    ///   - plans: the job's entities, in their order.
    ///   - keyed: the indexes of those whose identifier is the row id of their rows.
    /// - Returns: nil where the definitions of the tables do not fit a page, or a table would have no column.
    package init?(_ plans: [EntityPlan], keyed: Set<Int32> = []) {
        guard plans.allSatisfy({ !$0.attributes.isEmpty }) else { return nil }
        let rowIDColumns = plans.map { keyed.contains($0.index) ? $0.identifier.first ?? -1 : -1 }
        guard let page = Self.firstPage(plans, rowIDColumns) else { return nil }
        firstPage = page
        defaultBytes = plans.map { .copy(of: $0.defaultBytes) }
        tables = zip(zip(plans, rowIDColumns), defaultBytes).map { plan, bytes in
            let (plan, rowIDColumn) = plan
            let width = plan.attributes.count
            let affinities = UnsafeMutablePointer<ColumnAffinity>.allocate(capacity: width)
            let defaults = UnsafeMutablePointer<SQLiteRecordValue>.allocate(capacity: width)
            let values = RowValues(
                cells: UnsafeBufferPointer(start: nil, count: 0),
                chunk: UnsafeBufferPointer(start: nil, count: 0),
                own: bytes
            )
            var takesDefaults = true
            for (place, attribute) in plan.entity.attributes.enumerated() {
                let affinity = ColumnAffinity(declaredType: attribute.declaredType)
                let field = SQLiteRecordValue(plan.defaults[place], values, affinity)
                if field == nil { takesDefaults = false }
                (affinities + place).initialize(to: affinity)
                (defaults + place).initialize(to: field ?? .null)
            }
            return Table(
                width: width,
                affinities: affinities,
                defaults: defaults,
                takesDefaults: takesDefaults,
                rowIDColumn: rowIDColumn
            )
        }
    }

    deinit {
        for table in tables {
            table.affinities.deallocate()
            table.defaults.deallocate()
        }
        for bytes in defaultBytes { bytes.deallocate() }
    }

    /// The table of an entity, by its index in the job.
    package static func table(_ entity: Int32) -> String { "_import_rows_\(entity)" }

    /// The columns of an entity's table, in the order of its attributes.
    package static func columns(_ plan: EntityPlan) -> [String] { plan.attributes.indices.map { "c\($0)" } }

    private static func firstPage(_ plans: [EntityPlan], _ rowIDColumns: [Int]) -> [UInt8]? {
        var page = [UInt8](repeating: 0, count: DatabaseImage.pageSize)
        func put(_ value: Int, size: Int, at place: Int) {
            for index in 0..<size { page[place + index] = UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - index))) }
        }
        page.replaceSubrange(0..<16, with: Array("SQLite format 3\0".utf8))
        put(DatabaseImage.pageSize, size: 2, at: 16)
        // No WAL, no reserved bytes, and three fractions that are always these.
        page.replaceSubrange(18..<24, with: [1, 1, 0, 64, 32, 32])
        // The change counter, which is repeated; the schema's cookie and its format; UTF-8.
        for (value, place) in [(1, 24), (1, 92), (1, 40), (4, 44), (1, 56)] { put(value, size: 4, at: place) }
        var content = DatabaseImage.pageSize
        for (plan, rowIDColumn) in zip(plans, rowIDColumns) {
            let place = Int(plan.index)
            let cell = definition(of: plan, rowIDColumn, root: 2 + place)
            content -= cell.count
            // The page's header follows the database's.
            let pointer = 108 + 2 * place
            guard pointer + 2 <= content else { return nil }
            page.replaceSubrange(content..<content + cell.count, with: cell)
            put(content, size: 2, at: pointer)
        }
        put(0x0D, size: 1, at: 100)
        put(plans.count, size: 2, at: 103)
        put(content, size: 2, at: 105)
        return page
    }

    /// A row of the table of the tables (<https://www.sqlite.org/schematab.html>), as a cell.
    ///
    /// - Parameter root: the number of the table's root page, from 1.
    private static func definition(of plan: EntityPlan, _ rowIDColumn: Int, root: Int) -> [UInt8] {
        let name = table(plan.index)
        let columns = zip(columns(plan), plan.entity.attributes).enumerated().map { place, column in
            "\(column.0) \(column.1.declaredType)" + (place == rowIDColumn ? " PRIMARY KEY" : "")
        }
        let sql = "CREATE TABLE \(name) (\(columns.joined(separator: ", ")))"
        var header: [UInt8] = []
        var body: [UInt8] = []
        for value in ["table", name, name, nil, sql] {
            if let value {
                Varint.append(13 + 2 * UInt64(value.utf8.count), to: &header)
                body += value.utf8
            } else {
                Varint.append(4, to: &header)
                body += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: root >> $0) }
            }
        }
        var cell: [UInt8] = []
        // The header is short, so that its size takes one byte.
        Varint.append(UInt64(1 + header.count + body.count), to: &cell)
        Varint.append(UInt64(root), to: &cell)
        Varint.append(UInt64(1 + header.count), to: &cell)
        return cell + header + body
    }
}
