import ImportModel

/// Beginning from what the store has of the entity.
extension EntityInference {
    /// The attributes that the store has, and those for what its key paths do not cover.
    mutating func attributes(continuing stored: ContinuedEntity) -> [AttributeDescription] {
        var own: [String: AttributeDescription] = [:]
        var columns = stored.entity.attributes.map { attribute -> AttributeDescription? in
            let kept = continued(attribute, stored)
            if kept == nil { own[attribute.column.asciiLowercased] = attribute }
            return kept
        }
        var names = ColumnNames()
        for name in stored.entity.attributes.flatMap({ [$0.name, $0.column] }) + stored.computed { names.reserve(name) }
        let computed = stored.computed.map { AttributeDescription(name: $0, type: .json) }
        let covered = CoveredPaths(columns.compactMap(\.self) + computed)
        var added: [AttributeDescription] = []
        if statistics.paths[EntityStatistics.recordKey].strings > 0, !covered.coversRecordKey {
            let name = names.name(wanted: "key")
            added.append(attribute(EntityStatistics.recordKey, named: name, type: .string, from: .recordKey))
        }
        guard !covered.isCovered else { return columns.compactMap(\.self) + added }
        if statistics.paths[EntityStatistics.record].isFull { add(.keysLeftOut, .record) }
        for column in self.columns(besides: covered, count: columns.count) {
            let from = AttributePath(keys: column.keys)
            let wanted = ColumnNames.wanted(for: column.keys).asciiLowercased
            // A column of the person's own that has the name is meant.
            if var attribute = own.removeValue(forKey: wanted),
                let place = stored.entity.attributes.firstIndex(where: { $0.column == attribute.column })
            {
                attribute.from = [from]
                columns[place] = typed(attribute, stored, path: column.path)
                continue
            }
            guard columns.count + added.count < statistics.limits.recordKeys else {
                add(.keysLeftOut, .record)
                break
            }
            let name = names.name(for: column.keys)
            added.append(attribute(column.path, named: name, type: columnType(column.path), from: from))
        }
        return columns.compactMap(\.self) + added
    }

    /// An attribute that the store has, for this source; nil where it is the table's own and the source has no value for it.
    private func continued(_ attribute: AttributeDescription, _ stored: ContinuedEntity) -> AttributeDescription? {
        if stored.undescribed.contains(ContinuedEntity.folded(attribute.column)) {
            guard let path = statistics.path(of: attribute.from[0]) else { return nil }
            return typed(attribute, stored, path: path)
        }
        var attribute = attribute
        if !stored.isRequired(attribute), statistics.records > 0, !statistics.isComplete(attribute) {
            attribute.isOptional = true
        }
        return attribute
    }

    /// An attribute of a column without a declared type holds what the source has.
    private func typed(
        _ attribute: AttributeDescription,
        _ stored: ContinuedEntity,
        path: Int
    ) -> AttributeDescription {
        var attribute = attribute
        if stored.untyped.contains(ContinuedEntity.folded(attribute.column)) { attribute.type = columnType(path) }
        return attribute
    }
}

extension EntityStatistics {
    /// Where a key path was met; nil where it was not.
    func path(of path: AttributePath) -> Int? {
        if path.isRecordKey { return Self.recordKey }
        guard path.isWithinRecord else { return nil }
        return path.keys.reduce(Self.record) { parent, key in
            parent.flatMap { parent in children(of: parent).first { ExactText(self.key(of: $0)) == ExactText(key) } }
        }
    }

    /// Whether every record has a value for an attribute, under one of its key paths.
    func isComplete(_ attribute: AttributeDescription) -> Bool {
        attribute.from.contains { path in
            guard let path = self.path(of: path) else { return false }
            if path == Self.recordKey { return paths[path].strings == records }
            return paths[path].values == records
        }
    }
}
