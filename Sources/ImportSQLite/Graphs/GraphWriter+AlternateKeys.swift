import ImportEngine
import ImportModel

/// Lists and to-ones that name objects by other attributes than the identifier.
extension GraphWriter {
    /// What a list names.
    ///
    /// An object that is named twice, by its identifier and by other attributes, is in it once, where it is first.
    package func list(
        of relationship: Int,
        _ targets: Range<Int>,
        _ batch: borrowing RowBatch,
        _ values: RowValues
    ) throws -> [LinkWriter.Target] {
        let form = links.form(of: relationship)
        let width = form.destinationKey.count
        var list: [LinkWriter.Target] = []
        var places: [RowKey: Int] = [:]
        for place in targets {
            let target = batch.graph.targets[place]
            guard target.keyCell >= 0 else {
                list.append(LinkWriter.Target(key: nil, row: target.row))
                continue
            }
            var key: RowKey?
            if target.isNamed {
                let named = RowKey(cells[target.keyCell..<target.keyCell + form.names.count], values)
                key = try links.find(named, of: relationship, &outcome)
                guard key != nil else {
                    list.append(LinkWriter.Target(key: nil, row: -1, values: named))
                    continue
                }
            } else {
                key = RowKey(cells[target.keyCell..<target.keyCell + width], values)
            }
            if form.isNamed, let key {
                if let first = places[key] {
                    outcome.ledger.append((.duplicateLink, form.entity, form.description.name))
                    setPosition(of: target.row, first, batch)
                    continue
                }
                places[key] = list.count
                setPosition(of: target.row, list.count, batch)
            }
            list.append(LinkWriter.Target(key: key, row: target.row))
        }
        return list
    }

    private func setPosition(of row: Int, _ position: Int, _ batch: borrowing RowBatch) {
        guard row >= 0, batch.graph.nested[row].positionCell >= 0 else { return }
        cells[batch.graph.nested[row].positionCell] = .integer(Int64(position))
    }

    /// Does what a row's own columns, and its values, say of references by other attributes than the identifier.
    ///
    /// - Parameter left: the attributes that the row only seems to state.
    func settleNames(
        of row: Int,
        _ entity: Int,
        leaving left: Set<Int>,
        _ batch: borrowing RowBatch,
        _ values: RowValues
    ) throws {
        guard !links.named.isEmpty, let effect = outcome.effects[row], effect != .ignored,
            let rowID = outcome.rowIDs[row]
        else { return }
        try links.forgetStated(by: row, entity, key: key(of: row, batch, values), batch, plan)
        try links.applyNamed(
            for: rowID,
            entity,
            isStated: { states($0, row, batch, leaving: left) },
            &outcome
        )
    }
}
