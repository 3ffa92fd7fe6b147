import GRDBSQLite
import ImportEngine
import ImportModel

/// Objects that several lists of one record have: the last one counts, whichever has the object itself.
extension GraphWriter {
    /// True if the links of a relationship are in columns of objects that have identifiers.
    private func isClaiming(_ relationship: Int) -> Bool {
        let placement = layout.relationships[relationship]
        return [.oneToMany, .oneToOne].contains(placement.shape) && placement.owner != relationship
    }

    /// Notes which objects a list has.
    package func claim(
        _ list: [LinkWriter.Target],
        of relationship: Int,
        row: Int,
        key: RowKey,
        _ batch: borrowing RowBatch
    ) {
        guard isClaiming(relationship) else { return }
        let placement = layout.relationships[relationship]
        if placement.description.list == .replace {
            for (other, claim) in outcome.claims where other.owner == placement.owner && claim.source == key {
                outcome.claims[other] = Claim(source: key, row: -1)
            }
        }
        let positions = outcome.positions[ListKey(row: row, relationship: relationship)]
        for (index, target) in list.enumerated() {
            guard let other = target.key else { continue }
            let cell = batch.graph.nested[row].keyCell
            let claim = Claim(source: key, row: row, cell: cell, position: positions?[index] ?? Int64(index))
            outcome.claims[ClaimKey(owner: placement.owner, key: other)] = claim
        }
    }

    /// Notes what an object says itself that it refers to, after a list has had it.
    func noteOwnStatements(
        of row: Int,
        keeping kept: Set<Int>,
        _ batch: borrowing RowBatch,
        _ values: RowValues
    ) {
        guard !outcome.claims.isEmpty, outcome.effects[row] != .ignored else { return }
        let (own, nested) = (batch.rows[row], batch.graph.nested[row])
        let around = nested.referenceCell < 0 ? -1 : layout.relationships[nested.relationship].owner
        for (owner, range) in plan.nodes[Int(own.entity)].rows.references
        where owner != around && batch.isPresent(range.lowerBound, in: own) && !kept.contains(range.lowerBound) {
            let claimKey = ClaimKey(owner: owner, key: key(of: row, batch, values))
            guard outcome.claims[claimKey] != nil else { continue }
            let place = batch.cell(of: range.lowerBound, in: own)
            let source = RowKey(cells[place..<place + range.count], values)
            outcome.claims[claimKey] = Claim(source: source, row: -1, cell: place)
        }
    }

    /// Lets a nested object refer to the object whose list has named it last.
    func followClaim(of row: Int, _ batch: borrowing RowBatch, _ found: LateRejects) {
        let nested = batch.graph.nested[row]
        guard nested.relationship >= 0, nested.referenceCell >= 0, nested.keyCell >= 0, isClaiming(nested.relationship)
        else { return }
        let owner = layout.relationships[nested.relationship].owner
        let key = found.withValues(of: batch, cells) { self.key(of: row, batch, $0) }
        guard let claim = outcome.claims[ClaimKey(owner: owner, key: key)], claim.row != Int(batch.rows[row].parent)
        else {
            return
        }
        for offset in layout.references(of: owner).indices {
            cells[nested.referenceCell + offset] = claim.cell < 0 ? .null : cells[claim.cell + offset]
        }
        guard nested.positionCell >= 0 else { return }
        cells[nested.positionCell] = claim.position.map { .integer($0) } ?? .null
    }

    /// Lets an object's links be as they are, where imports leave those of a stored one: of itself, or of that around it.
    ///
    /// - Returns: the attributes that hold them.
    func keepLinks(of row: Int, _ batch: borrowing RowBatch) -> Set<Int> {
        keepLinksAround(row, batch).union(ownLinks(of: row, batch))
    }

