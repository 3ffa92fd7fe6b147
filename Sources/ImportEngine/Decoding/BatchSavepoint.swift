/// How much a batch holds, to go back to.
struct BatchSavepoint {
    let rows, cells, presence, bytes, insertRejects, nested, operations, targets, unsaid: Int

    init(_ batch: borrowing RowBatch) {
        (rows, cells, presence) = (batch.rows.count, batch.cells.count, batch.presence.count)
        (bytes, insertRejects, nested) = (batch.bytes.count, batch.insertRejects.count, batch.graph.nested.count)
        (operations, targets) = (batch.graph.operations.count, batch.graph.targets.count)
        unsaid = batch.graph.unsaid.count
    }

    func restore(_ batch: inout RowBatch) {
        batch.rows.removeLast(batch.rows.count - rows)
        batch.cells.removeLast(batch.cells.count - cells)
        batch.presence.removeLast(batch.presence.count - presence)
        batch.bytes.removeLast(batch.bytes.count - bytes)
        batch.insertRejects.removeLast(batch.insertRejects.count - insertRejects)
        batch.graph.nested.removeLast(batch.graph.nested.count - nested)
        batch.graph.operations.removeLast(batch.graph.operations.count - operations)
        batch.graph.targets.removeLast(batch.graph.targets.count - targets)
        batch.graph.unsaid.removeLast(batch.graph.unsaid.count - unsaid)
    }
}
