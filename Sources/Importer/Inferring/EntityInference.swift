import ImportModel

/// Decides on an entity so that reading its rows back gives its records again.
///
/// The outcome is a function of the merged statistics and nothing else.
struct EntityInference {
    /// An attribute in the making.
    struct Column {
        let path: Int
        let keys: [String]
    }

    let statistics: EntityStatistics
    private let name: String
    /// Objects that would have become columns, but for the number of columns.
    private var isMadeJSON: [Bool]
    private var notices: [InferenceNotice] = []

    private init(_ statistics: EntityStatistics, name: String) {
        self.statistics = statistics
        self.name = name
        isMadeJSON = Array(repeating: false, count: statistics.paths.count)
    }

    /// The entity, and what was noticed on the way, in the order of its attributes.
    static func entity(
        of statistics: EntityStatistics,
        named name: String,
        table: String?,
        records: RecordPath?,
        continuing stored: ContinuedEntity?
    ) -> (EntityDescription, [InferenceNotice]) {
        var inference = EntityInference(statistics, name: name)
        if var entity = stored?.entity, let stored {
            entity.name = name
            entity.records = records ?? entity.records
            entity.attributes = inference.attributes(continuing: stored)
            return (entity, inference.notices)
        }
        let attributes = inference.attributes()
        let entity = EntityDescription(name: name, table: table, records: records, attributes: attributes)
        return (entity, inference.notices)
    }

    private mutating func attributes() -> [AttributeDescription] {
        var names = ColumnNames()
        var attributes: [AttributeDescription] = []
        if statistics.paths[EntityStatistics.recordKey].strings > 0 {
            let path = EntityStatistics.recordKey
            // Keys are text, whatever form they have.
            let isIllFormed = statistics.paths[path].marks.contains(.illFormedString)
            let type = isIllFormed ? AttributeType.json : .string
            attributes.append(attribute(path, named: names.name(wanted: "key"), type: type, from: .recordKey))
        }
        let columns = columns()
        guard !columns.isEmpty else {
            let path = EntityStatistics.record
            let type = recordType()
            attributes.append(attribute(path, named: names.name(wanted: "value"), type: type, from: .record))
            return attributes
        }
        for column in columns {
            let from = AttributePath(keys: column.keys)
            let name = names.name(for: column.keys)
            attributes.append(attribute(column.path, named: name, type: columnType(column.path), from: from))
        }
        return attributes
    }

    mutating func attribute(
        _ path: Int,
        named name: String,
        type: AttributeType,
        from: AttributePath
    ) -> AttributeDescription {
        notice(path, type: type, from: from)
        let seen = statistics.paths[path]
        // Without records, nothing says that there will always be a value.
        let isOptional = seen.values < statistics.records || statistics.records == 0
        return AttributeDescription(name: name, type: type, isOptional: isOptional, from: [from])
    }
}

// MARK: - Types

extension EntityInference {
    /// The type of a record that goes into one attribute.
    private func recordType() -> AttributeType {
        let record = statistics.paths[EntityStatistics.record]
        if record.objects > 0 || statistics.records == 0 { return .json }
        return leafType(EntityStatistics.record)
    }

    /// The type of a path that becomes a column.
    func columnType(_ path: Int) -> AttributeType {
        statistics.paths[path].objects > 0 ? .json : leafType(path)
    }

    /// The type of a path that has no objects.
    private func leafType(_ path: Int) -> AttributeType {
        let seen = statistics.paths[path]
        // Null fits everything, and says nothing of what may come.
        if seen.values == 0 { return .string }
        if seen.arrays > 0 { return .json }
        if seen.booleans > 0 { return seen.booleans == seen.values ? .boolean : .json }
        if seen.strings == 0 { return numberType(seen) }
        if seen.marks.contains(.illFormedString) { return .json }
        if seen.numbers > 0 { return .string }
        if seen.forms.contains(.utcInstant) { return .date }
        if seen.forms.contains(.lowercaseUUID) { return .uuid }
        return .string
    }

    private func numberType(_ seen: PathStatistics) -> AttributeType {
        let needsDecimal =
            seen.bigIntegers > 0 || seen.marks.contains(.hugeNumber)
            || seen.fractions > 0 && seen.marks.contains(.inexactInteger)
        if needsDecimal { return seen.marks.contains(.wildNumber) ? .json : .decimal }
        return seen.fractions > 0 ? .double : .integer64
    }

    /// Why objects at a path stay JSON, in words; nil if they become columns, or if there are none.
    private func objectReason(_ path: Int) -> String? {
        let seen = statistics.paths[path]
        guard seen.objects > 0 else { return nil }
        // First, as what is seen of an object ends when it is full, and that may be sooner or later.
        if seen.isFull { return "they have too many different keys" }
        if path == EntityStatistics.record {
            if seen.objects < statistics.records { return "some records are no objects" }
        } else {
            if seen.objects < seen.values { return "there are other values too" }
            if seen.marks.contains(.emptyObject) { return "some have no value in them" }
        }
        if seen.marks.contains(.illFormedKey) { return "some key is not well-formed Unicode (a lone surrogate)" }
        if seen.marks.contains(.deepObject) { return "they are nested too deeply" }
        if path == EntityStatistics.record { return nil }
        let children = statistics.children(of: path)
        let members = children.reduce(0) { $0 + statistics.paths[$1].values + statistics.paths[$1].nulls }
        let keys = children.map { statistics.key(of: $0) }
        switch DictionaryKeys.reason(keys: keys, members: members, objects: seen.objects) {
        case .ids: return "their keys are numbers, UUIDs or days"
        case .languages: return "their keys are languages"
        case .sparse: return "they have \(keys.count) different keys, and each has few of them"
        case nil: return isMadeJSON[path] ? "there would be too many columns" : nil
        }
    }
}

