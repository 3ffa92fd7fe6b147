import ImportModel
import ImportSources

/// Decodes records once more, knowing of which entities the objects before them are.
///
/// Made and used by one worker.
package final class SecondPassDecoder {
    package let decoder: GraphDecoder
    private var readers: RecordReaders
    /// True if a reference leads to nothing, which makes a reject of its record.
    ///
    /// Its relationship, the cells that it says, and whether these are other attributes than the identifier.
    package var isDangling: ((_ relationship: Int, [Cell], _ isNamed: Bool, RowValues) -> Bool)? {
        didSet {
            guard let isDangling else {
                decoder.isDangling = nil
                return
            }
            decoder.isDangling = { relationship, cells, isNamed, input, own in
                own.withUnsafeBufferPointer { own in
                    let empty = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
                    let none = UnsafeBufferPointer<Cell>(start: nil, count: 0)
                    let values = RowValues(cells: none, chunk: input.chunk, own: own, defaults: empty)
                    return isDangling(relationship, cells, isNamed, values)
                }
            }
        }
    }

    package init(plan: GraphPlan, options: JobOptions, subentities: any SubentityLookup) {
        decoder = GraphDecoder(plan: plan, options: options, storedEntities: subentities)
        readers = RecordReaders(options)
    }

    /// Decodes a record of a batch, as one of the entity that its row is of.
    ///
    /// - Parameters:
    ///   - index: its own among the batch's records.
    ///   - found: the chunk's bytes.
    ///   - source: the chunk's, by its index in the job.
    /// - Returns: a batch of its rows, or of the reject that it is.
    /// - Throws: `ImportError` where it is no record.
    package func decode(
        _ index: Int,
        _ batch: borrowing RowBatch,
        _ found: LateRejects,
        source: Int
    ) throws -> RowBatch {
        let place = batch.places[index]
        let row = batch.rows[batch.graph.records[index].row]
        let lineOffset = place.keyedLineOffset >= 0 ? place.keyedLineOffset : place.chunkOffset
        let keys = found.keys(of: place)
        let reader = readers.make(keys: keys.count)
        var own = RowBatch()
        own.reset(entities: decoder.plan.nodes.count)
        decoder.retry(batch.graph.retried.isEmpty ? nil : batch.graph.retried[index])
        var outcome = RecordReader.Outcome.record
        found.chunkBytes.withUnsafeBufferPointer { bytes in
            let rest = ByteView(bytes)[lineOffset..<bytes.count]
            let end = rest.buffer.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.count
            let line = rest[0..<end]
            outcome = reader.read(line: line)
            guard outcome == .record else { return }
            reader.withTokens { tokens in
                let input = RecordDecoder.Input(
                    line: line,
                    tokens: tokens,
                    lineOffset: lineOffset,
                    source: source,
                    byteOffset: place.byteOffset - Int64(place.chunkOffset - lineOffset),
                    ordinal: row.ordinal,
                    keys: keys.count,
                    prefix: place.prefix
                )
                decoder.decode(input, entity: Int(row.entity), into: &own)
            }
        }
        decoder.flush(into: &own)
        guard outcome == .record else { throw ImportError(.fault, "a record cannot be read a second time") }
        return own
    }
}

extension ImportModel.RecordError {
    /// What is wrong with a record that refers to nothing, where it cannot be said by which key path.
    package static func unresolved(in entity: String, byteOffset: Int64) -> Self {
        Self(
            entity: entity,
            keyPath: "",
            code: .unresolved,
            expected: "existing objects",
            found: "reference to a missing object",
            byteOffset: byteOffset
        )
    }
}
