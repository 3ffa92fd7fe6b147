import ImportModel
import Importer

/// Puts what records say into rows of staging tables, where entities relate to one another.
///
/// Belongs to one worker.
final class RelationshipStager {
    private let tables: RelationshipTables
    /// The indexes of the rows of staging tables among a chunk's.
    private var lists: [Int: Int] = [:]
    private var links: [Int: Int] = [:]
    private var setters: [Int: Int] = [:]
    private var names: [Int: Int] = [:]
    private var references: Int?
    /// By the relationship that lists them, and their entity, those of rows that are told by their place.
    private var unnamed: [Int: [Int: Int]] = [:]
    /// Those of records that are decoded later.
    private var open: Int?
    /// By entity, the relationships in its columns that are listed, too, and which attributes of its rows these columns are.
    private let listed: [[(reference: RelationshipTables.Reference, attributes: Range<Int>)]]
    /// By the relationship that lists them, those that are in columns of identified objects.
    private let listedBy: [Int: RelationshipTables.Reference]
    private let needsRowID: [Bool]
    private let isKeyless: [Bool]
    private let keyWidths: [Int]
    /// Row ids that nobody else gets, by entity.
    private var rowIDs: [[Int64]]
    /// By the batch's rows; 0 for none.
    private var given: [Int64] = []
    /// True if records are settled by taking one after the other.
    private let isSerial: Bool
    /// Gets more of them.
    private let fetchRowIDs: (_ entity: Int) throws -> [Int64]

    /// What became of a record.
    enum Outcome {
        /// How many references without more than an identifier it has, by entity.
        case staged(linked: [Int])
        /// Nothing of it is staged.
        case refused(RowError, entity: Int)
    }

    /// - Parameters:
    ///   - isSerial: whether records are settled by taking one after the other, whatever they say: then it is only found whether a server
    ///     can have their values.
    ///   - fetchRowIDs: gets row ids for an entity that nobody else gets; they are taken from the last on.
    init(_ tables: RelationshipTables, isSerial: Bool, fetchRowIDs: @escaping (_ entity: Int) throws -> [Int64]) {
        self.tables = tables
        self.isSerial = isSerial
        self.fetchRowIDs = fetchRowIDs
        let indexes = tables.columns.indices
        listed = tables.graph.nodes.map { node in
            tables.listed.compactMap { reference in
                node.rows.references[reference.owner].map { (reference, $0) }
            }
        }
        listedBy = Dictionary(uniqueKeysWithValues: tables.listed.compactMap { one in one.list.map { ($0, one) } })
        needsRowID = indexes.map { tables.rowID(of: $0) != nil }
        isKeyless = indexes.map(tables.isKeyless)
        keyWidths = indexes.map { tables.key(of: $0).count }
        rowIDs = indexes.map { _ in [] }
    }

    /// The rows of all staging tables, those of the entities first.
    func makeRows(_ job: StoredJob) throws -> [ChunkRows] {
        let staged = RelationshipStagingTables(job: job.id, tables: tables)
        var rows = try tables.graph.plans.enumerated().map { entity, plan in
            let table = StagingName.rows(of: job.id, tables.home(of: entity))
            let columns = columns(of: entity)
            return isKeyless[entity]
                ? ChunkRows(
                    numbered: plan,
                    numbers: staged.elements(of: entity).numbers,
                    table: table,
                    at: columns,
                    job.options
                ) : try ChunkRows(staging: plan, table: table, at: columns, job.options)
        }
        func add(_ table: RelationshipStagingTables.Table) throws -> Int {
            rows.append(try table.rows(job.options))
            return rows.count - 1
        }
        for relationship in staged.listing { lists[relationship] = try add(staged.lists(relationship)) }
        for relationship in staged.linking { links[relationship] = try add(staged.links(relationship)) }
        for reference in tables.unnamed {
            guard let relationship = reference.list else { continue }
            let table = staged.unnamed(reference)
            for entity in tables.layout.hierarchy.subentities(of: reference.holder) {
                let plan = tables.graph.plans[entity]
                let columns = columns(of: entity)
                rows.append(
                    ChunkRows(numbered: plan, numbers: table.numbers, table: table.name, at: columns, job.options)
                )
                unnamed[relationship, default: [:]][entity] = rows.count - 1
            }
        }
        for reference in tables.listed { setters[reference.owner] = try add(staged.setters(reference)) }
        for naming in tables.names { names[naming.relationship] = try add(staged.names(naming)) }
        open = try tables.shared.isEmpty ? nil : add(staged.open)
        if staged.countsReferences { references = try add(staged.references) }
        return rows
    }

