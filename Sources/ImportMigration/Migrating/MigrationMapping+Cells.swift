import GRDB
import ImportEngine
import ImportModel

/// What the cells of new rows are made of.
extension MigrationMapping {
    /// What a column of a new table is, in rows of a source under the alias `o`.
    func cell(_ column: TableDescription.Column, of target: Target, from source: Source) throws -> CellExpression {
        let cells = try source.pairs.map { try cell(column, of: target, $0, "o") }
        // Where an entity never had the column, NULL is in it already.
        let plain = cells.first { $0.column != nil }
        if let plain, zip(cells, source.pairs).allSatisfy({ $0 == plain || $0.isNull && lacks(plain, $1) }) {
            return plain
        }
        guard let first = cells.first, !cells.allSatisfy({ $0 == first }) else { return cells.first ?? .null }
        guard let name = old.entityColumn(of: source.home) else { return first }
        let subject = self.column(name, of: old.table(of: source.home), "o").sql
        let cases = zip(cells, source.pairs).map { cell, pair in
            "WHEN \(old.entities[pair.old].name.sqlLiteral) THEN \(cell.sql)"
        }
        return CellExpression(sql: "CASE \(subject) \(cases.joined(separator: " ")) END")
    }

    /// True if an old entity has no value in a column of its shared table.
    private func lacks(_ cell: CellExpression, _ pair: EntityPair) -> Bool {
        guard let column = cell.column else { return false }
        let own = old.rows(of: pair.old).entity.attributes.map { ExistingEntity.folded($0.column) }
        return !own.contains(ExistingEntity.folded(column))
    }

    /// What a column of a new table is, in rows of an old entity under an alias.
    func cell(_ column: TableDescription.Column, of target: Target, _ pair: EntityPair, _ alias: String) throws
        -> CellExpression
    {
        switch column.role {
        case .rowID: return rowID(pair, target, alias)
        case .attribute:
            guard let attribute = attribute(inColumn: column.name, of: pair.new) else { return .null }
            return try value(of: attribute, pair, alias)
        case .entity: return entity(pair, alias)
        case .reference, .position:
            for relationship in new.columnRelationships(of: target.home) {
                guard let holder = new.relationships[relationship].holder,
                    new.hierarchy.chain(of: pair.new).contains(holder)
                else { continue }
                let references = new.references(of: relationship)
                if let place = references.firstIndex(where: { $0.name.hasSameBytes(as: column.name) }) {
                    return try self.references(of: relationship, pair, alias)[place]
                }
                if new.positionColumn(of: relationship)?.hasSameBytes(as: column.name) == true {
                    return try position(of: relationship, pair, alias)
                }
            }
            return .null
        }
    }

    /// The row id that a row under an alias gets, where its table has no integer identifier.
    func rowID(_ pair: EntityPair, _ target: Target, _ alias: String) -> CellExpression {
        let home = old.home(of: pair.old)
        let offset = offset(of: home, in: target)
        guard offset.isEmpty else { return CellExpression(sql: "\(alias).rowid\(offset)") }
        if let column = old.rowIDColumn(of: home) { return self.column(column, of: old.table(of: home), alias) }
        return CellExpression(sql: "\(alias).rowid")
    }

    private func entity(_ pair: EntityPair, _ alias: String) -> CellExpression {
        let name = new.entities[pair.new].name
        guard let column = old.entityColumn(of: pair.old), old.entities[pair.old].name.hasSameBytes(as: name) else {
            return CellExpression(sql: name.sqlLiteral)
        }
        return self.column(column, of: old.table(of: pair.old), alias)
    }

    // MARK: Attributes

    /// The value of an attribute of the new model, of rows of an old entity under an alias.
    func value(of attribute: AttributeDescription, _ pair: EntityPair, _ alias: String) throws -> CellExpression {
        let before = match.attribute(attribute.name, of: pair.new, in: pair.old)
        let value = before.map { converted($0, attribute, column($0.column, of: old.table(of: pair.old), alias)) }
        guard before == nil || before?.isOptional == true && !attribute.isOptional else { return value ?? .null }
        if attribute.isGenerated {
            let generated = generated(attribute, pair, alias)
            return CellExpression(
                sql: value.map { "coalesce(\($0.sql), \(generated))" } ?? generated,
                origin: value?.origin
            )
        }
        guard !attribute.isOptional, let literal = try fallback(attribute) else { return value ?? .null }
        return CellExpression(
            sql: value.map { "coalesce(\($0.sql), \(literal))" } ?? literal,
            origin: value?.origin
        )
    }

    /// What a row without value gets, as a literal; nil where the attribute has no default.
    func fallback(_ attribute: AttributeDescription) throws -> String? {
        guard let value = attribute.defaultValue else { return nil }
        return try attribute.coerce(value, transformers: transformers).value.databaseValue.literal
    }

    /// A value of an old attribute as one of a new one.
    func converted(
        _ before: AttributeDescription,
        _ after: AttributeDescription,
        _ value: CellExpression
    ) -> CellExpression {
        let conversion = ValueConversion(old: before, new: after)
        let function = MigrationFunctions.conversion(before, after)
        // What another program has put there, maybe after the plan was made, does not survive, or is null.
        func cast(_ value: CellExpression, to type: String) -> CellExpression {
            let condition = MigrationFunctions.canBeCast(value.sql, conversion.way)
            return CellExpression(
                sql: "CASE WHEN \(condition) THEN CAST(\(value.sql) AS \(type)) ELSE \(function)(\(value.sql)) END",
                origin: value.origin
            )
        }
        switch conversion.way {
        case .same: return value
        case .cast(let type): return cast(value, to: type)
        case .castOfExact: return cast(value, to: "REAL")
        case .each: return CellExpression(sql: "\(function)(\(value.sql))", origin: value.origin)
        }
    }

    /// A UUID that is made of an object's identifier, or of its row id where it has none.
    private func generated(_ attribute: AttributeDescription, _ pair: EntityPair, _ alias: String) -> String {
        let table = old.table(of: pair.old)
        let identifier = old.hierarchy.identifier(of: pair.old)
        let key =
            identifier.isEmpty
            ? ["\(alias).rowid"] : old.key(of: pair.old).map { column($0.name, of: table, alias).sql }
        let function = MigrationFunctions.generated(attribute, of: new.entities[new.home(of: pair.new)].name)
        return "\(function)(\(key.joined(separator: ", ")))"
    }
}
