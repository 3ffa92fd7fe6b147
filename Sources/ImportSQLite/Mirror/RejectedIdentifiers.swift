import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSources

/// The objects that a job's rejects are about, as far as their identifiers can be read: a mirror leaves them as they are.
package final class RejectedIdentifiers {
    /// How the identifier of an entity's records is read.
    private struct Reading {
        let plan: EntityPlan
        let table: String
        /// Finds the row with an identifier.
        let select: String
    }

    private let job: StoredJob
    private let model: ModelDescription
    private let layout: ModelLayout?
    private let transformers: TransformerRegistry
    private let statements: LinkStatementCache
    private let database: Database
    private let reader: RecordReader
    /// By entity; nil for one whose identifier cannot be read.
    private var readings: [BytewiseString: Reading?] = [:]
    private var batch = RowBatch()

    package init(
        _ job: StoredJob,
        _ model: ModelDescription,
        _ transformers: TransformerRegistry,
        _ database: Database
    ) throws {
        self.job = job
        self.model = model
        layout = model.isFlat ? nil : try ModelLayout(importing: model)
        self.transformers = transformers
        self.database = database
        statements = try LinkStatementCache(database)
        reader = RecordReader(maxDepth: job.options.maxDepth, taking: job.options.lenientScope)
    }

    /// Notes the objects of all rejects as seen.
    ///
    /// - Parameter check: called for each of them; may throw.
    /// - Returns: how many rejects have an identifier that cannot be read.
    func protect(check: () throws -> Void) throws -> Int64 {
        var unread: Int64 = 0
        guard try database.hasTable("_import_reject") else { return 0 }
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT reject.entity, reject.length, reject.record, reject.record_key
                FROM _import_reject AS reject WHERE reject.job = ? ORDER BY reject.id
                """,
            arguments: [job.id]
        )
        while let next = try rows.next() {
            try check()
            let row = BookkeepingRow(next, of: "_import_reject", database)
            let record = try row.bytes("record")
            let isWhole = try Int64(record.count) == row.number("length")
            guard isWhole, let reading = try reading(of: row.text("entity")),
                let key = try key(of: record, reading, recordKey: row.optionalText("record_key"))
            else {
                unread += 1
                continue
            }
            guard let found = try statements.integer(reading.select, [.key(key)]) else { continue }
            try RowIDBitmap(database, in: RowIDBitmap.retained, job: job.id, of: reading.table).add([found])
        }
        return unread
    }

    private func reading(of name: String) throws -> Reading? {
        if let known = readings[BytewiseString(name)] { return known }
        let reading = makeReading(of: name)
        readings[BytewiseString(name)] = reading
        return reading
    }

    /// The entity with nothing but its identifier.
    private func makeReading(of name: String) -> Reading? {
        guard let index = model.entities.firstIndex(where: { $0.name.hasSameBytes(as: name) }) else { return nil }
        var entity = model.entities[index]
        if let layout {
            let identifier = layout.hierarchy.identifier(of: index)
            entity = layout.rows(of: index).entity
            entity.identifier = identifier
        }
        entity.relationships = []
        entity.indexes = []
        let names = Set(entity.identifier.map { BytewiseString($0) })
        entity.attributes.removeAll { !names.contains(BytewiseString($0.name)) }
        for place in entity.attributes.indices { entity.attributes[place].isGenerated = false }
        guard !names.isEmpty, entity.attributes.count == names.count,
            let plan = try? EntityPlan(entity: entity, index: 0, transformers: transformers)
        else { return nil }
        let condition = entity.attributes.map { "\($0.column.quotedIdentifier) = ?" }
        return Reading(
            plan: plan,
            table: entity.table,
            select:
                "SELECT rowid FROM main.\(entity.table.quotedIdentifier) WHERE \(condition.joined(separator: " AND "))"
        )
    }

    /// The identifier of a record; nil where it cannot be read.
    private func key(of record: [UInt8], _ reading: Reading, recordKey: String?) throws -> RowKey? {
        let plan = reading.plan
        var decoder = RecordDecoder(plan: plan, job.options, onError: .reject)
        decoder.retriedKeys = recordKey.map { RecordKeys.keys(in: $0).reversed() } ?? []
        batch = RowBatch()
        batch.reset(entities: 1)
        var line = record
        line.append(UInt8(ascii: "\n"))
        line.withUnsafeBufferPointer { bytes in
            let line = ByteView(bytes)
            guard reader.read(line: line) == .record else { return }
            reader.withTokens { tokens in
                let input = RecordDecoder.Input(
                    line: line,
                    tokens: tokens,
                    lineOffset: 0,
                    source: 0,
                    byteOffset: 0,
                    ordinal: 1
                )
                decoder.decode(input, into: &batch, laidOutIn: nil)
            }
        }
        guard let row = batch.rows.first, plan.attributes.indices.allSatisfy({ batch.isPresent($0, in: row) }) else {
            return nil
        }
        let key = batch.withValues(chunk: line) { values in
            RowKey(values.cells[row.firstCell..<row.firstCell + plan.attributes.count], values)
        }
        return key.hasNull ? nil : key
    }
}