    /// Where the attributes of an entity's rows are among the columns of their table.
    private func columns(of entity: Int) -> ChunkRows.ColumnPositions {
        ChunkRows.ColumnPositions(tables.places[entity], of: tables.columns[entity].count)
    }

    // MARK: Batches

    /// Gives rows of a batch that are referred to by row ids their numbers, and those that refer to them, too.
    func number(_ batch: inout RowBatch) throws {
        given = Array(repeating: 0, count: batch.rows.count)
        for (index, row) in batch.rows.enumerated() {
            let entity = Int(row.entity)
            let nested = batch.graph.nested[index]
            if row.parent >= 0, nested.referenceCell >= 0, batch.graph.nested[Int(row.parent)].keyCell < 0 {
                batch.cells[nested.referenceCell] = .integer(given[Int(row.parent)])
            }
            guard needsRowID[entity] else { continue }
            if rowIDs[entity].isEmpty { rowIDs[entity] = try fetchRowIDs(entity) }
            given[index] = rowIDs[entity].removeLast()
        }
    }

    /// Stages a record: all that it says, or nothing.
    ///
    /// - Parameter rows: those of `makeRows`.
    func add(
        _ record: GraphBatch.Record,
        _ batch: borrowing RowBatch,
        _ chunk: UnsafeBufferPointer<UInt8>,
        _ rows: inout [ChunkRows]
    ) throws -> Outcome {
        if record.isOpen, let open {
            let numbers = ChunkRows.numbers(batch.rows[record.row].ordinal)
            return rows[open].append(numbers, [], CellSource(chunk: nil, own: nil))
                .map { .refused($0, entity: Int(batch.rows[record.row].entity)) } ?? .staged(linked: [])
        }
        let marks = rows.map(\.mark)
        let outcome = try stage(record, batch, chunk, &rows)
        if case .refused = outcome {
            for (index, mark) in marks.enumerated() { rows[index].goBack(to: mark) }
        }
        return outcome
    }

