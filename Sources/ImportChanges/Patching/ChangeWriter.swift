import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Writes what changes come to, row by row.
///
/// It is used within a transaction that checks foreign keys at its end only, by one thread.
final class ChangeWriter {
    /// Why a change cannot be written, now or at all.
    struct Refusal: Error {
        /// The object that it is about.
        let entity: Int?
        let key: [StoredValue]
        let attribute: String?
        /// True if another row has a value that must be unique.
        var isUnique = false
        /// True if objects would go with a deleted one that the change does not name.
        var takesAlong = false
    }

    private let schema: PatchSchema
    private let statements: PatchStatements

    init(_ schema: PatchSchema, _ statements: PatchStatements) {
        self.schema = schema
        self.statements = statements
    }

    /// Writes all of it; the caller rolls back what is written where it throws.
    ///
    /// What a table refuses is tried again after the rest: an object may come before another goes that has its unique value.
    ///
    /// - Parameter isLast: whether what refers to a deleted object may be changed by its delete rule, as nothing else comes.
    /// - Throws: `Refusal` where the store's tables do not allow it.
    func write(_ steps: [ChangePlan.Step], isLast: Bool) throws {
        if let refusal = try refusals(of: steps, isLast: isLast).first { throw refusal.refusal }
    }

    /// Writes what the store's tables allow.
    ///
    /// - Returns: what they refuse, by its index among the steps.
    func refusals(of steps: [ChangePlan.Step], isLast: Bool) throws -> [(step: Int, refusal: Refusal)] {
        var rest = Array(steps.indices)
        while true {
            var refused: [(step: Int, refusal: Refusal)] = []
            var orders: [Int] = []
            for place in rest {
                // An order is that of all that there is in the end.
                if !refused.isEmpty, steps[place].isOrder {
                    orders.append(place)
                    continue
                }
                do {
                    try write(steps[place], isLast: isLast)
                } catch let refusal as Refusal {
                    refused.append((place, refusal))
                }
            }
            guard !refused.isEmpty else { return refused }
            if refused.count + orders.count == rest.count {
                let taking = isLast ? refused.filter(\.refusal.takesAlong).map(\.step) : []
                let circle = try deleteCircle(among: taking, of: steps)
                guard !circle.isEmpty else { return refused }
                refused.removeAll { circle.contains($0.step) }
            }
            rest = refused.map(\.step) + orders
        }
    }

    private func write(_ step: ChangePlan.Step, isLast: Bool) throws {
        switch step {
        case .insert(let index, let columns, let values):
            let entity = schema.entities[index]
            let key = entity.identifier.compactMap { place in columns.firstIndex(of: place).map { values[$0] } }
            try refusing(index, key) { try change(PatchSQL.insert(entity, columns), values, index, key) }
        case .update(let index, let key, let columns, let values):
            try refusing(index, key, columns) {
                try change(PatchSQL.update(schema.entities[index], columns), values + key, index, key)
            }
        case .delete(let index, let key, let takesAlong):
            try delete(index, key, takesAlong: takesAlong, isLast: isLast)
        case .link(let join, let values):
            try refusing(nil, []) {
                try statements.run(PatchSQL.insert(join.table, join.columns + join.destinationColumns), values)
            }
        case .unlink(let join, let values):
            try refusing(nil, []) { try statements.run(PatchSQL.unlink(join), values) }
        case .replace(let owned, let owner, let values):
            try refusing(nil, []) { try replace(owned, owner, values) }
        case .reorder(let owned, let keys):
            guard let position = owned.position else { return }
            let child = schema.entities[try schema.index(owned.child)]
            for (number, key) in keys.enumerated() {
                try refusing(nil, []) {
                    try statements.run(
                        PatchSQL.update(child, column: position),
                        [.integer(Int64(number))] + key
                    )
                }
            }
        case .reorderLinks(let join, let owner, let keys):
            guard let position = join.position else { return }
            for (number, key) in keys.enumerated() {
                try refusing(nil, []) {
                    try statements.run(
                        PatchSQL.reorder(join, position: position),
                        [.integer(Int64(number))] + owner + key
                    )
                }
            }
        }
    }