// MARK: - Columns

extension EntityInference {
    /// The paths that become attributes, in order; none if the record goes into one attribute as a whole.
    private mutating func columns() -> [Column] {
        let record = EntityStatistics.record
        guard statistics.paths[record].objects > 0, objectReason(record) == nil else { return [] }
        var columns: [Column] = []
        var objects: [Column] = []
        collect(below: record, keys: [], columns: &columns, objects: &objects)
        guard columns.count > statistics.limits.columns else { return columns }
        makeJSON(objects, columnCount: columns.count, atMost: statistics.limits.columns)
        columns = []
        collect(below: record, keys: [], columns: &columns, objects: &objects)
        return columns
    }

    /// The paths that become attributes beside those that the store has, in order.
    ///
    /// - Parameter count: how many columns there are.
    mutating func columns(besides covered: CoveredPaths, count: Int) -> [Column] {
        let record = EntityStatistics.record
        var columns: [Column] = []
        var objects: [Column] = []
        collect(below: record, keys: [], besides: covered, columns: &columns, objects: &objects)
        let room = max(0, statistics.limits.columns - count)
        guard columns.count > room else { return columns }
        makeJSON(objects, columnCount: columns.count, atMost: room)
        columns = []
        collect(below: record, keys: [], besides: covered, columns: &columns, objects: &objects)
        return columns
    }

    /// Collects the columns below an object, and the objects that were taken apart for them.
    ///
    /// - Parameter covered: what the store has of the object; that is left out, and what leads to it is taken apart.
    private func collect(
        below path: Int,
        keys: [String],
        besides covered: CoveredPaths? = nil,
        columns: inout [Column],
        objects: inout [Column]
    ) {
        let children = statistics.children(of: path).sorted {
            let (first, second) = (statistics.paths[$0], statistics.paths[$1])
            return (first.firstOrdinal, first.firstToken) < (second.firstOrdinal, second.firstToken)
        }
        for child in children {
            let key = statistics.key(of: child)
            let column = Column(path: child, keys: keys + [key])
            if let covered = covered?[key] {
                guard !covered.isCovered else { continue }
                collect(below: child, keys: column.keys, besides: covered, columns: &columns, objects: &objects)
            } else if statistics.paths[child].objects > 0, objectReason(child) == nil {
                objects.append(column)
                collect(below: child, keys: column.keys, columns: &columns, objects: &objects)
            } else {
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
            var columns: [Column] = []
            var inner: [Column] = []
            collect(below: object.path, keys: [], columns: &columns, objects: &inner)
            isMadeJSON[object.path] = true
            count -= columns.count - 1
        }
    }

    private func isInsideJSON(_ path: Int) -> Bool {
        var path = path
        while path >= 0 {
            if isMadeJSON[path] { return true }
            path = Int(statistics.paths[path].parent)
        }
        return false
    }
}

// MARK: - Notices

extension EntityInference {
    private mutating func notice(_ path: Int, type: AttributeType, from: AttributePath) {
        let seen = statistics.paths[path]
        if let summary = identifierSummary(path, type: type), summary.isUnique {
            add(.identifierCandidate(isCertain: summary.isComplete), from)
        }
        let counts: [(JSONKind, Int64)] = [
            (.boolean, seen.booleans), (.number, seen.numbers), (.string, seen.strings), (.object, seen.objects),
            (.array, seen.arrays),
        ]
        let kinds = counts.filter { $0.1 > 0 }.map { InferenceNotice.KindCount(kind: $0.0, count: $0.1) }
        if kinds.count > 1 { add(.kinds(kinds), from) }
        if type == .string, seen.strings > 0, seen.numbers == 0,
            let form = [StringForms.day, .dayAndTime, .dotnet, .slashed, .weekday].first(where: seen.forms.contains),
            let label = form.label
        {
            add(.dates(label), from)
        }
        if let reason = objectReason(path) { add(.objectsKeptAsJSON(reason), from) }
        if seen.marks.contains(.illFormedString), seen.objects + seen.arrays + seen.booleans == 0 {
            add(.illFormedText, from)
        }
    }

    /// What is known of a path's values, if they could be identifiers at all.
    private func identifierSummary(_ path: Int, type: AttributeType) -> ValueSample.Summary? {
        let seen = statistics.paths[path]
        guard seen.sample >= 0, statistics.records > 1, seen.values == statistics.records else { return nil }
        // Not of records that are no objects, nor of numbers and strings that the store would mix.
        guard seen.integers == seen.values || seen.strings == seen.values, type != .json else { return nil }
        return statistics.samples[Int(seen.sample)].summary()
    }

    mutating func add(_ finding: InferenceNotice.Finding, _ path: AttributePath) {
        notices.append(InferenceNotice(entity: name, path: path, finding: finding))
    }
}

extension EntityStatistics {
    /// The entity that loses nothing of the records seen, and what was noticed on the way.
    ///
    /// - Parameters:
    ///   - name: the entity's name.
    ///   - table: its table's name; nil for the entity's.
    ///   - records: where its records are, to be kept in the model.
    ///   - stored: what the store has of it, which decides; nil for nothing.
    /// - Returns: the entity, with the notices in the order of its attributes.
    func entity(
        named name: String,
        table: String? = nil,
        records: RecordPath? = nil,
        continuing stored: ContinuedEntity? = nil
    ) -> (entity: EntityDescription, notices: [InferenceNotice]) {
        EntityInference.entity(of: self, named: name, table: table, records: records, continuing: stored)
    }
}
