import ImportModel
import ImportSources

/// Decides on an entity so that reading its rows back gives its objects again: records, or the objects in arrays of others.
///
/// The outcome is a function of the merged statistics and of what a person has said, and nothing else.
package struct EntityInference {
    /// An attribute or a relationship in the making.
    package struct Column {
        package let path: Int
        /// The keys that lead to it from the entity's objects on.
        package let keys: [String]
        /// The path of the elements, where it is an array that becomes a table; else nil.
        package var element: Int?
    }

    /// An array that becomes a table, under the name of its relationship.
    package struct List {
        package let name: String
        package let column: Column
    }

    /// What becomes of an array.
    package enum ArrayDecision {
        /// It is a value like any other: no object was ever in it, or nobody has asked for tables.
        case value
        /// It becomes a table of the objects at the path of its elements.
        case table(element: Int)
        /// It would, but was not named.
        case unnamed
        /// There are objects in it, and it stays JSON; why, in words.
        case kept(String)
        /// It stays JSON, as there would be more levels of child tables than were asked for.
        case tooDeep
    }

    let statistics: EntityStatistics
    let name: String
    var rules = NestingRules()
    /// The path of its objects: the record, or the elements of an array.
    var root = EntityStatistics.record
    /// The keys that lead to its objects from the record on.
    var prefix: [String] = []
    /// The names of the attributes of keys further out, the innermost first; what is missing is called as the innermost is.
    var keyNames: [String] = []
    /// True if records have an identifier: those that are no objects are rejects then.
    var isIdentified = false
    /// True if other rows can refer to its own.
    package var isKeyed = true
    /// Objects that would have become columns, but for the number of columns.
    var isMadeJSON: Set<Int> = []
    /// True if records that are arrays may be rows: the store has no other records of the entity.
    var takesRows = true
    /// True if there are more arrays of objects than there may be tables.
    var hasTooManyLists = false
    package var lists: [List] = []
    package var notices: [InferenceNotice] = []
    /// What became of arrays with objects in them that stay JSON, by their keys from the record on.
    var decisions: [(keys: [String], decision: ArrayDecision)] = []

    private var isOfRecords: Bool { root == EntityStatistics.record }

    /// How many objects there are: records, or elements of arrays.
    var objectCount: Int64 { isOfRecords ? statistics.records : statistics.paths[root].objects }

    /// The attributes; the arrays that become tables are in `lists` then.
    ///
    /// - Parameter reserved: names that no column may have.
    package mutating func attributes(besides reserved: [String] = []) -> [AttributeDescription] {
        var names = ColumnNames(reserving: reserved)
        var attributes: [AttributeDescription] = []
        attributes += keys(besides: [], &names)
        let columns = columns()
        guard !columns.isEmpty else {
            let type = recordType()
            attributes.append(attribute(root, named: names.name(wanted: "value"), type: type, from: .record))
            return attributes
        }
        let given = names.names(for: columns.map(\.keys))
        noteRenamed(columns, given)
        for (column, name) in zip(columns, given) {
            let from = AttributePath(keys: column.keys)
            if column.element != nil {
                lists.append(List(name: name, column: column))
            } else {
                attributes.append(attribute(column.path, named: name, type: columnType(column.path), from: from))
            }
        }
        return attributes
    }

    /// The attributes of the keys that lead to records, the innermost first.
    ///
    /// - Parameter levels: how far out those are that the store has.
    package mutating func keys(besides levels: Set<Int>, _ names: inout ColumnNames) -> [AttributeDescription] {
        guard isOfRecords else { return [] }
        var attributes: [AttributeDescription] = []
        for (level, path) in statistics.keyPaths.enumerated()
        where statistics.paths[path].strings > 0 && !levels.contains(level) {
            let isFile =
                rules.fileColumn != nil
                && !statistics.keyPaths.dropFirst(level + 1).contains { statistics.paths[$0].strings > 0 }
            let key = isFile ? rules.fileColumn : level > 0 && level <= keyNames.count ? keyNames[level - 1] : nil
            let name = names.name(wanted: key ?? "key")
            // Keys are text, whatever form they have.
            let type = isText(path) ? AttributeType.string : .json
            attributes.append(attribute(path, named: name, type: type, from: .recordKey(outwards: level)))
        }
        return attributes
    }

    package mutating func attribute(
        _ path: Int,
        named name: String,
        type: AttributeType,
        from: AttributePath
    ) -> AttributeDescription {
        notice(path, named: name, type: type, from: from)
        let seen = statistics.paths[path]
        // Without objects, nothing says that there will always be a value.
        let hasNone = seen.strings > 0 && type.isNumber && seen.forms.contains(.notFinite)
        let isOptional = seen.values < objectCount || objectCount == 0 || hasNone
        // Of texts, too, which may be made dates.
        let fraction = type == .date || type == .string && rules.isWhole(from.keys) ? seen.forms.fraction : 3
        return AttributeDescription(
            name: name,
            type: type,
            isOptional: isOptional,
            from: [from],
            fraction: fraction
        )
    }

    /// Says which columns have other names than their keys.
    mutating func noteRenamed(_ columns: [Column], _ names: [String]) {
        let renamed = zip(columns, names).filter { $0.element == nil && ColumnNames.wanted(for: $0.keys) != $1 }
        guard !renamed.isEmpty else { return }
        add(.renamed(renamed.map { "\(AttributePath(keys: $0.keys)) is \($1)" }), .record)
    }

    package mutating func add(_ finding: InferenceNotice.Finding, _ path: AttributePath) {
        notices.append(InferenceNotice(entity: name, path: path, finding: finding))
    }
}