    /// A trigger may have the row left as it is, which is a refusal, too.
    private func change(_ sql: String, _ values: [StoredValue], _ index: Int, _ key: [StoredValue]) throws {
        guard try statements.run(sql, values) > 0 else { throw Refusal(entity: index, key: key, attribute: nil) }
    }

    // MARK: Deleting

    private func delete(_ index: Int, _ key: [StoredValue], takesAlong: Bool, isLast: Bool) throws {
        let entity = schema.entities[index]
        if !takesAlong {
            for referring in schema.referring[ExistingEntity.folded(entity.table)] ?? [] {
                let cascades = referring.onDelete == "CASCADE"
                // What refers to the object is changed or deleted by other changes, as a rule: they come first.
                guard cascades || !isLast && referring.onDelete.hasPrefix("SET") else { continue }
                if try statements.exists(PatchSQL.refers(referring, to: entity), key) {
                    throw Refusal(entity: index, key: key, attribute: nil, takesAlong: cascades)
                }
            }
        }
        try refusing(index, key) { try change(PatchSQL.delete(entity), key, index, key) }
    }

    /// Deletes objects that refer to one another in a circle of foreign keys that cascade, where nothing else would go with them.
    ///
    /// - Returns: which of the steps are done.
    private func deleteCircle(among places: [Int], of steps: [ChangePlan.Step]) throws -> Set<Int> {
        var doomed: [DeletedRow: Int] = [:]
        for place in places {
            guard case .delete(let index, let key, false) = steps[place] else { continue }
            doomed[DeletedRow(table: ExistingEntity.folded(schema.entities[index].table), key: key)] = place
        }
        while true {
            let taking = try doomed.keys.filter { try takesOthers($0, besides: doomed) }
            if taking.isEmpty { break }
            for row in taking { doomed[row] = nil }
        }
        for place in doomed.values.sorted() {
            guard case .delete(let index, let key, _) = steps[place] else { continue }
            // The deletion of another one may have taken it.
            try refusing(index, key) { try statements.run(PatchSQL.delete(schema.entities[index]), key) }
        }
        return Set(doomed.values)
    }

    private struct DeletedRow: Hashable {
        let table: BytewiseString
        let key: [StoredValue]
    }

    /// True if rows that are not deleted anyway would go with a row.
    private func takesOthers(_ row: DeletedRow, besides doomed: [DeletedRow: Int]) throws -> Bool {
        func entity(_ table: BytewiseString) -> PatchedEntity? {
            schema.entities.first { ExistingEntity.folded($0.table) == table }
        }
        guard let parent = entity(row.table) else { return true }
        for referring in schema.referring[row.table] ?? [] where referring.onDelete == "CASCADE" {
            let table = ExistingEntity.folded(referring.table)
            guard let child = entity(table), !child.identifier.isEmpty else {
                if try statements.exists(PatchSQL.refers(referring, to: parent), row.key) { return true }
                continue
            }
            var takes = false
            try statements.run(PatchSQL.referring(referring, child, to: parent), row.key) { found in
                let key = child.identifier.indices.map(found.value)
                if doomed[DeletedRow(table: table, key: key)] == nil { takes = true }
            }
            if takes { return true }
        }
        return false
    }

    // MARK: Parts without identifier

