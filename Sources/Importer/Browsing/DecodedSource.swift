import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// What a job has committed of one of its sources.
struct CommittedRecords {
    /// The number of its first record in the job.
    let firstOrdinal: Int64
    /// Just past its last byte.
    let endByte: Int64

    /// - Returns: nil for nothing.
    init?(of source: Int, _ job: StoredJob, _ database: Database) throws {
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: "_import_chunk",
            sql: """
                SELECT min(first_ordinal) AS first_ordinal, max(end_byte) AS end_byte FROM _import_chunk
                WHERE job = ? AND source = ? AND records > 0 HAVING count(*) > 0
                """,
            arguments: [job.id, source]
        )
        guard let row = rows.first else { return nil }
        (firstOrdinal, endByte) = (try row.number("first_ordinal"), try row.number("end_byte"))
    }
}

/// A source of a job whose records are decoded again, as the job has decoded them.
struct DecodedSource {
    /// A record that has the row that is looked for.
    struct Found {
        /// The record's number in the job.
        let ordinal: Int64
        let bytes: Range<Int64>
        /// Where the object is in the record.
        let path: String
        let attributes: [String]
    }

    private let job: StoredJob
    private let index: Int
    private let model: ModelDescription
    private let graph: GraphPlan?
    private let plans: [EntityPlan]

    init(_ job: StoredJob, _ index: Int, _ model: ModelDescription, transformers: TransformerRegistry) throws {
        (self.job, self.index) = (job, index)
        self.model = model
        let policy = job.options.onConflict
        graph = model.isFlat ? nil : try GraphPlan(model, onConflict: policy, transformers: transformers)
        plans =
            try graph?.plans
            ?? model.entities.enumerated().map {
                try EntityPlan(entity: $1, index: $0, onConflict: policy, transformers: transformers)
            }
        for plan in plans { plan.keepsPlaces = true }
    }

    /// The records that have a row.
    ///
    /// All of the source is split once more, into chunks of its own; a source that has grown since is read further than it was.
    func records(
        _ locator: RowLocator,
        after committed: CommittedRecords,
        rejected: Set<Int64>,
        opener: SourceOpener,
        interruption: Interruption
    ) throws -> [Found] {
        return try TemporaryFolder.with { folder in
            let directory = try ChunkDirectory(path: folder + "/chunks", creates: true)
            let limits = SplitLimits(job.options)
            let header = ChunkManifest.Header(
                sources: job.sources.map(\.description),
                shapes: job.sources.map(\.shape),
                limits: limits
            )
            let cutter = SourceCutter(
                sources: Array(job.sources[...index]),
                limits: limits,
                chunkSize: RunOptions().chunkSize,
                skipsBadSources: true,
                directory: directory,
                manifest: try ChunkManifest(creatingIn: directory, header: header, synced: false),
                opener: opener,
                interruption: interruption,
                progress: ImportProgress()
            )
            let decoder = ChunkDecoder(
                plans: job.sources.map { source in
                    source.entities.compactMap { name in plans.first { $0.entity.name.hasSameBytes(as: name) } }
                },
                columns: job.sources.map(\.columns),
                entities: plans.count,
                graph: graph,
                options: job.options
            )
            var search = RowSearch(locator, plans, graph?.layout, endByte: committed.endByte, rejected: rejected)
            var start = SplitStart(source: index, firstOrdinal: committed.firstOrdinal)
            if let earlier = job.sources[index].description.earlier { start.position = earlier.end }
            var batch = DecodedBatch()
            do {
                _ = try cutter.run(from: start, sharesFiles: false) { chunks in
                    try decoder.open(chunks, skipping: .none, source: directory.path)
                    while !decoder.isExhausted {
                        decoder.decode(upTo: 10_000, into: &batch)
                        search.look(batch.rows, bytes: decoder.bytes)
                    }
                    for chunk in chunks { try directory.remove(chunk: chunk.entry.fileNumber) }
                    if search.isDone { throw SearchEnd() }
                }
            } catch is SearchEnd {}
            return search.found
        }
    }

    private struct SearchEnd: Error {}
}

/// Looks for a row among those that records are decoded to.
private struct RowSearch {
    private let locator: RowLocator
    private let plans: [EntityPlan]
    private let layout: ModelLayout?
    private let endByte: Int64
    private let rejected: Set<Int64>
    /// How many rows there were of those that one is known by its number among, and where it is in the batch.
    private var count = 0
    private var numbered: Int?
    private(set) var isDone = false
    private(set) var found: [DecodedSource.Found] = []