// MARK: - Columns

extension EntityInference {
    /// The paths that become attributes or relationships, in order; none if the record goes into one attribute as a whole.
    private mutating func columns() -> [Column] {
        if isOfRecords, !areRows {
            guard statistics.paths[root].objects > 0, objectReason(root) == nil else { return [] }
        }
        return columns(besides: nil, count: 0)
    }

    /// The paths that become attributes or relationships beside those that the store has, in order.
    ///
    /// - Parameter count: how many columns there are.
    package mutating func columns(besides covered: ReadKeyPaths?, count: Int) -> [Column] {
        var (columns, objects) = collected(below: root, besides: covered)
        if columns.count(where: { $0.element != nil }) > statistics.limits.lists {
            hasTooManyLists = true
            (columns, objects) = collected(below: root, besides: covered)
        }
        let room = max(0, statistics.limits.columns - count)
        guard columns.count(where: { $0.element == nil }) > room else { return columns }
        makeJSON(objects, columnCount: columns.count { $0.element == nil }, atMost: room)
        return collected(below: root, besides: covered).columns
    }

    private func collected(below path: Int, besides covered: ReadKeyPaths?) -> (columns: [Column], objects: [Column]) {
        var columns: [Column] = []
        var objects: [Column] = []
        collect(below: path, keys: [], besides: covered, columns: &columns, objects: &objects)
        return (columns, objects)
    }

    /// The paths of an object's members, in the order in which they first appear.
    func children(of path: Int) -> [Int] {
        let leavesRows = path == EntityStatistics.record && !areRows
        return statistics.children(of: path).filter { child in
            let seen = statistics.paths[child]
            return !leavesRows || seen.inRows == 0 || seen.inRows < seen.values + seen.nulls
        }.sorted {
            let (first, second) = (statistics.paths[$0], statistics.paths[$1])
            return (first.firstOrdinal, first.firstToken) < (second.firstOrdinal, second.firstToken)
        }
    }

    /// Collects the columns below an object, and the objects that were taken apart for them.
    ///
    /// - Parameter covered: what the store has of the object; that is left out, and what leads to it is taken apart.
    private func collect(
        below path: Int,
        keys: [String],
        besides covered: ReadKeyPaths?,
        columns: inout [Column],
        objects: inout [Column]
    ) {
        for child in children(of: path) {
            let key = statistics.key(of: child)
            var column = Column(path: child, keys: keys + [key])
            if let covered = covered?[key] {
                guard !covered.isCovered else { continue }
                collect(below: child, keys: column.keys, besides: covered, columns: &columns, objects: &objects)
            } else if rules.policy != .json, statistics.paths[child].objects > 0, objectReason(child) == nil,
                !rules.isWhole(column.keys)
            {
                objects.append(column)
                collect(below: child, keys: column.keys, besides: nil, columns: &columns, objects: &objects)
            } else {
                if case .table(let element) = decision(onArrayAt: column) { column.element = element }
                columns.append(column)
            }
        }
    }

    /// Makes objects JSON, the ones with the most keys first, until few enough columns are left.
    private mutating func makeJSON(_ objects: [Column], columnCount: Int, atMost limit: Int) {
        let sorted = objects.sorted {
            let (first, second) = (statistics.paths[$0.path].children, statistics.paths[$1.path].children)
            if first != second { return first > second }
            return $0.keys.lexicographicallyPrecedes($1.keys) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
        var count = columnCount
        for object in sorted where count > limit {
            guard !isInsideJSON(object.path) else { continue }
            let inner = collected(below: object.path, besides: nil).columns.count { $0.element == nil }
            // One that has nothing but child tables has no columns to save.
            guard inner > 0 else { continue }
            isMadeJSON.insert(object.path)
            count -= inner - 1
        }
    }

    private func isInsideJSON(_ path: Int) -> Bool {
        var path = path
        while path >= 0 {
            if isMadeJSON.contains(path) { return true }
            path = Int(statistics.paths[path].parent)
        }
        return false
    }

    /// What becomes of an array.
    package func decision(onArrayAt column: Column) -> ArrayDecision {
        let seen = statistics.paths[column.path]
        guard rules.policy == .tables, seen.arrays > 0, seen.marks.contains(.objectElement) else { return .value }
        if seen.isFull { return .kept("their objects have too many different keys") }
        if seen.arrays < seen.values { return .kept("there are other values too") }
        if seen.marks.contains(.otherElement) { return .kept("some elements are no objects") }
        guard Int(seen.level) < rules.depth else { return .tooDeep }
        guard seen.element >= 0 else { return .kept("they are nested too deeply") }
        let element = Int(seen.element)
        if let reason = objectReason(element) { return .kept("of their objects: " + reason) }
        if statistics.children(of: element).isEmpty { return .kept("their objects have no members") }
        guard rules.allows(prefix + column.keys) else { return .unnamed }
        if hasTooManyLists { return .kept("there would be too many tables") }
        guard isKeyed else { return .kept("the rows of the table have no key that others could refer to") }
        return .table(element: element)
    }
}