    private func stage(
        _ record: GraphBatch.Record,
        _ batch: borrowing RowBatch,
        _ chunk: UnsafeBufferPointer<UInt8>,
        _ rows: inout [ChunkRows]
    ) throws -> Outcome {
        var linked: [Int] = []
        // The lists that it has stated so far.
        var open: [List] = []
        // The operations of its rows.
        let places = batch.graph.operations[record.operations].enumerated().compactMap { child, operation -> Int64? in
            if case .row = operation { return Int64(child) }
            return nil
        }
        let ordinal = batch.rows[record.row].ordinal
        let cells = batch.cells
        return try batch.bytes.withUnsafeBufferPointer { own in
            let source = CellSource(
                chunk: chunk.baseAddress.map { UnsafeRawPointer($0) },
                own: own.baseAddress.map { UnsafeRawPointer($0) }
            )
            for (child, operation) in batch.graph.operations[record.operations].enumerated() {
                let child = Int64(child)
                switch operation {
                case .row(let index):
                    let row = batch.rows[index]
                    let entity = Int(row.entity)
                    let nested = batch.graph.nested[index]
                    let list = open.last { $0.row == Int(row.parent) && $0.relationship == nested.relationship }
                    let missing = missingKey(of: index, batch)
                    let place = missing == nil ? entity : list.flatMap { unnamed[$0.relationship]?[entity] }
                    guard let place, missing == nil || row.insertReject < 0 else {
                        if isSerial { continue }
                        return .refused(RowError(reason: .incomplete, attribute: missing ?? -1), entity: entity)
                    }
                    let holder = list?.child
                    let numbers = ChunkRows.numbers(
                        ordinal,
                        child,
                        holder ?? -1,
                        holder == nil ? -1 : Int64(nested.relationship),
                        given[index]
                    )
                    let policy =
                        nested.relationship < 0
                        ? tables.graph.onConflict
                        : tables.layout.relationships[nested.relationship].description.onConflict
                    let fault = cells.withUnsafeBufferPointer { cells in
                        rows[place].append(
                            row,
                            cells: cells,
                            chunk: chunk,
                            own: own,
                            presence: batch.presence,
                            child: Int32(truncatingIfNeeded: child),
                            isWhole: policy == .replace,
                            numbers: numbers
                        )
                    }
                    if let fault { return .refused(fault, entity: entity) }
                    if missing != nil { continue }
                    if let fault = try stageLinks(of: index, child, list, batch, source, &rows) {
                        return .refused(fault, entity: entity)
                    }
                case .links(let relationship, let row, let targets):
                    let list = List(relationship: relationship, row: row, child: child)
                    open.append(list)
                    let fault = stage(list, targets, ordinal, places, first: record.row, batch, source, &rows)
                    if let fault { return .refused(fault, entity: Int(batch.rows[row].entity)) }
                case .reference(let entity): linked.append(entity)
                case .names(let relationship, let row, let valueCell):
                    let name = List(relationship: relationship, row: row, child: child)
                    let fault = stage(name, valueCell, 0, places[row - record.row], batch, source, &rows)
                    if let fault { return .refused(fault, entity: Int(batch.rows[row].entity)) }
                // Models in which records say such are settled otherwise.
                case .refers, .joins: continue
                }
            }
            if let references {
                for (entity, linked) in Dictionary(grouping: linked, by: { $0 }) {
                    let numbers = ChunkRows.numbers(ordinal, Int64(entity), Int64(linked.count))
                    _ = rows[references].append(numbers, [], source)
                }
            }
            return .staged(linked: linked)
        }
    }

    /// A list of the record at hand.
    private struct List {
        let relationship: Int
        /// The row of the object that has it, and the statement that it is.
        let row: Int
        let child: Int64
    }

    /// Stages what a row says in its own columns of relationships that are listed, too.
    ///
    /// - Parameter list: the one that has the row; nil for none.
    private func stageLinks(
        of index: Int,
        _ child: Int64,
        _ list: List?,
        _ batch: borrowing RowBatch,
        _ source: CellSource,
        _ rows: inout [ChunkRows]
    ) throws -> RowError? {
        let (row, nested) = (batch.rows[index], batch.graph.nested[index])
        for (reference, attributes) in listed[Int(row.entity)] where batch.isPresent(attributes.lowerBound, in: row) {
            let isAround =
                list.map { tables.layout.relationships[$0.relationship].owner == reference.owner } == true
                && nested.referenceCell >= 0
            // The list has said so.
            if isAround, reference.isClaimed { continue }
            let first = batch.cell(of: attributes.lowerBound, in: row)
            let target = batch.cells[first..<first + attributes.count]
            // It says so when all that is nested in that has been said.
            // Of a one-to-one it speaks for the other side, too: that has nobody else any more.
            let isSole = reference.isOneToOne && !target.contains { $0.tag == .null }
            if isSole, let place = reference.list.flatMap({ lists[$0] }) {
                if let fault = rows[place].append(ChunkRows.numbers(row.ordinal, child, -1), Array(target), source) {
                    return fault
                }
            }
            let isUnsaid = batch.graph.isUnsaid(first)
            let numbers = ChunkRows.numbers(
                row.ordinal,
                child,
                isUnsaid ? Int64(RelationshipStagingTables.unsaid) : isAround ? list?.child ?? -1 : isSole ? child : -1,
                isAround ? Int64(nested.position) : -1,
                child
            )
            let fault = rows[setters[reference.owner] ?? 0].append(
                numbers,
                Array(key(of: index, batch) + target),
                source
            )
            if let fault { return fault }
        }
        return nil
    }

