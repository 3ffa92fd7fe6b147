import ImportEngine
import ImportModel

// What is written of records when their objects with identifiers are.
extension GraphAppender {
    // MARK: Objects without identifiers

    /// Appends the rows of objects that have no identifier.
    ///
    /// - Returns: whether all are there.
    func writePositional(
        _ records: Range<Int>,
        _ batch: borrowing RowBatch,
        _ values: Values,
        _ work: inout Work
    ) throws -> Bool {
        for record in records where !work.isLeftOut[record] {
            for row in batch.rows(of: record) where work.isPresent[row] && batch.graph.nested[row].keyCell < 0 {
                let (own, nested) = (batch.rows[row], batch.graph.nested[row])
                let (entity, parent) = (Int(own.entity), Int(own.parent))
                if nested.referenceCell >= 0, nested.aroundNumber > 0, let copier {
                    let first = copier.firstRowID(of: plan.layout.target(of: nested.relationship))
                    values.cells[nested.referenceCell] = .integer(first + Int64(nested.aroundNumber) - 1)
                } else if parent >= 0, nested.referenceCell >= 0, batch.graph.nested[parent].keyCell < 0 {
                    values.cells[nested.referenceCell] = .integer(work.rowIDs[parent])
                }
                guard let rowID = try writers[entity].append(row, self.values(values.0, of: entity), batch) else {
                    return false
                }
                work.rowIDs[row] = rowID
                work.outcome.changes[entity].insert(rowID)
                guard parent >= 0 else { continue }
                work.outcome.changes[entity].nested.nested += 1
                work.outcome.changes[entity].nested.inserted += 1
            }
        }
        return true
    }

    // MARK: Links

    /// Adds the links of join tables, and counts references.
    ///
    /// - Parameter looksForLinks: whether a new object may have links already.
    /// - Returns: whether all are there.
    func writeLinks(
        _ records: Range<Int>,
        _ batch: borrowing RowBatch,
        _ values: RowValues,
        _ work: inout Work,
        looksForLinks: Bool
    ) throws -> Bool {
        for record in records where !work.isLeftOut[record] {
            for place in batch.graph.records[record].operations {
                switch batch.graph.operations[place] {
                case .row: break
                case .links(let relationship, let row, let targets):
                    guard work.isPresent[row], let join = joins[relationship] else { continue }
                    let key = batch.graph.nested[row].keyCell
                    // Somebody may have removed an object without its links.
                    if looksForLinks, try join.hasAny(key, work.rowIDs[row], values) { return false }
                    var position: Int64 = 0
                    for target in targets {
                        let target = batch.graph.targets[target].keyCell
                        if try join.add(key, work.rowIDs[row], target, at: position, values) { position += 1 }
                    }
                case .reference(let entity):
                    work.outcome.changes[entity].nested.nested += 1
                    work.outcome.changes[entity].nested.linked += 1
                case .refers, .joins, .names: return false
                }
            }
        }
        return true
    }
}