    private func replace(_ owned: PatchedEntity.Owned, _ owner: [StoredValue], _ values: [OwnedValue]) throws {
        let child = schema.entities[try schema.index(owned.child)]
        try deleteValues(owned, child, owner)
        for (number, value) in values.enumerated() {
            var cells: [Int: StoredValue] = [:]
            for attribute in value.attributes {
                if let column = child.attributes[BytewiseString(attribute.name)] { cells[column] = attribute.value }
            }
            for reference in value.references {
                guard let columns = child.reference(reference.name)?.columns else { continue }
                let parts = reference.target?.values.map(\.value) ?? columns.map { _ in .null }
                for (column, part) in zip(columns, parts) { cells[column] = part }
            }
            var columns: [String] = []
            var row: [StoredValue] = []
            for column in cells.keys.sorted() {
                columns.append(child.columns[column])
                row.append(cells[column] ?? .null)
            }
            func add(_ column: String, _ value: StoredValue) {
                if let place = columns.firstIndex(where: {
                    ExistingEntity.folded($0) == ExistingEntity.folded(column)
                }) {
                    row[place] = value
                } else {
                    columns.append(column)
                    row.append(value)
                }
            }
            for (column, part) in zip(owned.columns, owner) { add(column, part) }
            if let position = owned.position { add(position, .integer(Int64(number))) }
            try statements.run(PatchSQL.insert(child.table, columns), row)
            guard !child.owned.isEmpty else { continue }
            let key = StoredValue.integer(statements.lastRowID)
            for inner in child.owned {
                let list = value.owned.first { $0.name.hasSameBytes(as: inner.name) }?.values ?? []
                if !list.isEmpty { try replace(inner, [key], list) }
            }
        }
    }

    private func deleteValues(_ owned: PatchedEntity.Owned, _ child: PatchedEntity, _ owner: [StoredValue]) throws {
        if !child.owned.isEmpty {
            var keys: [StoredValue] = []
            try statements.run(PatchSQL.values(child, owned), owner) { keys.append($0.value(0)) }
            for inner in child.owned {
                let grandchild = schema.entities[try schema.index(inner.child)]
                for key in keys { try deleteValues(inner, grandchild, [key]) }
            }
        }
        try statements.run(PatchSQL.deleteValues(child, owned), owner)
    }

    // MARK: What tables refuse

    private func refusing(_ index: Int?, _ key: [StoredValue], _ columns: [Int] = [], _ body: () throws -> Void) throws
    {
        do {
            try body()
        } catch let error as DatabaseError {
            switch error.resultCode.primaryResultCode {
            case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH: break
            default: throw error
            }
            let code = error.extendedResultCode
            let isUnique =
                code == .SQLITE_CONSTRAINT_UNIQUE || code == .SQLITE_CONSTRAINT_PRIMARYKEY
                || code == .SQLITE_CONSTRAINT_ROWID
            throw Refusal(
                entity: index,
                key: key,
                attribute: index.flatMap { attribute(of: schema.entities[$0], error, columns) },
                isUnique: isUnique
            )
        }
    }

    /// The attribute that a message of SQLite's names: `UNIQUE constraint failed: t.a`, `CHECK constraint failed: a < 10`.
    private func attribute(of entity: PatchedEntity, _ error: DatabaseError, _ columns: [Int]) -> String? {
        guard let message = error.message, let colon = message.firstIndex(of: ":") else { return nil }
        let text = message[message.index(after: colon)...]
        func name(_ column: Int) -> String? {
            entity.attributes.first { $0.value == column }?.key.text
                ?? entity.references.first { $0.columns.contains(column) }?.name
        }
        if error.extendedResultCode == .SQLITE_CONSTRAINT_CHECK {
            let words = Set(
                text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map { ExistingEntity.folded(String($0)) }
            )
            let named = entity.columns.indices.filter { words.contains(ExistingEntity.folded(entity.columns[$0])) }
            if named.count == 1 { return name(named[0]) }
            return columns.count == 1 ? name(columns[0]) : nil
        }
        let first = text.split(separator: ",").first?.split(separator: " ").last ?? ""
        guard let dot = first.lastIndex(of: ".") else { return nil }
        return entity.column(String(first[first.index(after: dot)...])).flatMap(name)
    }
}