    /// True if a row is nothing but an element of a list, or the value of a to-one, that imports leave as it is stored.
    func isPlaceKept(_ row: Int, _ batch: borrowing RowBatch, _ found: LateRejects) -> Bool {
        let (nested, parent) = (batch.graph.nested[row], Int(batch.rows[row].parent))
        guard parent >= 0, nested.relationship >= 0,
            layout.relationships[nested.relationship].description.owner == .local,
            outcome.effects[parent] != .inserted
        else { return false }
        let isIdentified = !plan.nodes[Int(batch.rows[row].entity)].plan.identifier.isEmpty
        guard isIdentified, nested.keyCell >= 0 else { return !isIdentified }
        return found.withValues(of: batch, cells) { key(of: row, batch, $0).hasNull }
    }

    /// The attributes by which an object says itself what it refers to, as far as imports leave that of a stored one.
    private func ownLinks(of row: Int, _ batch: borrowing RowBatch) -> Set<Int> {
        let node = plan.nodes[Int(batch.rows[row].entity)]
        let around = batch.graph.nested[row].relationship
        // The link to the object around it is that one's matter where its own columns have it.
        let owner = around < 0 || !isClaiming(around) ? -1 : layout.relationships[around].owner
        return node.localLinks.reduce(into: []) { if $1.key != owner { $0.formUnion($1.value) } }
    }

    /// The attributes of references that an object lacks which replaces a stored one.
    ///
    /// A new one, or one that is there for references alone, replaces nothing: a list that has named it before goes on to.
    func unsaidLinks(of row: Int, _ batch: borrowing RowBatch) -> Set<Int> {
        guard !batch.graph.unsaid.isEmpty else { return [] }
        let own = batch.rows[row]
        return plan.nodes[Int(own.entity)].rows.references.values.reduce(into: []) { found, range in
            guard batch.isPresent(range.lowerBound, in: own) else { return }
            if batch.graph.isUnsaid(batch.cell(of: range.lowerBound, in: own)) { found.formUnion(range) }
        }
    }

    /// True if an object says itself what it refers to, by the relationship that owns the columns.
    ///
    /// - Parameter left: the attributes that its row only seems to state.
    package func states(_ owner: Int, _ row: Int, _ batch: borrowing RowBatch, leaving left: Set<Int>) -> Bool {
        let own = batch.rows[row]
        guard let range = plan.nodes[Int(own.entity)].rows.references[owner] else { return false }
        return batch.isPresent(range.lowerBound, in: own) && !left.contains(range.lowerBound)
    }

    private func keepLinksAround(_ row: Int, _ batch: borrowing RowBatch) -> Set<Int> {
        let (nested, parent) = (batch.graph.nested[row], Int(batch.rows[row].parent))
        guard parent >= 0, outcome.effects[parent] != .inserted, nested.referenceCell >= 0, nested.keyCell >= 0,
            layout.relationships[nested.relationship].description.owner == .local,
            isClaiming(nested.relationship)
        else { return [] }
        let rows = plan.nodes[Int(batch.rows[row].entity)].rows
        let owner = layout.relationships[nested.relationship].owner
        var kept = Set(rows.references[owner] ?? 0..<0)
        for offset in 0..<kept.count { cells[nested.referenceCell + offset] = .null }
        if let position = rows.positions[owner] { kept.insert(position) }
        if nested.positionCell >= 0 { cells[nested.positionCell] = .null }
        return kept
    }

    /// True if an object is there.
    package func isStored(_ entity: Int, _ key: RowKey) throws -> Bool { try rowID(of: entity, key) != nil }

    /// Where an object is; nil where it is not there.
    package func rowID(of entity: Int, _ key: RowKey) throws -> Int64? {
        let condition = layout.keyColumns(of: entity).map { "\($0) = ?" }.joined(separator: " AND ")
        let table = layout.table(of: entity).quotedIdentifier
        return try statements.integer("SELECT rowid FROM \(table) WHERE \(condition)", [.key(key)])
    }
}
