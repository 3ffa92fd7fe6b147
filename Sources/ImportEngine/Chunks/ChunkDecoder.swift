import Foundation
import ImportModel
import ImportSources

/// Decodes a chunk into batches of rows.
///
/// Made and used by one worker; it keeps its memory from chunk to chunk.
package final class ChunkDecoder {
    private let reader: ChunkReader
    /// A decoder for each entity that a source has.
    private var decoders: [RecordDecoder]
    /// Decodes records of entities that relate to one another; nil where none do.
    private let graph: GraphDecoder?
    /// The same for most of them; nil where there are none such.
    private var fastGraph: FastGraphDecoder?
    /// True if nested objects and links are laid out.
    private var laysOutGraph: Bool
    /// Per source of the job, the index in `decoders` of each of its record paths.
    private let places: [[Int]]
    /// Per source of the job, the names of the columns of rows at each of its record paths, where they had a header row.
    private let columns: [[[String]]?]
    private let entities: Int
    private let layouts: DatabaseImageSchema?
    private let maxDepth: Int
    private var hasher = XXH3Hasher()
    /// True if all is decoded.
    package var isExhausted: Bool { isChunkDone && !reader.hasNext }
    /// True if the chunk has no more records.
    private var isChunkDone = true
    /// How many records of the chunk are left.
    package var recordsLeft: Int { (reader.chunk?.entry.records ?? 0) - reader.line }
    /// What the records of the chunk are, in a retry; nil in an import.
    private var retried: RetriedRecords?
    /// A batch ends before its rejects take more memory than this, but for its last one.
    private let maximumRejectBytes = 8 << 20
    /// And so does one of related entities: how many rows a record has is not known beforehand.
    private let maximumGraphBytes = 6 << 20

    /// - Parameters:
    ///   - plans: per source of the job, the plan of each of its record paths.
    ///   - columns: per source of the job, the names of the columns of rows at each of its record paths; none where no source
    ///     has a header row.
    ///   - entities: how many entities the job has.
    ///   - graph: the plan of its entities together, where they relate to one another.
    ///   - layouts: the tables of the images that rows go into, where their plan says so; nil where none do.
    ///   - options: the job's: how deeply a record may be nested, and what a value does that does not fit.
    package init(
        plans: [[EntityPlan]],
        columns: [[[String]]?] = [],
        entities: Int,
        graph: GraphPlan? = nil,
        layouts: DatabaseImageSchema? = nil,
        options: JobOptions
    ) {
        self.graph = graph.map { GraphDecoder(plan: $0, options: options) }
        fastGraph = graph.flatMap { FastGraphDecoder($0, options: options) }
        laysOutGraph = fastGraph != nil && layouts != nil
        reader = ChunkReader(options)
        self.columns = columns.contains { $0 != nil } ? columns : []
        self.entities = entities
        self.layouts = layouts
        maxDepth = options.maxDepth
        var decoders: [RecordDecoder] = []
        places = plans.map { plans in
            plans.map { plan in
                if let place = decoders.firstIndex(where: { $0.plan === plan }) { return place }
                decoders.append(RecordDecoder(plan: plan, options))
                return decoders.count - 1
            }
        }
        self.decoders = decoders
    }

    /// The bytes that the batches' texts are slices of.
    package var bytes: [UInt8] { reader.bytes }

    /// Takes the next chunks.
    ///
    /// - Parameters:
    ///   - chunks: they follow one another in a file.
    ///   - committed: what of the first one is committed already.
    ///   - source: the name of the first one's source, for messages.
    ///   - retried: what its records are, in a retry; the source's plans are then those of all entities.
    /// - Throws: `ImportError` when the file is not what was sealed, or its beginning not what was committed.
    package func open(
        _ chunks: [SealedChunk],
        skipping committed: CommittedPrefix,
        source: String,
        retried: RetriedRecords? = nil
    ) throws {
        try reader.open(chunks)
        self.retried = retried
        begin()
        guard committed.records > 0 else { return }
        reader.skip(committed.records)
        hash(from: reader.range.lowerBound)
        guard reader.line == committed.records, hasher.digest == committed.hash else {
            throw ImportError.sourceChanged(source)
        }
    }

    private func begin() {
        guard let source = reader.chunk?.entry.source else { return }
        hasher = XXH3Hasher()
        isChunkDone = false
        if !columns.isEmpty { name(columns[source] ?? [], of: source) }
    }

    /// Says how the columns of a source's rows are called, by its record paths.
    private func name(_ columns: [[String]], of source: Int) {
        let places = retried == nil ? places[source] : Array(decoders.indices)
        for (path, place) in places.enumerated() {
            let names = retried == nil ? columns.indices.contains(path) ? columns[path] : nil : columns.first
            decoders[place].name(columns: names)
            graph?.name(columns: names, of: Int(decoders[place].plan.index))
            fastGraph?.name(columns: names, of: Int(decoders[place].plan.index))
        }
    }

    /// Decodes the next records, which are of one chunk.
    ///
    /// - Parameter maxRecords: how many at most, from 1.
    package func decode(upTo maxRecords: Int, into decoded: inout DecodedBatch) {
        if isChunkDone, reader.hasNext {
            reader.takeNext()
            begin()
        }
        decoded.chunk = reader.chunk
        decoded.layout?.reset()
        decode(upTo: maxRecords, into: &decoded.rows, &decoded.layout)
    }

    private func decode(upTo maxRecords: Int, into batch: inout RowBatch, _ layout: inout DatabaseImage?) {
        batch.reset(entities: entities)
        guard let chunk = reader.chunk, !isChunkDone else { return }
        prepare(&batch, &layout, records: min(maxRecords, chunk.entry.records - reader.line), in: chunk)
        let first = reader.offset
        var path = 0
        let places = places[chunk.entry.source]
        // Taken out meanwhile: as a local value it is changed without the checks that a class's properties need.
        var decoders = decoders
        self.decoders = []
        let (retried, graph) = (retried, graph)
        var fastGraph = retried == nil ? fastGraph : nil
        self.fastGraph = retried == nil ? nil : self.fastGraph
        fastGraph?.begin(layout)
        if retried == nil { for place in decoders.indices { decoders[place].retry(nil) } }
        let (source, opened) = (chunk.entry.source, layout)
        var keyed: [Int: (records: Int64, keys: Int)] = [:]
        var lenient: [Int: LenientCounts] = [:]
        reader.read(maxRecords) { line in
            path = line.path
            let record = retried?[line.ordinal]
            let place = places[record?.entity ?? path]
            let entity = Int(decoders[place].plan.index)
            batch.recordsRead[entity] += 1
            if let record, !record.isOpen {
                batch.ignored[entity] += 1
                return true
            }
            switch line.content {
            case .record where record?.isText == true:
                reject(line, .malformed, at: 0, decoders[place].plan, into: &batch)
            case .record:
                if let record {
                    decoders[place].retry(record)
                    graph?.retry(record)
                }
                // Not the line itself, which would be copied into the closure.
                let (bytes, offset, byteOffset) = (line.bytes, line.offset, line.byteOffset)
                let (ordinal, keys, prefix) = (line.ordinal, line.keys, line.prefix)
                let rejects = batch.rejects.count
                let record = reader.record(of: line)
                defer {
                    if keys > 0 || record.isLenient, batch.rejects.count == rejects {
                        if keys > 0 { keyed[place, default: (0, keys)].records += 1 }
                        if record.isLenient { lenient[entity, default: LenientCounts()] += record.counts }
                    }
                }
                record.withTokens { tokens in
                    let input = RecordDecoder.Input(
                        line: bytes,
                        tokens: tokens,
                        lineOffset: offset,
                        source: source,
                        byteOffset: byteOffset,
                        ordinal: ordinal,
                        keys: keys,
                        prefix: prefix
                    )
                    if fastGraph?.decode(input, entity: entity, into: &batch) == true { return }
                    if let graph {
                        let first = batch.rows.count
                        graph.decode(input, entity: entity, into: &batch)
                        fastGraph?.note(first..<batch.rows.count, of: batch)
                    } else {
                        decoders[place].decode(input, into: &batch, laidOutIn: opened)
                    }
                }
            case .broken(let code, let byte):
                reject(line, code, at: byte, decoders[place].plan, into: &batch)
            case .skipped(let entry):
                reject(line, chunk.entry.rejects[entry], decoders[place].plan, chunk, into: &batch)
            }
            // Rejects take many times the memory of their records: a batch of them ends early.
            return batch.rejectBytes < maximumRejectBytes && (graph == nil || batch.footprint < maximumGraphBytes)
        }
        for (entity, counts) in lenient {
            for (kind, count) in counts.ledger {
                batch.ledger.add(kind, entity: Int32(entity), attribute: "", count: count)
            }
        }
        for (place, lines) in keyed {
            let plans = graph?.plan.plans ?? [decoders[place].plan]
            for level in 0..<lines.keys where !plans.contains(where: { $0.readsKey(level) }) {
                let path = AttributePath.recordKey(outwards: level).description
                let entity = decoders[place].plan.index
                batch.ledger.add(.unknownKey, entity: entity, attribute: path, count: lines.records)
            }
        }
        for place in decoders.indices { decoders[place].flush(into: &batch) }
        graph?.flush(into: &batch)
        fastGraph?.flush(into: &batch)
        if fastGraph != nil { self.fastGraph = fastGraph }
        self.decoders = decoders
        layout?.finish()
        hash(from: first)
        // A chunk without records still ends its source.
        isChunkDone = reader.line >= chunk.entry.records
        finish(&batch, path: path, chunk: chunk)
    }

    /// Reserves memory for the next records.
    private func prepare(_ batch: inout RowBatch, _ layout: inout DatabaseImage?, records: Int, in chunk: SealedChunk) {
        let width = decoders.reduce(0) { max($0, $1.plan.attributes.count) }
        if !open(&layout, records: records, in: chunk) { batch.reserve(cells: records * width) }
        batch.reserve(rows: records, attributes: width)
        if graph != nil { batch.reserve(nested: records) }
    }

    /// Lays out no more of an entity's rows.
    package func closeLayouts(of entity: Int32) {
        for decoder in decoders where decoder.plan.index == entity { decoder.plan.laysOutRows = false }
        laysOutGraph = false
    }

    /// Lets a batch have a layout, where some rows may go into one.
    ///
    /// - Returns: whether all rows may.
    private func open(_ layout: inout DatabaseImage?, records: Int, in chunk: SealedChunk) -> Bool {
        let laidOut = fastGraph?.tables ?? decoders.filter(\.plan.laysOutRows).map(\.plan.index)
        guard let layouts, records >= fewestLaidOut(of: chunk),
            fastGraph == nil ? !laidOut.isEmpty : laysOutGraph && retried == nil
        else {
            layout = nil
            return false
        }
        let opened = layout ?? DatabaseImage(layouts)
        layout = opened
        opened.reserve((reader.range.upperBound - reader.offset) / (chunk.entry.records - reader.line) * records)
        for table in laidOut { opened.open(table) }
        // Where entities relate to one another, the records' own rows have cells in any case.
        return fastGraph == nil && decoders.allSatisfy(\.plan.laysOutRows)
    }

    /// A batch with a layout is committed by itself, so a chunk that shares its file has one only if it has many rows.
    private func fewestLaidOut(of chunk: SealedChunk) -> Int {
        chunk.entry.part == nil ? DatabaseImage.fewestRows : DatabaseImage.fewestRowsOfPart
    }

    private func hash(from first: Int) {
        let end = reader.offset
        reader.bytes.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0[first..<end])) }
    }

    private func finish(_ batch: inout RowBatch, path: Int, chunk: SealedChunk) {
        // Beside its records a repair file has what describes them.
        if isChunkDone, retried == nil {
            let kept = (chunk.entry.outsideValues ?? []).reduce(into: [String: Int64]()) { counts, value in
                let isNamed = chunk.entry.outside[value.path] != nil
                counts[isNamed ? value.path : ChunkEntry.otherNames, default: 0] += 1
            }
            for (name, count) in chunk.entry.outside.sorted(by: { $0.key < $1.key }) {
                batch.ledger.add(.outside, entity: -1, attribute: name, count: count)
                if let kept = kept[name] { batch.ledger.add(.kept, entity: -1, attribute: name, count: kept) }
            }
            if let fault = chunk.entry.fault { batch.ledger.add(.badSource, entity: -1, attribute: fault) }
            if chunk.entry.isLast, let encoding = chunk.encoding {
                batch.ledger.add(.decoded, entity: -1, attribute: encoding)
            }
            for form in chunk.entry.isLast ? chunk.forms : [] {
                batch.ledger.add(form.ledgerKind, entity: -1, attribute: form.rawValue)
            }
            if chunk.entry.isLast {
                for path in chunk.entry.end.missingPaths ?? [] {
                    batch.ledger.add(.notFound, entity: -1, attribute: chunk.paths[path])
                }
            }
        }
        batch.end = BatchEnd(
            byteOffset: isChunkDone ? chunk.entry.endByte : reader.sourceOffset,
            ordinal: chunk.entry.firstOrdinal + Int64(reader.line) - 1,
            path: path,
            chunkRecords: reader.line,
            chunkHash: hasher.digest,
            isChunkEnd: isChunkDone
        )
    }

    // MARK: Lines that are no records

    private func reject(
        _ line: ChunkReader.Line,
        _ code: CoercionError.Code,
        at place: Int,
        _ plan: EntityPlan,
        into batch: inout RowBatch
    ) {
        let (expected, found) =
            switch code {
            case .recordTooDeep: ("at most \(maxDepth) levels", "more")
            case .invalidUTF8: ("UTF-8", "other bytes")
            default: ("a JSON value", "something else")
            }
        let error = RecordError(
            entity: plan.entity.name,
            keyPath: "",
            code: code,
            expected: expected,
            found: found,
            byteOffset: line.byteOffset + Int64(max(place, line.prefix))
        )
        let (key, value) = KeyedRecordLine.split(line.bytes, keys: line.keys)
        let text = line.bytes[value]
        batch.reject(
            RowBatch.Reject(
                entity: plan.index,
                ordinal: line.ordinal,
                byteOffset: line.byteOffset + Int64(value.lowerBound),
                length: Int64(text.count),
                errors: [error],
                bytes: Array(text.buffer),
                key: key
            )
        )
    }

    private func reject(
        _ line: ChunkReader.Line,
        _ entry: ChunkEntry.SkippedRecord,
        _ plan: EntityPlan,
        _ chunk: SealedChunk,
        into batch: inout RowBatch
    ) {
        let code = CoercionError.Code(rawValue: entry.code) ?? .recordTooLarge
        let (expected, found) =
            code == .recordTooDeep
            ? ("at most \(maxDepth) levels", "more")
            : ("at most \(chunk.maxRecordBytes.grouped) bytes", "\(entry.length.grouped) bytes")
        let error = RecordError(
            entity: plan.entity.name,
            keyPath: "",
            code: code,
            expected: expected,
            found: found,
            byteOffset: entry.firstByte
        )
        var head = Array(Data(base64Encoded: entry.head) ?? Data())
        var key: String?
        var prefix = 0
        if line.keys > 0 {
            let keys = Array((entry.keys ?? "{").utf8)
            let member = keys + head + Array(repeating: UInt8(ascii: "}"), count: line.keys) + [0x0A]
            let (name, value) = member.withUnsafeBufferPointer { KeyedRecordLine.split(ByteView($0), keys: line.keys) }
            // A key that is longer than what is kept has no value after it.
            if !value.isEmpty {
                key = name
                prefix = max(0, value.lowerBound - keys.count)
                head = Array(member[value])
            }
        }
        batch.reject(
            RowBatch.Reject(
                entity: plan.index,
                ordinal: line.ordinal,
                byteOffset: entry.firstByte + Int64(prefix),
                length: entry.length - Int64(prefix),
                errors: [error],
                bytes: head,
                key: key
            )
        )
    }
}
