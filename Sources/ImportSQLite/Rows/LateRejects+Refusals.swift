import ImportEngine
import ImportModel

extension LateRejects {
    /// What is wrong with a row's record that the table refuses.
    package func error(
        _ refusal: TableConstraints.Refusal,
        _ index: Int,
        _ batch: borrowing RowBatch
    ) -> ImportModel.RecordError {
        error(refusal, plans[Int(batch.rows[index].entity)], byteOffset: batch.places[index].byteOffset)
    }

    /// What is wrong with a row that the table refuses.
    package func error(
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
}