    init(
        _ locator: RowLocator,
        _ plans: [EntityPlan],
        _ layout: ModelLayout?,
        endByte: Int64,
        rejected: Set<Int64>
    ) {
        self.locator = locator
        self.plans = plans
        self.layout = layout
        self.endByte = endByte
        self.rejected = rejected
    }

    /// Looks through a batch.
    ///
    /// - Parameter bytes: those that its texts are slices of.
    mutating func look(_ batch: borrowing RowBatch, bytes: [UInt8]) {
        guard !isDone else { return }
        var record = -1
        numbered = nil
        for index in batch.rows.indices {
            // Where entities relate to one another, rows of nested objects follow their record's.
            if layout == nil || batch.rows[index].parent < 0 { record += 1 }
            let place = batch.places[record]
            guard place.byteOffset < endByte else {
                isDone = true
                return
            }
            let row = batch.rows[index]
            let plan = plans[Int(row.entity)]
            if case .number(let table, _, _, let range, let number) = locator.outermost,
                range.contains(place.byteOffset),
                plan.entity.table.asciiLowercased == table.asciiLowercased, !rejected.contains(row.ordinal)
            {
                if count == number { numbered = index }
                count += 1
            }
            guard let path = path(of: index, batch, bytes, locator) else { continue }
            found.append(
                DecodedSource.Found(
                    ordinal: row.ordinal,
                    bytes: place.byteOffset..<place.byteOffset + Int64(place.length),
                    path: path,
                    attributes: plan.entity.attributes.indices.filter {
                        batch.isPresent($0, in: row) && !plan.entity.attributes[$0].name.hasPrefix("@")
                    }.map { plan.entity.attributes[$0].name }
                )
            )
        }
    }

    /// Where a row is in its record; nil if it is not the one.
    private func path(
        of index: Int,
        _ batch: borrowing RowBatch,
        _ bytes: [UInt8],
        _ locator: RowLocator
    ) -> String? {
        let row = batch.rows[index]
        switch locator {
        case .element(let owner, let relationship, let position):
            let nested = batch.graph.nested[index]
            guard row.parent >= 0, nested.position == position,
                name(of: nested.relationship).hasSameBytes(as: relationship),
                self.path(of: Int(row.parent), batch, bytes, owner) != nil
            else { return nil }
        case .values(let table, let values):
            let entity = plans[Int(row.entity)].entity
            guard entity.table.asciiLowercased == table.asciiLowercased else { return nil }
            for (column, value) in values {
                guard let attribute = entity.attributes.firstIndex(where: { $0.column.hasSameBytes(as: column) }),
                    batch.isPresent(attribute, in: row),
                    Self.value(batch.cells[batch.cell(of: attribute, in: row)], batch, bytes) == value
                else { return nil }
            }
        case .number:
            guard index == numbered else { return nil }
        }
        return path(to: index, batch)
    }

    private func name(of relationship: Int) -> String {
        guard let layout, layout.relationships.indices.contains(relationship) else { return "" }
        return layout.relationships[relationship].description.name
    }

    /// `lines[1].product`.
    private func path(to index: Int, _ batch: borrowing RowBatch) -> String {
        let row = batch.rows[index]
        guard row.parent >= 0, let layout else { return "" }
        let nested = batch.graph.nested[index]
        let isList =
            layout.relationships.indices.contains(nested.relationship)
            && layout.relationships[nested.relationship].description.isToMany
        let step = name(of: nested.relationship) + (isList ? "[\(nested.position)]" : "")
        let around = path(to: Int(row.parent), batch)
        return around.isEmpty ? step : "\(around).\(step)"
    }

    private static func value(_ cell: Cell, _ batch: borrowing RowBatch, _ bytes: [UInt8]) -> DatabaseValue {
        switch cell.tag {
        case .null: return .null
        case .integer: return cell.integerValue.databaseValue
        case .real: return cell.realValue.databaseValue
        default: break
        }
        let range = cell.textOffset..<cell.textOffset + cell.textLength
        return switch cell.tag {
        case .chunkText: String(decoding: bytes[range], as: UTF8.self).databaseValue
        case .batchText, .generatedText: String(decoding: batch.bytes[range], as: UTF8.self).databaseValue
        default: Data(batch.bytes[range]).databaseValue
        }
    }
}
