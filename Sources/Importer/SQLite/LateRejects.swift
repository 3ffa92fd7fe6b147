import ImportModel

/// Makes rejects of records whose rows turn out not to do only when they are written, by the stored objects.
struct LateRejects {
    /// The job's entities, in their order.
    let plans: [EntityPlan]
    /// The chunk's.
    let chunkBytes: [UInt8]

    /// What is wrong with a row's record that the table refuses.
    func error(
        _ refusal: TableConstraints.Refusal,
        _ index: Int,
        _ batch: borrowing RowBatch
    ) -> ImportModel.RecordError {
        error(refusal, plans[Int(batch.rows[index].entity)], byteOffset: batch.places[index].byteOffset)
    }

    /// What is wrong with a row that the table refuses.
    ///
    /// - Parameter byteOffset: its record's.
    func error(
        _ refusal: TableConstraints.Refusal,
        _ plan: EntityPlan,
        byteOffset: Int64
    ) -> ImportModel.RecordError {
        let attributes = refusal.columns.compactMap { column in
            plan.entity.attributes.firstIndex { $0.column.asciiLowercased == column }
        }
        return RecordError(
            entity: plan.entity.name,
            keyPath: plan.keyPath(of: attributes),
            code: .constraintViolation,
            expected: refusal.expected,
            found: refusal.found,
            byteOffset: byteOffset
        )
    }

    /// The reject that a row's record is for an error that was found only now.
    func reject(
        _ index: Int,
        _ error: ImportModel.RecordError,
        _ batch: borrowing RowBatch
    ) -> RowBatch.Reject {
        reject(batch.rows[index], batch.places[index], [error])
    }

    /// The reject that a record is for errors that were found only now.
    func reject(_ row: RowBatch.Row, _ place: RowBatch.Place, _ errors: [ImportModel.RecordError]) -> RowBatch.Reject {
        RowBatch.Reject(
            entity: row.entity,
            ordinal: row.ordinal,
            byteOffset: place.byteOffset,
            length: Int64(place.length),
            errors: errors,
            bytes: Array(chunkBytes[place.chunkOffset..<place.chunkOffset + place.length]),
            key: key(of: place)
        )
    }

    /// The key of a keyed record.
    private func key(of place: RowBatch.Place) -> String? {
        guard place.keyedLineOffset >= 0 else { return nil }
        return chunkBytes.withUnsafeBufferPointer {
            KeyedLine.split(ByteView($0)[place.keyedLineOffset..<place.chunkOffset]).key
        }
    }
}
