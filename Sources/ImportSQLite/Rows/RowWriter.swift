import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSources

/// Writes the rows of one entity with statements of its own: those in a batch's image all at once, the others bound and
/// stepped through SQLite's C functions (`sqlite3_bind_*`, `sqlite3_step`).
///
/// Belongs to one connection; used inside of its transactions only.
package final class RowWriter {
    /// What became of a row.
    package enum Effect {
        case inserted(rowID: Int64)
        case updated(rowID: Int64)
        case unchanged
        /// Left out, as the object is there already.
        case ignored
        /// Not written: the object is there already, and must not be.
        case duplicate
        /// Not written: there is no such object yet, and the record lacks something that one must have.
        case incomplete
        /// Not written: whether there is such an object is known when all records are in, and the record lacks something.
        case waiting
        /// Not written: the table has constraints of its own that the row breaks.
        case refused(TableConstraints.Refusal)
    }

    package let statements: TableStatements
    private let connection: OpaquePointer
    /// What a row does whose object is there already.
    package var onConflict: ConflictPolicy
    /// Where the last row is that was not left out.
    package private(set) var lastRowID: Int64 = 0
    private let entity: EntityDescription
    private let plan: EntityPlan
    private let identifier: [Int]
    /// How many attributes the identifier has.
    var identifierWidth: Int { identifier.count }
    /// False where rows are known by their primary key alone; row ids mean nothing then.
    var hasRowID: Bool { statements.constraints.hasRowID }
    /// Attributes that the next row leaves as they are stored.
    package var unchanged: Set<Int> = []
    /// True if the next row makes an object of one that is there for references to it alone: it has all that a new one has.
    var fillsStub = false
    /// The masks of the rows written, while rows with the same identifier are made one only at the end.
    ///
    /// nil where each row is looked up before it is written.
    package var presence: PresenceMasks?
    /// The current row's cell of each attribute; -1 where the record does not mention it.
    private var places: [Int]
    private let insert: OpaquePointer?
    private let lastGiven: Int64?
    /// Attributes whose columns have defaults of the table's own, and these by attribute, as expressions.
    private let defaulted: [Int]
    private let defaults: [String?]
    /// Attributes that are no numbers, and whose columns may make numbers of their values.
    private let numeric: Set<Int>
    /// Statements that leave some of these to the table, by these.
    private var leaving: [[Int]: OpaquePointer] = [:]
    /// What a statement does where the table refuses its row.
    private let refusing: ConflictClause
    /// Statements that overwrite a row, by the attributes that they set.
    private var overwriting: [[Int]: OpaquePointer] = [:]
    /// Copies the rows of images, where nothing has to be asked about a row.
    private let copier: ImageRowCopier?
    /// Where records are merged by an identifier.
    private let finder: RowFinder?
    /// Updates by the attributes that they set.
    private var updates: [[Int]: OpaquePointer] = [:]

    /// Prepares the statements on `database`'s connection, which has an `AttachedDatabaseImage` if rows are in images.
    package init(_ database: Database, plan: EntityPlan, constraints: TableConstraints) throws {
        let entity = plan.entity
        statements = try TableStatements(database, entity, constraints)
        connection = statements.connection
        self.entity = entity
        self.plan = plan
        onConflict = plan.onConflict
        identifier = plan.identifier
        places = Array(repeating: -1, count: entity.attributes.count)
        lastGiven = try AssignedRowIDs.last(of: entity.table, database)
        copier = plan.laysOutRows && lastGiven == nil ? try ImageRowCopier(database, statements, plan) : nil
        finder = plan.identifier.isEmpty ? nil : try RowFinder(statements, plan)
        defaults = entity.attributes.indices.map {
            plan.defaults[$0].tag == .null ? constraints.defaults[entity.attributes[$0].column.asciiLowercased] : nil
        }
        defaulted = entity.attributes.indices.filter { [defaults] in defaults[$0] != nil }
        let numbers: Set<AttributeType> = [.integer16, .integer32, .integer64, .boolean, .float, .double]
        numeric = Set(
            entity.attributes.indices.filter {
                constraints.numericColumns.contains(entity.attributes[$0].column.asciiLowercased)
                    && !numbers.contains(entity.attributes[$0].type)
            }
        )
        // What undo needs is kept by triggers, too; what they have done need not be taken back.
        refusing = constraints.hasTriggers ? .abort : .fail
        insert = try statements.connection.prepare(
            Self.insertion(into: entity, after: lastGiven, leaving: [], refusing)
        )
    }

    /// - Parameters:
    ///   - lastGiven: the row id that the first new row follows; nil where SQLite finds it.
    ///   - left: attributes whose columns get the table's defaults.
    private static func insertion(
        into entity: EntityDescription,
        after lastGiven: Int64?,
        leaving left: [Int],
        _ refusing: ConflictClause
    ) -> String {
        let table = entity.table.quotedIdentifier
        let attributes = entity.attributes.indices.filter { !left.contains($0) }
        var columns = attributes.map { entity.attributes[$0].column.quotedIdentifier }
        var places = attributes.map { "?\($0 + 1)" }
        if let lastGiven {
            columns.append("rowid")
            places.append("(SELECT max(coalesce(max(rowid), 0), \(lastGiven)) + 1 FROM \(table))")
        }
        // The statement's policy goes before those of constraints (`ON CONFLICT REPLACE`): no row gives way silently.
        return "INSERT OR \(refusing.rawValue) INTO \(table) "
            + (columns.isEmpty
                ? "DEFAULT VALUES"
                : "(\(columns.joined(separator: ", "))) VALUES (\(places.joined(separator: ", ")))")
    }

    deinit {
        sqlite3_finalize(insert)
        for statement in leaving.values { sqlite3_finalize(statement) }
        for statement in overwriting.values { sqlite3_finalize(statement) }
        for statement in updates.values { sqlite3_finalize(statement) }
    }

    /// Writes the rows of a batch that are this entity's and not in its image.
    ///
    /// - Parameters:
    ///   - chunkBytes: the bytes of the chunk that the batch was decoded from.
    ///   - settle: called before a row that needs to know which objects there are, while `presence` is gathered; to set
    ///     it to nil when that is known.
    ///   - body: told what became of each row, with its index in the batch.
    /// - Throws: `DatabaseError` when SQLite fails.
    package func write(
        _ batch: borrowing RowBatch,
        chunkBytes: [UInt8],
        settle: () throws -> Void,
        _ body: (Int, Effect) throws -> Void
    ) throws {
        try batch.withValues(chunk: chunkBytes, defaults: plan.defaultBytes) { values in
            for index in batch.rows.indices
            where batch.rows[index].entity == plan.index && !batch.rows[index].isLaidOut {
                try body(index, try write(batch.rows[index], values, batch, settle))
            }
        }
    }

    /// The row of the object that the last row was about, by what became of it; nil for none.
    package func rowID(of effect: Effect) -> Int64? {
        switch effect {
        case .inserted(let rowID), .updated(let rowID): rowID
        case .unchanged, .ignored, .duplicate: lastRowID
        case .incomplete, .waiting, .refused: nil
        }
    }

    /// Writes one row.
    ///
    /// - Parameter values: its cells, which may be others than the batch's.
    package func write(_ index: Int, _ values: RowValues, _ batch: borrowing RowBatch) throws -> Effect {
        let effect = try write(batch.rows[index], values, batch) {}
        if case .inserted(let rowID) = effect { lastRowID = rowID }
        return effect
    }

    /// Inserts one row, whatever is there.
    ///
    /// - Returns: its row id; nil where the table refuses it.
    package func append(_ index: Int, _ values: RowValues, _ batch: borrowing RowBatch) throws -> Int64? {
        guard try insertRow(values, batch.rows[index], batch) == nil else { return nil }
        return sqlite3_last_insert_rowid(connection)
    }

    @inline(__always)
    private func write(
        _ row: RowBatch.Row,
        _ values: RowValues,
        _ batch: borrowing RowBatch,
        _ settle: () throws -> Void
    ) throws -> Effect {
        if presence != nil {
            if row.insertReject < 0 {
                if let refusal = try insertRow(values, row, batch) { return .refused(refusal) }
                let rowID = sqlite3_last_insert_rowid(connection)
                presence?.add(mask(of: row, in: batch), rowID: rowID)
                return .inserted(rowID: rowID)
            }
            if plan.keepsIncomplete { return .waiting }
            try settle()
        }
        if let finder {
            place(row, in: batch)
            if let rowID = try finder.find(values, places) {
                lastRowID = rowID
                switch onConflict {
                case .merge, .replace: return try merge(values, into: rowID, finder)
                case .ignore, .error:
                    finder.reset()
                    return onConflict == .ignore ? .ignored : .duplicate
                }
            }
        }
        guard row.insertReject < 0 else { return .incomplete }
        if let refusal = try insertRow(values, row, batch) { return .refused(refusal) }
        return .inserted(rowID: sqlite3_last_insert_rowid(connection))
    }

    /// The row's presence mask, without the values that were made for it: they never replace others.
    @inline(__always)
    private func mask(of row: RowBatch.Row, in batch: borrowing RowBatch) -> ArraySlice<UInt64> {
        let width = (plan.attributes.count + 63) / 64
        var mask = batch.presence[row.firstPresenceWord..<row.firstPresenceWord + width]
        guard plan.hasGenerated else { return mask }
        place(row, in: batch)
        for attribute in places.indices where plan.attributes[attribute].isGenerated && places[attribute] >= 0 {
            guard batch.cells[places[attribute]].isGenerated else { continue }
            mask[mask.startIndex + attribute >> 6] &= ~(1 << UInt64(attribute & 63))
        }
        return mask
    }

    /// Finds the row's cells by the bits of its presence mask.
    private func place(_ row: RowBatch.Row, in batch: borrowing RowBatch) {
        var next = row.firstCell
        for attribute in 0..<places.count {
            if batch.isPresent(attribute, in: row) {
                places[attribute] = next
                next += 1
            } else {
                places[attribute] = -1
            }
        }
    }

    /// Inserts the rows of a batch that are in its image.
    ///
    /// - Returns: their row ids, in the rows' order; nil where it has none of this entity's.
    /// - Throws: `LayoutInvalidated` where they have to be looked up, must not follow one another, or no longer fit the
    ///   table; `DatabaseError` when SQLite fails.
    package func copy(_ image: DatabaseImage, of batch: borrowing RowBatch, _ database: Database) throws -> ClosedRange<
        Int64
    >? {
        let count = Int64(image.rows(of: plan.index))
        guard count > 0 else { return nil }
        guard let copier, identifier.isEmpty || presence != nil else { throw LayoutInvalidated(entity: plan.index) }
        let rowIDs = try copier.copy(count, database)
        if presence != nil {
            let width = (plan.attributes.count + 63) / 64
            var rowID = rowIDs.lowerBound
            for row in batch.rows where row.isLaidOut && row.entity == plan.index {
                let word = row.firstPresenceWord
                presence?.add(batch.presence[word..<word + width], rowID: rowID)
                rowID += 1
            }
        }
        return rowIDs
    }

    // MARK: Binding

    @inline(__always)
    private func bind(_ cell: Cell, _ values: RowValues, to statement: OpaquePointer?, at place: Int32) throws {
        let code = values.bind(cell, to: statement, at: place)
        if code != SQLITE_OK { throw statements.error(code) }
    }

    /// Inserts a row: the cells that it has, and defaults in between, which are the table's where the model has none.
    ///
    /// - Returns: why the table refuses it; nil if it is there.
    private func insertRow(
        _ values: RowValues,
        _ row: RowBatch.Row,
        _ batch: borrowing RowBatch
    ) throws -> TableConstraints.Refusal? {
        // Local, as each access to a class's property is checked.
        let left = defaulted.isEmpty ? [] : defaulted.filter { !batch.isPresent($0, in: row) }
        let insert = try left.isEmpty ? self.insert : inserting(leaving: left)
        let plan = plan
        let absent = values.absent
        var next = row.firstCell
        for attribute in 0..<plan.attributes.count {
            let place = Int32(truncatingIfNeeded: attribute + 1)
            if batch.isPresent(attribute, in: row) {
                try bind(values.cells[next], values, to: insert, at: place)
                next += 1
            } else if left.isEmpty || !left.contains(attribute) {
                try bind(plan.defaults[attribute], absent, to: insert, at: place)
            }
        }
        return try statements.run(insert)
    }

    private func inserting(leaving left: [Int]) throws -> OpaquePointer? {
        if let statement = leaving[left] { return statement }
        if leaving.count >= 64 {
            for statement in leaving.values { sqlite3_finalize(statement) }
            leaving.removeAll()
        }
        let statement = try statements.connection.prepare(
            Self.insertion(into: entity, after: lastGiven, leaving: left, refusing)
        )
        leaving[left] = statement
        return statement
    }

    // MARK: Merging

    /// The row id of the object that has the identifier of a record that has waited, the only row of its batch.
    ///
    /// - Parameter last: the row id of the last row that came before the record; a later object is none that it is merged into.
    package func find(_ batch: borrowing RowBatch, notAfter last: Int64) throws -> Int64? {
        guard let finder else { throw ImportError(.fault, "\(entity.table): there is no identifier to merge by") }
        place(batch.rows[0], in: batch)
        let found = try batch.withValues { try finder.find($0, places) }
        finder.reset()
        return found.flatMap { $0 <= last ? $0 : nil }
    }

    /// Merges a record that has waited, the only row of its batch, into its object, or leaves it out for that.
    package func merge(_ batch: borrowing RowBatch, into object: Int64) throws -> Effect {
        guard onConflict == .merge, let finder else { return .ignored }
        place(batch.rows[0], in: batch)
        guard try finder.find(rowID: object) else { throw ImportError(strayRow: object, in: entity.table) }
        return try batch.withValues { try merge($0, into: object, finder) }
    }

    /// Sets what the record mentions and the stored object has otherwise; under `replace` also what it does not mention.
    private func merge(_ values: RowValues, into rowID: Int64, _ finder: RowFinder) throws -> Effect {
        let plan = plan
        let absent = values.absent
        var changed: [Int] = []
        // Where the first part of the identifier should be is the row id; it is the same as it is.
        let fills = fillsStub
        for attribute in 0..<places.count where (fills || !plan.isLocal[attribute]) && attribute != identifier[0] {
            if !unchanged.isEmpty, unchanged.contains(attribute) { continue }
            guard let (cell, values) = newValue(of: attribute, values, absent) else { continue }
            if places[attribute] < 0, defaults[attribute] != nil {
                changed.append(~attribute)
                continue
            }
            // A made value is for objects that are inserted, and changes none that is there.
            if cell.isGenerated, !fills { continue }
            if !finder.isEqual(cell, values, at: Int32(attribute)) { changed.append(attribute) }
        }
        finder.reset()
        if !numeric.isEmpty {
            try changed.removeAll { attribute in
                guard attribute >= 0, numeric.contains(attribute),
                    let (cell, own) = newValue(of: attribute, values, absent)
                else { return false }
                return try finder.hasStored(cell, own, as: attribute, in: rowID, values, places)
            }
        }
        guard !changed.isEmpty else { return .unchanged }
        // The index in one list is none in another's.
        for (reference, position) in plan.positions where places[position] < 0 && !changed.contains(position) {
            if changed.contains(where: reference.contains) { changed.append(position) }
        }
        let statement = try update(setting: changed)
        for (place, attribute) in changed.enumerated() where attribute >= 0 {
            let (cell, values) = newValue(of: attribute, values, absent) ?? (.null, absent)
            try bind(cell, values, to: statement, at: Int32(place + 1))
        }
        if hasRowID {
            sqlite3_bind_int64(statement, Int32(changed.count + 1), rowID)
        } else {
            try finder.bindKey(values, places, to: statement, at: changed.count + 1)
        }
        let isOfDefaults = changed.allSatisfy { $0 < 0 }
        if let refusal = try statements.run(statement, isSameAllowed: isOfDefaults) { return .refused(refusal) }
        return sqlite3_changes(connection) > 0 ? .updated(rowID: rowID) : .unchanged
    }

    /// Sets all that a stored row has to what another has, or its defaults.
    ///
    /// - Returns: whether that changed anything, or why the table refuses it.
    package func overwrite(_ rowID: Int64, with index: Int, _ values: RowValues, _ batch: borrowing RowBatch) throws
        -> Effect
    {
        place(batch.rows[index], in: batch)
        // What it does not say of other lists that it is in is theirs.
        let attributes = places.indices.filter {
            !identifier.contains($0) && (places[$0] >= 0 || !plan.parentColumns.contains($0))
        }.map { places[$0] < 0 && defaults[$0] != nil ? ~$0 : $0 }
        let statement = try overwriting(setting: attributes)
        for (number, attribute) in attributes.enumerated() where attribute >= 0 {
            let place = Int32(number + 1)
            if places[attribute] >= 0 {
                try bind(values.cells[places[attribute]], values, to: statement, at: place)
            } else {
                try bind(plan.defaults[attribute], values.absent, to: statement, at: place)
            }
        }
        sqlite3_bind_int64(statement, Int32(attributes.count + 1), rowID)
        if let refusal = try statements.run(statement, isSameAllowed: true) { return .refused(refusal) }
        lastRowID = rowID
        return sqlite3_changes(connection) > 0 ? .updated(rowID: rowID) : .unchanged
    }

    private func overwriting(setting attributes: [Int]) throws -> OpaquePointer? {
        if let statement = overwriting[attributes] { return statement }
        let statement = try statements.connection.prepare(overwriting(setting: attributes, ifDifferent: true))
        overwriting[attributes] = statement
        return statement
    }

    /// A statement that sets attributes, of which those that are complements (`~`) get the table's defaults.
    private func overwriting(setting attributes: [Int], ifDifferent: Bool) -> String {
        let sets = attributes.enumerated().map { place, attribute in
            let index = attribute < 0 ? ~attribute : attribute
            let value = attribute < 0 ? defaults[index] ?? "NULL" : "?\(place + 1)"
            return (column: entity.attributes[index].column.quotedIdentifier, value: value)
        }
        let key = hasRowID ? ["rowid"] : identifier.map { entity.attributes[$0].column.quotedIdentifier }
        let row = key.enumerated().map { "\($1) = ?\(attributes.count + 1 + $0)" }.joined(separator: " AND ")
        let differs = sets.map { "\($0.column) COLLATE BINARY IS NOT \($0.value)" }.joined(separator: " OR ")
        return "UPDATE OR \(refusing.rawValue) \(entity.table.quotedIdentifier) SET "
            + sets.map { "\($0.column) = \($0.value)" }.joined(separator: ", ")
            + " WHERE \(row)" + (ifDifferent ? " AND (\(differs))" : "")
    }

    /// What the current row sets an attribute of a stored object to; nil to leave it alone.
    @inline(__always)
    private func newValue(of attribute: Int, _ values: RowValues, _ absent: RowValues) -> (Cell, RowValues)? {
        if places[attribute] >= 0 { return (values.cells[places[attribute]], values) }
        return onConflict == .replace && attribute < plan.replacedCount ? (plan.defaults[attribute], absent) : nil
    }

    private func update(setting attributes: [Int]) throws -> OpaquePointer? {
        if let statement = updates[attributes] { return statement }
        if updates.count >= 64 {
            // Records that each change other attributes must not pile statements up.
            for statement in updates.values { sqlite3_finalize(statement) }
            updates.removeAll()
        }
        // Only SQLite knows whether a default is another value.
        let statement = try statements.connection.prepare(
            overwriting(setting: attributes, ifDifferent: attributes.allSatisfy { $0 < 0 })
        )
        updates[attributes] = statement
        return statement
    }
}
