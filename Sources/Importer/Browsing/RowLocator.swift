import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// What the records of a row are found by.
indirect enum RowLocator {
    /// The values of the columns that tell its object from others: its identifier, or the object around it and its place there.
    case values(table: String, [(column: String, value: DatabaseValue)])
    /// The number of its row among those that a job has made of the records in a range of a source.
    case number(table: String, job: Int64, source: Int, bytes: Range<Int64>, index: Int)
    /// The place in a list of an object that is found by something else.
    case element(of: RowLocator, relationship: String, position: Int)

    /// - Parameter entity: the row's, as the store has it.
    /// - Returns: nil if nothing is known by which a record of the row can be found.
    init?(of rowID: Int64, _ entity: EntityDescription, model: ModelDescription, _ database: Database) throws {
        let table = entity.table
        func values(_ columns: [String]) throws -> [(column: String, value: DatabaseValue)]? {
            let list = columns.map(\.quotedIdentifier).joined(separator: ", ")
            let sql = "SELECT \(list) FROM \(table.quotedIdentifier) WHERE rowid = ?"
            guard let row = try Row.fetchOne(database, sql: sql, arguments: [rowID]) else { return nil }
            let values = Array(row.databaseValues)
            return values.contains(.null) ? nil : Array(zip(columns, values))
        }
        let own = try Self.ownColumns(of: entity, model)
        if !own.isEmpty, let values = try values(own) {
            self = .values(table: table, values)
            return
        }
        let layout = model.isFlat ? nil : try ModelLayout(importing: model)
        if let layout, let place = layout.hierarchy.index(of: entity.name) {
            let rows = layout.rows(of: place)
            for (relationship, references) in rows.references.sorted(by: { $0.key < $1.key }) {
                guard let list = layout.list(of: relationship), let position = rows.positions[relationship] else {
                    continue
                }
                let columns = (Array(references) + [position]).map { rows.entity.attributes[$0].column }
                guard let found = try values(columns),
                    let position = Int64.fromDatabaseValue(found[found.count - 1].value)
                else { continue }
                let target = layout.target(of: relationship)
                if layout.key(of: target).allSatisfy({ $0.role != .rowID }) {
                    self = .values(table: table, found)
                    return
                }
                var around = layout.entities[target]
                around.table = layout.table(of: target)
                guard let row = Int64.fromDatabaseValue(found[0].value),
                    let owner = try RowLocator(of: row, around, model: model, database)
                else { continue }
                let name = layout.relationships[list].description.name
                self = .element(of: owner, relationship: name, position: Int(clamping: position))
                return
            }
        }
        guard let number = try Self.number(of: rowID, in: table, database) else { return nil }
        self = number
    }

    /// The columns of the identifier, where records have it; none where its values are made, or there is none.
    private static func ownColumns(of entity: EntityDescription, _ model: ModelDescription) throws -> [String] {
        let hierarchy = EntityHierarchy(model.entities)
        guard let place = hierarchy.index(of: entity.name) else { return [] }
        let attributes = hierarchy.attributes(of: place)
        let identifier = hierarchy.identifier(of: place).map { name in
            attributes.first { $0.name.hasSameBytes(as: name) }
        }
        // One that the object around is part of is found by its columns.
        guard identifier.allSatisfy({ $0.map { !$0.isGenerated } ?? false }) else { return [] }
        return identifier.compactMap { $0?.column }
    }

    private static func number(of rowID: Int64, in table: String, _ database: Database) throws -> RowLocator? {
        guard try database.hasTable("_import_addition"),
            let job = try InsertedRowRanges.job(of: rowID, in: table, database)
        else { return nil }
        let chunks = try BookkeepingRow.fetchAll(
            database,
            from: "_import_chunk",
            sql: """
                SELECT source, first_byte, end_byte, first_rowid FROM _import_chunk AS chunk WHERE job = ? AND inserted > 0
                    AND entity IN (SELECT position FROM _import_entity AS other
                        WHERE other.job = chunk.job AND table_name = ? COLLATE NOCASE)
                    AND ? BETWEEN first_rowid AND last_rowid
                """,
            arguments: [job, table, rowID]
        )
        guard chunks.count == 1, let chunk = chunks.first else { return nil }
        let (first, end) = (try chunk.number("first_byte"), try chunk.number("end_byte"))
        let firstRow = try chunk.rowID("first_rowid")
        guard first < end, firstRow <= rowID else { return nil }
        // Rows of other jobs may be between them.
        let before = try InsertedRowRanges.ranges(of: table, job: job, database).reduce(0) { count, range in
            let common = range.clamped(to: firstRow...rowID)
            return range.overlaps(firstRow...rowID)
                ? count + Int(clamping: common.upperBound - common.lowerBound) + 1 : count
        }
        guard before > 0 else { return nil }
        return .number(table: table, job: job, source: try chunk.index("source"), bytes: first..<end, index: before - 1)
    }

    /// The table that its rows are in.
    var table: String {
        switch self {
        case .values(let table, _), .number(let table, _, _, _, _): table
        case .element(let owner, _, _): owner.table
        }
    }

    /// What the object around all others is found by.
    var outermost: RowLocator {
        if case .element(let owner, _, _) = self { owner.outermost } else { self }
    }

    /// The only job and source that can have the record; nil where others can, too.
    var place: (job: Int64, source: Int)? {
        switch self {
        case .values: nil
        case .number(_, let job, let source, _, _): (job, source)
        case .element(let owner, _, _): owner.place
        }
    }
}
