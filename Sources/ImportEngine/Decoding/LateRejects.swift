import ImportModel

/// Makes rejects of records whose rows turn out not to do only when they are written, by the stored objects.
package struct LateRejects {
    /// The job's entities, in their order.
    package let plans: [EntityPlan]
    /// The chunk's.
    package let chunkBytes: [UInt8]

    package init(plans: [EntityPlan], chunkBytes: [UInt8]) {
        self.plans = plans
        self.chunkBytes = chunkBytes
    }

    /// The reject that a row's record is for an error that was found only now.
    package func reject(
        _ index: Int,
        _ error: ImportModel.RecordError,
        _ batch: borrowing RowBatch
    ) -> RowBatch.Reject {
        reject(batch.rows[index], batch.places[index], [error])
    }

    /// The reject that a record is for errors that were found only now.
    package func reject(
        _ row: RowBatch.Row,
        _ place: RowBatch.RecordLocation,
        _ errors: [ImportModel.RecordError]
    ) -> RowBatch.Reject {
        RowBatch.Reject(
            entity: row.entity,
            ordinal: row.ordinal,
            byteOffset: place.byteOffset,
            length: Int64(place.length),
            errors: errors,
            bytes: Array(chunkBytes[place.chunkOffset..<place.chunkOffset + place.length]),
            key: RecordKeys.text(of: keys(of: place))
        )
    }

    /// The keys of a record, the outermost first.
    package func keys(of place: RowBatch.RecordLocation) -> [String] {
        guard place.keyedLineOffset >= 0 else { return [] }
        return chunkBytes.withUnsafeBufferPointer {
            KeyedRecordLine.keys(in: ByteView($0)[place.keyedLineOffset..<place.chunkOffset])
        }
    }
}
