import ImportModel

/// Which type a path has, and whether its objects become columns.
extension EntityInference {
    /// True if records are rows, whose columns are attributes: arrays of scalars, or those with a header row.
    var areRows: Bool {
        let record = statistics.paths[EntityStatistics.record]
        guard root == EntityStatistics.record, takesRows, record.arrays > 0, !record.isFull else { return false }
        if rules.hasHeader { return record.arrays + record.objects == statistics.records }
        return record.arrays == statistics.records && !record.marks.contains(.objectElement)
    }

    /// The type of a record that goes into one attribute.
    func recordType() -> AttributeType {
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
        if !isText(path) { return .json }
        if seen.marks.contains(.data), seen.forms.contains(.lowercaseUUID), seen.numbers == 0 { return .uuid }
        if seen.marks.contains(.data) { return seen.forms.contains(.data) && seen.numbers == 0 ? .binary : .json }
        if rules.detectsTypes, let type = typeOfTexts(seen) { return type }
        if seen.numbers > 0 {
            return seen.forms.contains(.notFinite) && rules.reading == .found ? numberType(seen) : .string
        }
        if seen.forms.contains(.utcInstant) { return .date }
        if seen.forms.contains(.lowercaseUUID) { return .uuid }
        return .string
    }

    /// The type of what all texts of a path spell; nil where they spell nothing of one kind.
    private func typeOfTexts(_ seen: PathStatistics) -> AttributeType? {
        guard seen.booleans == 0, seen.bigIntegers == 0, seen.exactNumbers == 0, !seen.marks.contains(.decimal) else {
            return nil
        }
        if seen.forms.contains(.integerText), seen.fractions == 0 { return .integer64 }
        if seen.forms.contains(.numberText), seen.inexactIntegers == 0 { return .double }
        if seen.forms.contains(.decimalText) { return .decimal }
        guard seen.numbers == 0 else { return nil }
        if seen.forms.contains(.booleanText) { return .boolean }
        // A date has nanoseconds: what has more stays the text that it is.
        let isDate = !seen.forms.isDisjoint(with: [.day, .dayAndTime, .utcInstant])
        return isDate && seen.forms.contains(.nanoseconds) ? .date : nil
    }

    /// True if all strings of a path are texts that the store can have.
    package func isText(_ path: Int) -> Bool {
        let marks = statistics.paths[path].marks
        return !marks.contains(.illFormedString) && (rules.textsHaveNUL || !marks.contains(.stringWithNUL))
    }

    private func numberType(_ seen: PathStatistics) -> AttributeType {
        if seen.numbersBeyondDigits > 0 || seen.marks.contains(.decimal) {
            return seen.marks.contains(.wildNumber) ? .json : .decimal
        }
        return seen.fractions > 0 ? .double : .integer64
    }

    /// Why objects at a path stay JSON, in words; nil if they become columns or rows, or if there are none.
    func objectReason(_ path: Int) -> String? {
        let seen = statistics.paths[path]
        guard seen.objects > 0 else { return nil }
        // First, as what is seen of an object ends when it is full, and that may be sooner or later.
        if seen.isFull { return "they have too many different keys" }
        if path == EntityStatistics.record {
            if seen.objects < statistics.records, !isIdentified { return "some records are no objects" }
        } else if !seen.isElement {
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
        case nil: return isMadeJSON.contains(path) ? "there would be too many columns" : nil
        }
    }
}
