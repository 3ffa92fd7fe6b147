import GRDB
import ImportModel

/// The steps of attributes.
extension MigrationPlanner {
    mutating func addAttribute(_ attribute: AttributeDescription, of entity: Int) throws {
        let all = pairs(of: entity)
        let name = new.entities[entity].name
        let known = try knownBefore(attribute, of: entity, all)
        let added = all.filter { map.match.attribute(attribute.name, of: $0.new, in: $0.old) == nil }
        guard let before = known else { return try addNew(attribute, name, all) }
        if !before.name.hasSameBytes(as: attribute.name) {
            add(.attributeRenamed, name, attribute.name, "is renamed from \(before.name)")
        } else if !before.column.hasSameBytes(as: attribute.column) {
            add(.storageRenamed, name, attribute.name, "has the column \(attribute.column) instead of \(before.column)")
        }
        let present = all.filter { pair in !added.contains(pair) }
        try addType(before, attribute, name, present)
        try addOptionality(before, attribute, name, present)
        if before.defaultValue != attribute.defaultValue {
            add(.defaultChanged, name, attribute.name, "has another default for new objects")
        }
        if isReadOtherwise(before, attribute) {
            add(.readingChanged, name, attribute.name, "is read from records in another way")
        }
        // Another entity's rows may lack what this one's had.
        if !added.isEmpty, !attribute.isOptional { try addNew(attribute, name, added) }
    }

    private func knownBefore(_ attribute: AttributeDescription, of entity: Int, _ pairs: [MigrationMapping.EntityPair])
        throws
        -> AttributeDescription?
    {
        let own = map.match.entities[entity].flatMap { map.match.attribute(attribute.name, of: entity, in: $0) }
        return own ?? pairs.lazy.compactMap { map.match.attribute(attribute.name, of: $0.new, in: $0.old) }.first
    }

    private mutating func addNew(
        _ attribute: AttributeDescription,
        _ entity: String,
        _ pairs: [MigrationMapping.EntityPair]
    )
        throws
    {
        let type = attribute.type.rawValue
        if attribute.isGenerated {
            let rows = try reportedCount(pairs)
            add(.attributeAdded, entity, attribute.name, "is new: a UUID for each row", rows: rows)
            return
        }
        guard !attribute.isOptional else {
            return add(.attributeAdded, entity, attribute.name, "is new: \(type), empty in existing rows")
        }
        if attribute.defaultValue != nil {
            add(
                .attributeAdded,
                entity,
                attribute.name,
                "is new: \(type), the default in each row",
                rows: try reportedCount(pairs)
            )
            return
        }
        let obstacle = try obstacle(
            pairs,
            "these rows would have no value",
            advice: "Give it a default, make it optional, or, where it is a uuid, \"generated\"."
        ) { _ in nil }
        add(.attributeAdded, entity, attribute.name, "is new: \(type), required", obstacle)
    }

    private mutating func addType(
        _ before: AttributeDescription,
        _ attribute: AttributeDescription,
        _ entity: String,
        _ pairs: [MigrationMapping.EntityPair]
    ) throws {
        let conversion = ValueConversion(old: before, new: attribute)
        let isOtherType =
            before.type != attribute.type || before.ownForm != attribute.ownForm || conversion.way != .same
        let hasOtherRules = before.validation != attribute.validation
        guard isOtherType || hasOtherRules else { return }
        let text =
            if before.type != attribute.type {
                "is \(attribute.type.rawValue) instead of \(before.type.rawValue)"
            } else if before.storage == attribute.storage, before.fraction != attribute.fraction {
                "has \(attribute.fraction) digits of a second instead of \(before.fraction)"
            } else {
                isOtherType ? "is stored in another way" : "has other rules for its values"
            }
        var obstacle: ModelMigration.Obstacle?
        // Digits that are cut are allowed, but not where two objects may become one.
        let isKey = pairs.contains { new.hierarchy.identifier(of: $0.new).contains(attribute.name) }
        let isLoss = conversion.cutsDigits && !conversion.hasOtherRules && !isKey
        // Writing a value finds out whether it survives, but not whether it keeps to rules, or digits.
        if conversion.needsCheck, isFirst || conversion.hasOtherRules || conversion.cutsDigits {
            let reason =
                isLoss
                ? "their digits would be lost"
                : isOtherType ? "their values cannot be converted" : "their values break the new rules"
            obstacle = try self.obstacle(pairs, reason, isLoss: isLoss) { pair in
                guard let own = map.match.attribute(attribute.name, of: pair.new, in: pair.old) else { return "0" }
                let column = map.column(own.column, of: old.table(of: pair.old), "o").sql
                return MigrationFunctions.isLost(column, own, attribute)
            }
        }
        let rows = conversion.way == .same ? nil : try reportedCount(pairs)
        add(isOtherType ? .typeChanged : .rulesChanged, entity, attribute.name, text, rows: rows, obstacle)
    }

    private mutating func addOptionality(
        _ before: AttributeDescription,
        _ attribute: AttributeDescription,
        _ entity: String,
        _ pairs: [MigrationMapping.EntityPair]
    ) throws {
        guard before.isOptional != attribute.isOptional else { return }
        guard !attribute.isOptional else {
            return add(.becomesOptional, entity, attribute.name, "becomes optional")
        }
        let isNull: (MigrationMapping.EntityPair) -> String? = { pair in
            let own = map.match.attribute(attribute.name, of: pair.new, in: pair.old) ?? before
            return "\(map.column(own.column, of: old.table(of: pair.old), "o").sql) IS NULL"
        }
        if attribute.isGenerated || attribute.defaultValue != nil {
            let what = attribute.isGenerated ? "a UUID" : "the default"
            let rows = try count(pairs, where: isNull)
            return add(
                .becomesRequired,
                entity,
                attribute.name,
                "becomes required: \(what) where it is missing",
                rows: rows
            )
        }
        let obstacle = try obstacle(pairs, "these have no value", advice: "Give it a default.", where: isNull)
        add(.becomesRequired, entity, attribute.name, "becomes required", obstacle)
    }

    private func isReadOtherwise(_ one: AttributeDescription, _ other: AttributeDescription) -> Bool {
        let isRenamed = !one.name.hasSameBytes(as: other.name)
        func isUsual(_ attribute: AttributeDescription) -> Bool {
            attribute.from == [AttributePath(keys: [attribute.name])]
        }
        let isSamePath = one.from == other.from || isRenamed && isUsual(one) && isUsual(other)
        let isSameWay =
            one.formats == other.formats && one.timeZone == other.timeZone && one.isWallClock == other.isWallClock
        let isSameRule = one.owner == other.owner && one.isGenerated == other.isGenerated
        let isSameText = one.transformers == other.transformers && one.userInfo == other.userInfo
        return !(isSamePath && isSameWay && isSameRule && isSameText)
    }
}
