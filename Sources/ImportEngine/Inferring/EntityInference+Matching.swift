import ImportModel
import ImportSources

/// The keys of records for the columns of a table that a person or an app has made.
extension EntityInference {
    /// A key, or several with one name together, that a column may have its values from.
    private struct Source {
        let keys: [String]
        let path: Int
        /// The lower, the nearer to the column's name.
        let distance: Int
    }

    /// The distance of a part of an object is at least this.
    private static let part = 10

    /// An attribute for each column that has a key; keys without a column are left out, unless the table may be altered.
    mutating func attributes(matching stored: ExistingEntity) -> [AttributeDescription] {
        let own = stored.entity.attributes
        let matcher = ColumnMatcher(own.map(\.column) + stored.computed)
        var sources: [Int: [Source]] = [:]
        match(below: root, [], matcher, &sources)
        var columns = [AttributeDescription?](repeating: nil, count: own.count)
        var matched: [String] = []
        for (index, attribute) in own.enumerated() {
            guard let found = sources[index]?.sorted(by: { $0.distance < $1.distance }) else { continue }
            var attribute = typed(attribute, stored, paths: found.map(\.path))
            attribute.from = found.map { AttributePath(keys: $0.keys) }
            attribute.isOptional = true
            columns[index] = attribute
            for key in found where key.distance % Self.part > 0 {
                matched.append("\(AttributePath(keys: key.keys)) is \(attribute.column)")
            }
        }
        if !matched.isEmpty { add(.matched(matched), .record) }
        var names = ColumnNames(reserving: stored.reservedNames)
        isKeyed = stored.isKeyed || stored.keys.contains { $0.columns.count == 1 }
        var (added, leftOut): ([AttributeDescription], [String]) = ([], [])
        func place(_ wanted: String) -> Int? {
            matcher.column(for: [wanted]).flatMap { $0.index < own.count && columns[$0.index] == nil ? $0.index : nil }
        }
        var fresh = ColumnNames()
        for key in keys(besides: [], &fresh) {
            if let index = place(key.name) {
                columns[index] = own[index]
                columns[index]?.from = key.from
            } else if rules.altersTables {
                added.append(key)
                added[added.count - 1].name = names.name(wanted: key.name)
                added[added.count - 1].column = added[added.count - 1].name
            } else {
                leftOut.append(key.name)
            }
        }
        var read = columns.compactMap(\.self)
        // What the table computes.
        for path in sources.filter({ $0.key >= own.count }).values.joined().map({ AttributePath(keys: $0.keys) }) {
            leftOut.append(path.description)
            read.append(AttributeDescription(name: "", type: .json, from: [path]))
        }
        let new = self.columns(besides: ReadKeyPaths(read.filter { $0.from[0].keyLevel == nil }), count: read.count)
        if new.isEmpty, read.isEmpty, objectCount > 0, let index = place("value") {
            columns[index] = own[index]
            columns[index]?.from = [.record]
        }
        let given = names.names(for: new.map(\.keys))
        for (column, name) in zip(new, given) {
            let from = AttributePath(keys: column.keys)
            if column.element != nil {
                lists.append(List(name: name, column: column))
            } else if rules.altersTables, columns.count + added.count < statistics.limits.recordKeys {
                added.append(attribute(column.path, named: name, type: columnType(column.path), from: from))
            } else {
                leftOut.append(from.description)
            }
        }
        if !leftOut.isEmpty { add(.leftOut(leftOut), .record) }
        return columns.compactMap(\.self) + added
    }

    /// Finds the columns of the keys below an object: that of a key has its whole value, else those of the keys in it have its parts.
    private func match(below path: Int, _ keys: [String], _ matcher: ColumnMatcher, _ sources: inout [Int: [Source]]) {
        for child in children(of: path) {
            let keys = keys + [statistics.key(of: child)]
            if let (index, nearness) = matcher.column(for: keys) {
                let distance = nearness.rawValue + (keys.count > 1 ? Self.part : 0)
                sources[index, default: []].append(Source(keys: keys, path: child, distance: distance))
            } else if statistics.paths[child].objects > 0, rules.policy != .json {
                match(below: child, keys, matcher, &sources)
            }
        }
    }

    /// Makes the first of a table's keys that every object has the identifier, unless something else is said: that of earlier imports,
    /// the primary key, a unique constraint.
    mutating func chooseIdentifier(of entity: inout EntityDescription, _ stored: ExistingEntity) {
        entity.identifier = []
        guard !rules.saysIdentifier, objectCount > 0 else { return }
        var keys = stored.keys
        if !stored.entity.identifier.isEmpty, !keys.contains(where: { $0.columns == stored.entity.identifierColumns }) {
            keys.insert(ExistingEntity.Key(columns: stored.entity.identifierColumns, isPrimary: false), at: 0)
        }
        for key in keys {
            let found = key.columns.compactMap { column in
                entity.attributes.firstIndex { ExistingEntity.folded($0.column) == ExistingEntity.folded(column) }
            }
            guard found.count == key.columns.count, found.allSatisfy({ isComplete(entity.attributes[$0]) }) else {
                // By another key, a record could change the primary key of an object.
                if key.isPrimary, !found.isEmpty { return }
                continue
            }
            add(.merged(by: key.columns, isPrimaryKey: key.isPrimary), .record)
            entity.identifier = found.map { entity.attributes[$0].name }
            for place in found { entity.attributes[place].isOptional = false }
            return
        }
    }

    /// True if each object has a value for an attribute.
    private func isComplete(_ attribute: AttributeDescription) -> Bool {
        if statistics.isComplete(attribute, below: root, of: objectCount) { return true }
        let paths = attribute.from.compactMap { statistics.path(of: $0, below: root) }
        return paths.count > 1 && paths.reduce(0) { $0 + statistics.paths[$1].values } >= objectCount
    }
}
