import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Values that are put aside, so that others may have theirs meanwhile.
extension ChangeApplier {
    /// Puts aside what a change is about to replace and what must be unique, so that another object may have it meanwhile.
    func park(_ change: ObjectChange, _ ordinal: Int64) throws {
        guard let index = try? schema.index(change.entity) else { return }
        let entity = schema.entities[index]
        let key = change.identifier.values.map(\.value)
        if change.kind == .updated, let stored = try comparison.read(index, key) {
            var columns: [Int] = []
            for attribute in change.attributes where attribute.new != nil {
                if let column = entity.attributes[BytewiseString(attribute.name)] { columns.append(column) }
            }
            for reference in change.references {
                guard case .toOne = reference.content else { continue }
                columns += entity.reference(reference.name)?.columns ?? []
            }
            for column in columns where !entity.identifier.contains(column) {
                guard let mayBeNull = entity.unique[ExistingEntity.folded(entity.columns[column])] else { continue }
                try park(index, key, column, stored[column], mayBeNull: mayBeNull, ordinal)
            }
        }
        if change.kind == .deleted {
            for part in change.moved {
                guard let owned = entity.ownership(part.name), let child = try? schema.index(owned.child) else {
                    continue
                }
                for object in part.objects {
                    let own = object.values.map(\.value)
                    guard let stored = try comparison.read(child, own) else { continue }
                    let columns = owned.columns.compactMap { schema.entities[child].column($0) }
                    // One that has another owner by now is left where it is.
                    guard columns.map({ stored[$0] }) == key else { continue }
                    for column in columns { try park(child, own, column, stored[column], mayBeNull: true, ordinal) }
                }
            }
        }
        for part in change.relationships {
            guard case .objects(let changes) = part.content else { continue }
            for inner in changes { try park(inner, ordinal) }
        }
    }

    /// What the last change has written is where it belongs.
    func forgetParked() {
        guard !comparison.parked.isEmpty else { return }
        for case .update(let entity, let key, let columns, _) in steps {
            for column in columns {
                let cell = ChangeComparison.ParkedCell(entity: entity, key: key, column: column)
                comparison.parked[cell] = nil
            }
        }
    }

    /// Puts back what was put aside and not replaced.
    ///
    /// - Returns: the changes whose values other rows have by now.
    func restoreParked() throws -> [Int64: ChangeWriter.Refusal] {
        var refused: [Int64: ChangeWriter.Refusal] = [:]
        for (cell, value) in comparison.parked {
            let entity = schema.entities[cell.entity]
            do {
                _ = try statements.savepoint("import_park") {
                    try statements.run(
                        PatchSQL.update(entity, column: entity.columns[cell.column]),
                        [value] + cell.key
                    )
                }
            } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CONSTRAINT {
                guard let ordinal = parkedBy[cell] else { throw error }
                refused[ordinal] = ChangeWriter.Refusal(
                    entity: cell.entity,
                    key: cell.key,
                    attribute: entity.attributes.first { $0.value == cell.column }?.key.text
                )
            }
        }
        return refused
    }

    func park(
        _ index: Int,
        _ key: [StoredValue],
        _ column: Int,
        _ value: StoredValue,
        mayBeNull: Bool,
        _ ordinal: Int64
    ) throws {
        let entity = schema.entities[index]
        let cell = ChangeComparison.ParkedCell(entity: index, key: key, column: column)
        guard comparison.parked[cell] == nil, value != .null, !entity.identifier.contains(column) else { return }
        let sql = PatchSQL.update(entity, column: entity.columns[column])
        let number = comparison.parked.count
        let placeholder: StoredValue =
            switch value {
            case .null: .null
            case .integer: .integer(.min &+ Int64(number))
            case .real: .real(-Double.greatestFiniteMagnitude / Double(number + 2))
            case .text, .textBytes: .text("\u{1}import \(number)")
            case .blob: .blob(Array("\u{1}import \(number)".utf8))
            }
        for other in mayBeNull ? [.null, placeholder] : [placeholder] {
            do {
                _ = try statements.savepoint("import_park") { try statements.run(sql, [other] + key) }
                comparison.parked[cell] = value
                parkedBy[cell] = ordinal
                return
            } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CONSTRAINT {
                continue
            }
        }
    }
}