    /// Stages a list.
    ///
    /// - Parameters:
    ///   - places: the statements of the record's rows, of which this is the first.
    private func stage(
        _ statement: List,
        _ targets: Range<Int>,
        _ ordinal: Int64,
        _ places: [Int64],
        first: Int,
        _ batch: borrowing RowBatch,
        _ source: CellSource,
        _ rows: inout [ChunkRows]
    ) -> RowError? {
        let (relationship, child) = (statement.relationship, statement.child)
        let key = key(of: statement.row, batch)
        // What is not identified in full cannot be referred to.
        guard let list = lists[relationship], !key.contains(where: { $0.tag == .null }) else { return nil }
        let row = places[statement.row - first]
        let numbers =
            tables.isUnion(relationship)
            ? ChunkRows.numbers(ordinal, child, row, targets.lowerBound < 0 ? 1 : 0)
            : ChunkRows.numbers(ordinal, child, row)
        if let fault = rows[list].append(numbers, Array(key), source) { return fault }
        guard !targets.isEmpty else { return nil }
        let width = keyWidths[tables.layout.relationships[relationship].destination]
        if let link = links[relationship] {
            var position: Int64 = 0
            for target in batch.graph.targets[targets] where target.keyCell >= 0 {
                if target.isNamed {
                    let fault = stage(statement, target.keyCell, position, row, batch, source, &rows)
                    if let fault { return fault }
                    position += 1
                    continue
                }
                let other = batch.cells[target.keyCell..<target.keyCell + width]
                if other.contains(where: { $0.tag == .null }) { continue }
                let numbers = ChunkRows.numbers(ordinal, child, position)
                if let fault = rows[link].append(numbers, Array(key + other), source) { return fault }
                position += 1
            }
        } else if let reference = listedBy[relationship], let setter = setters[reference.owner] {
            for (position, target) in batch.graph.targets[targets].enumerated() where target.keyCell >= 0 {
                if target.isNamed {
                    let position = Int64(position)
                    let fault = stage(statement, target.keyCell, position, row, batch, source, &rows)
                    if let fault { return fault }
                    continue
                }
                // Those that have rows are linked by these, unless the list has them from now on.
                guard target.row < 0 || reference.isClaimed else { continue }
                let other = batch.cells[target.keyCell..<target.keyCell + width]
                let place = target.row < 0 ? -1 : places[target.row - first]
                let numbers = ChunkRows.numbers(ordinal, child, child, Int64(position), place)
                if let fault = rows[setter].append(numbers, Array(other + key), source) { return fault }
            }
        }
        return nil
    }

    /// Stages the values by which an object is named.
    ///
    /// - Parameters:
    ///   - statement: the list that names it, or the to-one.
    ///   - valueCell: the first of them.
    ///   - position: its index in the list.
    ///   - row: the statement of the object that names it.
    private func stage(
        _ statement: List,
        _ valueCell: Int,
        _ position: Int64,
        _ row: Int64,
        _ batch: borrowing RowBatch,
        _ source: CellSource,
        _ rows: inout [ChunkRows]
    ) -> RowError? {
        let key = key(of: statement.row, batch)
        // What is not identified in full cannot be referred to.
        guard let place = names[statement.relationship], !key.contains(where: { $0.tag == .null }) else { return nil }
        let own = batch.rows[statement.row]
        let count = tables.layout.relationships[statement.relationship].description.by.count
        let entity = Int64(tables.home(of: Int(own.entity)))
        let numbers = ChunkRows.numbers(own.ordinal, statement.child, row, position, entity)
        return rows[place].append(numbers, Array(key + batch.cells[valueCell..<valueCell + count]), source)
    }

    /// The attribute of its identifier that a row lacks: an object within which it is identified has it without one.
    private func missingKey(of row: Int, _ batch: borrowing RowBatch) -> Int? {
        let (entity, cell) = (Int(batch.rows[row].entity), batch.graph.nested[row].keyCell)
        guard cell >= 0, !isKeyless[entity] else { return nil }
        return (0..<keyWidths[entity]).first { batch.cells[cell + $0].tag == .null }
            .map { tables.graph.plans[entity].identifier[$0] }
    }

    /// The cells by which a row is referred to.
    private func key(of row: Int, _ batch: borrowing RowBatch) -> ArraySlice<Cell> {
        let cell = batch.graph.nested[row].keyCell
        guard cell >= 0 else { return [.integer(given[row])] }
        return batch.cells[cell..<cell + keyWidths[Int(batch.rows[row].entity)]]
    }
}
