import ImportModel
import ImportSources

/// Beginning from what the store has of the entity.
extension EntityInference {
    /// The attributes that the store has, and those for what its key paths do not cover; arrays that become tables beside those
    /// that it has are in `lists` then.
    package mutating func attributes(continuing stored: ExistingEntity) -> [AttributeDescription] {
        let first = [RowColumns.name(0)]
        takesRows = rules.hasHeader || stored.entity.attributes.contains { $0.from.contains { $0.keys == first } }
        if stored.isForeign, !stored.isGiven { return attributes(matching: stored) }
        var own: [String: AttributeDescription] = [:]
        var columns = stored.entity.attributes.map { attribute -> AttributeDescription? in
            let kept = continued(attribute, stored)
            if kept == nil { own[attribute.column.asciiLowercased] = attribute }
            return kept
        }
        var names = ColumnNames(reserving: stored.reservedNames)
        let covered = covered(by: columns.compactMap(\.self), stored)
        isKeyed = stored.isKeyed
        var added = keys(besides: covered.keyLevels, &names)
        guard !covered.isCovered else { return columns.compactMap(\.self) + added }
        if statistics.paths[root].isFull || statistics.paths[root].isClosed { add(.keysLeftOut, .record) }
        let new = self.columns(besides: covered, count: columns.count)
        // A column of the person's own that has the name is meant.
        let keys = Set(new.filter { $0.keys.count == 1 }.map { $0.keys[0].asciiLowercased })
        func isOwn(_ column: Column) -> Bool {
            let wanted = ColumnNames.wanted(for: column.keys).asciiLowercased
            return column.element == nil && own[wanted] != nil && (column.keys.count == 1 || !keys.contains(wanted))
        }
        let unnamed = new.filter { !isOwn($0) }
        let given = names.names(for: unnamed.map(\.keys))
        noteRenamed(unnamed, given)
        let nameByPath = Dictionary(zip(unnamed.map(\.path), given)) { first, _ in first }
        var leftOut: [String] = []
        for column in new {
            let from = AttributePath(keys: column.keys)
            let wanted = ColumnNames.wanted(for: column.keys).asciiLowercased
            if column.element != nil {
                lists.append(List(name: nameByPath[column.path] ?? wanted, column: column))
                continue
            }
            if isOwn(column), var attribute = own.removeValue(forKey: wanted),
                let place = stored.entity.attributes.firstIndex(where: { $0.column == attribute.column })
            {
                attribute.from = [from]
                columns[place] = typed(attribute, stored, paths: [column.path])
                continue
            }
            guard !stored.isForeign || rules.altersTables else {
                leftOut.append(from.description)
                continue
            }
            guard columns.count + added.count < statistics.limits.recordKeys else {
                add(.keysLeftOut, .record)
                break
            }
            let name = nameByPath[column.path] ?? names.name(for: column.keys)
            added.append(attribute(column.path, named: name, type: columnType(column.path), from: from))
        }
        if !leftOut.isEmpty { add(.leftOut(leftOut), .record) }
        return columns.compactMap(\.self) + added
    }

    /// What the store has of the objects; that arrays of objects have a column there is said.
    private mutating func covered(by attributes: [AttributeDescription], _ stored: ExistingEntity) -> ReadKeyPaths {
        let computed = stored.computed.map { AttributeDescription(name: $0, type: .json) }
        var covered = ReadKeyPaths(attributes + computed)
        for case .value(let path) in stored.entity.relationships.flatMap(\.from) { covered.insert(path.keys[...]) }
        for attribute in attributes where attribute.type == .json {
            guard let path = statistics.path(of: attribute.from[0], below: root) else { continue }
            if case .table = decision(onArrayAt: Column(path: path, keys: attribute.from[0].keys)) {
                note(.kept("the table has a column of them"), attribute.from[0])
            }
        }
        return covered
    }

    /// An attribute that the store has, for this source; nil where it is the table's own and the source has no value for it.
    private mutating func continued(
        _ attribute: AttributeDescription,
        _ stored: ExistingEntity
    ) -> AttributeDescription? {
        if stored.undescribed.contains(ExistingEntity.folded(attribute.column)) {
            guard let path = statistics.path(of: attribute.from[0], below: root) else { return nil }
            return typed(attribute, stored, paths: [path])
        }
        var attribute = attribute
        if !stored.isRequired(attribute), objectCount > 0,
            !statistics.isComplete(attribute, below: root, of: objectCount)
        {
            attribute.isOptional = true
        }
        guard let path = attribute.from.first.flatMap({ statistics.path(of: $0, below: root) }) else {
            return attribute
        }
        return typed(attribute, stored, paths: [path])
    }

    /// An attribute of a BLOB column reads its texts as all of them are, and one of dates numbers where there is nothing else.
    ///
    /// - Parameter paths: where its values are, the nearest key first.
    mutating func typed(
        _ attribute: AttributeDescription,
        _ stored: ExistingEntity,
        paths: [Int]
    ) -> AttributeDescription {
        var attribute = attribute
        let column = ExistingEntity.folded(attribute.column)
        let seen = statistics.paths[paths[0]]
        if attribute.type == .date, stored.undescribed.contains(column), seen.numbers > 0, seen.numbers == seen.values {
            attribute.formats += [DateFormat.unix, .unixMilliseconds].map(\.name).filter {
                !attribute.formats.contains($0) && (attribute.storage?.isNumber != true)
            }
        }
        let texts = paths.map { statistics.paths[$0] }.filter { $0.strings > 0 }
        if let rows = stored.bytes[column], let first = texts.first,
            !texts.contains(where: { $0.marks.contains(.data) })
        {
            let format = rows.format(ofAll: texts.reduce(first.forms) { $0.intersection($1.forms) })
            attribute.formats = [format.rawValue]
            add(.bytes(format), attribute.from[0])
        }
        return attribute
    }
}

extension ExistingEntity {
    /// The names that no new attribute or relationship may have.
    var reservedNames: [String] {
        entity.attributes.flatMap { [$0.name, $0.column] } + computed + links + entity.relationships.map(\.name)
    }
}

extension EntityStatistics {
    /// Where a key path below another path was met; nil where it was not.
    package func path(of path: AttributePath, below root: Int = Self.record) -> Int? {
        if let level = path.keyLevel {
            let path = Self.recordKey + level
            return root == Self.record && keyPaths.contains(path) ? path : nil
        }
        guard path.isWithinRecord else { return nil }
        return path.keys.reduce(root) { parent, key in
            parent.flatMap { parent in
                children(of: parent).first { BytewiseString(self.key(of: $0)) == BytewiseString(key) }
            }
        }
    }

    /// True if each of the objects at a path has a value for an attribute, under one of its key paths.
    package func isComplete(_ attribute: AttributeDescription, below root: Int, of objects: Int64) -> Bool {
        attribute.from.contains { path in
            guard let path = self.path(of: path, below: root) else { return false }
            if keyPaths.contains(path) { return paths[path].strings == objects }
            return paths[path].values == objects
        }
    }
}
