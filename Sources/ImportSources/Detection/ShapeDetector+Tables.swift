import ImportModel

/// Tables that are not written as records: rows beside the names of their columns, and columns.
extension ShapeDetector {
    /// An array in a document, and the way to it.
    private struct Place {
        let value: Int
        let steps: [RecordPath.Step]

        /// The last key on the way.
        var name: String {
            for case .key(let name) in steps.reversed() { return name.lowercased() }
            return ""
        }
    }

    /// How far down tables and names are looked for, in steps.
    private static let tableDepth = 8

    /// The form of a document that is a table; nil for any other.
    func table(_ asked: FormHints) -> FoundForm? {
        guard topLevelValues.count == 1, tape.tokens[topLevelValues[0]].kind == .object else { return nil }
        if !hints.paths.isEmpty, asked.shape == nil,
            hints.paths.contains(where: { leads(to: $0) && !$0.steps.contains(.anyElement) })
        {
            return nil
        }
        if asked.shape != .rows, let (place, names) = namedColumns, let found = columns(at: place, names, asked) {
            return found
        }
        if asked.shape != .columns, let found = rows(asked) ?? noRows(asked) { return found }
        guard asked.shape != .rows, let place = columns(in: topLevelValues[0], [], asked),
            asked.shape == .columns || asked.others?.kind == .columns || isWorthTurning(place) && !isInRecord(place)
        else { return nil }
        return columns(at: place, nil, asked)
    }

    // MARK: Rows

    private func rows(_ asked: FormHints) -> FoundForm? {
        var arrays: [Place] = []
        findArrays(topLevelValues[0], [], &arrays)
        var rows = arrays.filter { rowWidth(of: $0.value) > 0 }
        if rows.count == 2, isIndex(rows[0], of: rows[1]) { rows.removeFirst() }
        guard !hints.haveHeader, let table = rows.first, rows.count == 1 else { return nil }
        let width = rowWidth(of: table.value)
        let others = arrays.filter { $0.value != table.value }
        let descriptions = others.filter { asked.shape == .rows || isNameOfNames($0) }
            .compactMap { descriptionNames(in: $0, width) }
        let lists = others.compactMap { nameTexts(in: $0, width, isAsked: asked.shape == .rows) }
        let named = descriptions.first ?? lists.first { Self.isNameOfNames($0.place.name) } ?? lists.first
        guard let (place, names) = named else { return nil }
        // Where there are records, these are not rows.
        let records = others.filter { other in
            isArrayOfObjects(other.value) && !children(of: other.value, limit: 1).isEmpty
                && ![place, table].contains { other.steps.starts(with: $0.steps) }
                && (descriptions.isEmpty || !isBeside(other, place, of: table))
                && !table.steps.starts(with: other.steps)
        }
        let areNamedRows =
            place.steps.dropLast() == table.steps.dropLast() && place.name == "columns"
            && Self.listNames.contains(table.name)
            && records.allSatisfy { $0.steps.dropLast() == table.steps.dropLast() }
        guard asked.shape == .rows || records.isEmpty || areNamedRows else { return nil }
        let path = RecordPath(steps: table.steps + [.anyElement])
        var form = SourceForm(
            .rows,
            path: path,
            names: RowColumns.names(names.map(JSONValue.string)),
            maxBytes: asked.maxBytes
        )
        if others.contains(where: { isIndex($0, of: table) }) { form.index = names.contains("key") ? "key_2" : "key" }
        let detector = ShapeDetector(form.rewritten(text), isWhole: isWhole, hints: hints)
        let reason = "rows, whose columns are named at \(RecordPath(steps: place.steps + [.anyElement]))"
        return FoundForm(
            form: form,
            detector: detector,
            detection: .found(layout: .stream, paths: [path], reason: reason)
        )
    }

    /// True if an array is beside descriptions in an object that has not the rows: it says more of these.
    private func isBeside(_ other: Place, _ place: Place, of rows: Place) -> Bool {
        place.steps.count > 1 && place.steps.first != rows.steps.first && other.steps.first == place.steps.first
    }

    /// True if an array before rows has a value for each of them that is not just its number, as pandas writes it.
    private func isIndex(_ place: Place, of rows: Place) -> Bool {
        let values = children(of: place.value, limit: 200)
        return place.name == SourceForm.indexKey && place.value < rows.value
            && place.steps.dropLast() == rows.steps.dropLast()
            && values.allSatisfy { tape.tokens[$0].kind != .object }
            && !areNumbered(values)
    }

    /// The form of a document that has the names of columns, and no row; nil for any other.
    private func noRows(_ asked: FormHints) -> FoundForm? {
        guard !hints.paths.contains(where: leads) else { return nil }
        var arrays: [Place] = []
        findArrays(topLevelValues[0], [], &arrays)
        guard let table = arrays.first(where: { isEmpty($0.value) && Self.listNames.contains($0.name) }),
            !isInRecord(table)
        else { return nil }
        let all = arrays.filter { !isEmpty($0.value) && !table.steps.starts(with: $0.steps) }
        let columns = all.first { isNameOfNames($0) && describes($0) }
        let others = all.filter { other in
            columns.map { other.value == $0.value || !isBeside(other, $0, of: table) } ?? true
        }
        func describes(_ place: Place) -> Bool {
            descriptionNames(in: place, children(of: place.value).count) != nil
        }
        let areNames = others.allSatisfy { place in
            let elements = children(of: place.value)
            return elements.allSatisfy { tape.tokens[$0].kind == .string } || describes(place)
                || place.name == "columns" && areNumbered(elements)
        }
        let named = others.filter(isNameOfNames).lazy.compactMap { place in
            let count = self.children(of: place.value).count
            return self.descriptionNames(in: place, count) ?? self.nameTexts(in: place, count, isAsked: true)
        }
        guard areNames, let names = named.first?.names else { return nil }
        let path = RecordPath(steps: table.steps + [.anyElement])
        let form = SourceForm(.rows, path: path, names: names, maxBytes: asked.maxBytes)
        let reason = "an empty array of rows"
        return FoundForm(
            form: form,
            detector: self,
            detection: .found(layout: .stream, paths: [path], reason: reason)
        )
    }

    /// The only list of objects beside the descriptions of its columns, in the one element of an array.
    var describedRecords: RecordPath? {
        var arrays: [Place] = []
        findArrays(topLevelValues[0], [], &arrays)
        let columns = arrays.filter {
            Self.isNameOfNames($0.name) && descriptionNames(in: $0, children(of: $0.value).count) != nil
        }
        guard columns.count == 1, columns[0].steps.contains(.anyElement) else { return nil }
        let owner = columns[0].steps.dropLast()
        let lists = arrays.filter {
            $0.steps.dropLast() == owner && $0.steps != columns[0].steps && isArrayOfObjects($0.value)
        }
        return lists.count == 1 ? RecordPath(steps: lists[0].steps + [.anyElement]) : nil
    }

    private func findArrays(_ value: Int, _ steps: [RecordPath.Step], _ found: inout [Place]) {
        guard steps.count < Self.tableDepth else { return }
        switch tape.tokens[value].kind {
        case .object:
            for member in members(of: value).prefix(200) {
                findArrays(member.value, steps + [.key(key(member.key))], &found)
            }
        case .array:
            found.append(Place(value: value, steps: steps))
            let elements = children(of: value, limit: 2)
            if elements.count == 1, tape.tokens[elements[0]].kind == .object {
                findArrays(elements[0], steps + [.anyElement], &found)
            }
        default: break
        }
    }

    /// How many values each of the rows in an array has; 0 where it does not have rows.
    private func rowWidth(of array: Int) -> Int {
        let rows = children(of: array, limit: 200).filter { tape.tokens[$0].next != 0 }
        let widths = rows.map { row -> Int in
            if tape.tokens[row].kind == .array { return children(of: row).count }
            // `{"c":[{"v":1}]}` and `{"f":[{"v":"1"}]}`
            let members = members(of: row)
            guard let cells = members.first(where: { ["c", "f"].contains(key($0.key)) }), members.count <= 2,
                tape.tokens[cells.value].kind == .array
            else { return 0 }
            let values = children(of: cells.value)
            let areCells = values.allSatisfy { cell in
                tape.tokens[cell].kind == .null || self.members(of: cell).contains { key($0.key) == "v" }
                    || tape.tokens[cell].kind == .object && self.members(of: cell).isEmpty
            }
            return areCells ? values.count : 0
        }
        return Set(widths).count == 1 ? widths[0] : 0
    }

    /// The keys that name a column in what describes it.
    static let columnKeys = ["name", "id", "label", "field", "column", "fieldName", "column_name"]

    private static func isNameOfNames(_ name: String) -> Bool {
        ["column", "field", "name", "head", "meta", "schema", "cols", "keys", "label", "rowtype"].contains {
            name.contains($0)
        }
    }

    /// True if a key on the way to an array says that it names or describes something.
    private func isNameOfNames(_ place: Place) -> Bool {
        place.steps.contains {
            if case .key(let name) = $0 { Self.isNameOfNames(name.lowercased()) } else { false }
        }
    }

    /// The names in an array of as many objects that describe columns.
    private func descriptionNames(in place: Place, _ width: Int) -> (place: Place, names: [String])? {
        let objects = children(of: place.value)
        guard objects.count == width,
            objects.allSatisfy({ tape.tokens[$0].kind == .object && tape.tokens[$0].next != 0 })
        else { return nil }
        guard objects.allSatisfy(describesColumn) else { return nil }
        let names = Self.columnKeys.lazy.compactMap { name -> [String]? in
            let names = objects.compactMap { object in
                self.members(of: object).first { self.key($0.key) == name }.flatMap { self.nonEmptyText($0.value) }
            }
            return names.count == width ? names : nil
        }
        let all = Array(names)
        return (all.first { Set($0).count == width } ?? all.first).map { (place, $0) }
    }

    /// True if an object says nothing but what a column is called and of what type it is.
    private func describesColumn(_ object: Int) -> Bool {
        let members = members(of: object).map { (key: key($0.key), value: $0.value) }
        return members.contains { $0.key.lowercased().contains("type") }
            || members.allSatisfy {
                Self.columnKeys.contains($0.key) && tape.tokens[$0.value].kind == .string
                    || Self.columnNotes.contains($0.key)
            }
    }

    private static let columnNotes: Set = [
        "title", "description", "text", "unit", "units", "nullable", "mode", "format", "precision", "scale", "width",
        "align", "tooltip", "help", "display_name", "displayName", "alias", "field_ref",
    ]

    /// The texts in an array of as many.
    private func nameTexts(in place: Place, _ width: Int, isAsked: Bool) -> (place: Place, names: [String])? {
        let elements = children(of: place.value)
        // Columns without names are numbered.
        let areNumbered = place.name == "columns" && areNumbered(elements)
        let names = areNumbered ? elements.indices.map { "\($0)" } : elements.compactMap(nonEmptyText)
        guard elements.count == width, names.count == width, tape.tokens[place.value].next != 0,
            Set(names).count == width,
            isAsked || Self.isNameOfNames(place.name)
        else { return nil }
        return (place, names)
    }

    /// True if values are the numbers from 0.
    private func areNumbered(_ values: [Int]) -> Bool {
        values.enumerated().allSatisfy { number, value in bytes(of: value) { $0.buffer.elementsEqual("\(number)".utf8) }
        }
    }

    private func nonEmptyText(_ value: Int) -> String? {
        guard tape.tokens[value].kind == .string, tape.tokens[value].length > 0 else { return nil }
        return key(value)
    }

    /// True if objects of a candidate are the columns that the records of another one have.
    func describes(_ candidate: Candidate, _ other: Candidate) -> Bool {
        guard describesColumns(candidate), other.kind == .array, other.path != candidate.path else { return false }
        let keys = recordKeys(at: other.path)
        let objects = firstValues(at: candidate.path)
        return !keys.isEmpty && objects.count >= keys.count
            && Self.columnKeys.contains { name in
                Set(
                    objects.compactMap { object in
                        members(of: object).first { key($0.key) == name }.map { BytewiseString(key($0.value)) }
                    }
                ).isSuperset(of: keys)
            }
    }

    // MARK: Columns

    /// - Parameter names: what the document names the columns; nil where it does not.
    private func columns(at place: Place, _ names: [String]?, _ asked: FormHints) -> FoundForm? {
        let path = RecordPath(steps: place.steps + [.anyElement])
        var form = SourceForm(.columns, path: RecordPath(steps: place.steps), names: names, maxBytes: asked.maxBytes)
        let isCut = !isWhole || hints.isSkeleton
        form.maxBytes = asked.maxBytes
        guard !isCut else {
            let detection = Detection.found(layout: .stream, paths: [path], reason: Self.columnsReason)
            return FoundForm(form: form, detector: self, detection: detection, isUnsure: true)
        }
        guard bytes(of: place.value, { ColumnTurner(Array($0.buffer), areNamed: names != nil) != nil }) else {
            return nil
        }
        let detector = ShapeDetector(form.whole(text), isWhole: isWhole, hints: hints)
        return FoundForm(
            form: form,
            detector: detector,
            detection: .found(layout: .stream, paths: [path], reason: Self.columnsReason)
        )
    }

    /// True if the document is an object of columns that is not read as one, as there are too few of them, or rows.
    package var mayBeColumns: Bool {
        guard let object = topLevelValues.first, topLevelValues.count == 1, isWhole, !hints.isStrict,
            tape.tokens[object].kind == .object
        else { return false }
        let members = members(of: object)
        var asked = FormHints()
        asked.shape = .columns
        return members.first.map { tape.tokens[$0.value].kind == .array } == true && areColumns(in: object, asked)
    }

    /// True if a few arrays are not of one length by chance.
    private func isWorthTurning(_ place: Place) -> Bool {
        let members = members(of: place.value)
        guard tape.tokens[members[0].value].kind == .array, isWhole, !hints.isSkeleton else { return true }
        let rows = children(of: members[0].value, limit: 3)
        let kinds = Set(members.compactMap { children(of: $0.value, limit: 1).first }.map { tape.tokens[$0].kind })
            .subtracting([.array, .object])
        return rows.count > 2 || rows.count == 2 && kinds.count > 1
    }

    /// True if an object around columns says which record it is.
    private func isInRecord(_ place: Place) -> Bool {
        var value = topLevelValues[0]
        for step in place.steps {
            let isRecord = members(of: value).contains {
                Self.identityKeys.contains(key($0.key).lowercased())
                    && [.string, .number].contains(tape.tokens[$0.value].kind)
            }
            guard !isRecord, let next = values(at: [step], in: value)?.first else { return true }
            value = next
        }
        return false
    }

    private static let columnsReason = "columns, read row by row"

    /// The first object of columns in a value.
    private func columns(in value: Int, _ steps: [RecordPath.Step], _ asked: FormHints) -> Place? {
        guard steps.count < 4, tape.tokens[value].kind == .object else { return nil }
        if areColumns(in: value, asked) { return Place(value: value, steps: steps) }
        let members = members(of: value)
        let found = members.compactMap { columns(in: $0.value, steps + [.key(key($0.key))], asked) }
        guard found.count == 1 else { return nil }
        // What has lists of records has no columns beside them, but what describes them.
        let lists = members.map(\.value).filter { isArrayOfObjects($0) && !children(of: $0, limit: 1).isEmpty }
        let count = self.members(of: found[0].value).count
        return lists.allSatisfy { children(of: $0).count == count && areDescriptions($0) } ? found[0] : nil
    }

    /// True if each object of an array names something.
    private func areDescriptions(_ array: Int) -> Bool {
        children(of: array).allSatisfy { object in
            members(of: object).contains { Self.columnKeys.contains(key($0.key)) }
        }
    }

    /// The columns that objects elsewhere in the document describe, and their names; nil where there are none.
    private var namedColumns: (Place, [String])? {
        var arrays: [Place] = []
        findArrays(topLevelValues[0], [], &arrays)
        // Where there are records or rows besides, these are no columns.
        let lists = arrays.filter { isArrayOfObjects($0.value) && !isEmpty($0.value) }
        guard lists.count == 1, Self.isNameOfNames(lists[0].name), children(of: lists[0].value).allSatisfy(haveType),
            let names = descriptionNames(in: lists[0], children(of: lists[0].value).count)?.names, !names.isEmpty,
            let columns = object(of: names, in: topLevelValues[0], [])
        else { return nil }
        let haveRows = arrays.contains { rowWidth(of: $0.value) > 0 && !$0.steps.starts(with: columns.steps) }
        return haveRows ? nil : (columns, names)
    }

    /// True if an object says of what type something is.
    private func haveType(_ object: Int) -> Bool {
        members(of: object).contains { key($0.key).lowercased().contains("type") }
    }

    /// The first object in a value with these keys, all of them with an array.
    private func object(of names: [String], in value: Int, _ steps: [RecordPath.Step]) -> Place? {
        guard steps.count < 4, tape.tokens[value].kind == .object else { return nil }
        let members = members(of: value)
        let keys = members.map { key($0.key) }
        let isOpen = tape.tokens[value].next == 0
        if members.allSatisfy({ tape.tokens[$0.value].kind == .array }),
            isOpen && !keys.isEmpty ? names.starts(with: keys) : Set(keys) == Set(names) && keys.count == names.count
        {
            return Place(value: value, steps: steps)
        }
        return members.lazy.compactMap { self.object(of: names, in: $0.value, steps + [.key(self.key($0.key))]) }.first
    }

    private func areColumns(in object: Int, _ asked: FormHints) -> Bool {
        let members = members(of: object)
        // Where other sources have rows, there may be one, or none.
        let (isAsked, takesFew) = (asked.shape == .columns, asked.others?.kind == .columns)
        let isCut = !isWhole || hints.isSkeleton
        guard members.count > 1 || isCut && !members.isEmpty, members.count <= 10_000 else { return false }
        let kind = tape.tokens[members[0].value].kind
        guard members.allSatisfy({ tape.tokens[$0.value].kind == kind }) else { return false }
        if kind == .array {
            let counts = members.map { children(of: $0.value).count }
            let kinds = members.map { member in
                let kinds = Set(children(of: member.value, limit: 200).map { tape.tokens[$0].kind })
                return (hasObjects: kinds.contains(.object), hasArrays: kinds.contains(.array))
            }
            // Rows of several lengths, and what may be their names, are no columns.
            let areRows = zip(members, kinds).contains {
                $1.hasArrays && Self.listNames.contains(key($0.key).lowercased())
            }
            // Beside one column, lists of one length may be points, or a matrix.
            let isSure =
                kinds.count { !$0.hasArrays } > 1
                || object == topLevelValues[0] && members.contains { isRagged($0.value) }
            return (counts[0] > 0 || takesFew) && !areRows && (isSure || isAsked || isCut || takesFew)
                && (isCut || ColumnTurner.areColumns(kinds) && Set(counts).count == 1)
        }
        guard kind == .object else { return false }
        let columns = members.map { $0.value }
        let (keys, outer) = (self.members(of: columns[0]).map { key($0.key) }, members.map { key($0.key) })
        // Objects by key alone are tables.
        let haveValues = columns.contains { column in
            children(of: column, limit: 200).contains { tape.tokens[$0].kind != .object }
        }
        let kinds = Set(columns.compactMap { children(of: $0, limit: 1).first }.map { tape.tokens[$0].kind })
        // One row by its key, with values of several kinds.
        let isRow = keys.count == 1 && kinds.subtracting([.null]).count > 1
        let areFew =
            keys.isEmpty
            ? takesFew
            : haveValues && (takesFew || isRow) && Self.areData(keys + keys)
        guard areFew || !keys.isEmpty && (isAsked || haveValues && (keys == ["0"] || Self.areData(keys))),
            !Self.areData(outer),
            Set(outer).count == outer.count
        else { return false }
        return isCut || columns.dropFirst().allSatisfy { self.members(of: $0).map { self.key($0.key) } == keys }
    }

    /// True if an array has lists of several lengths.
    private func isRagged(_ array: Int) -> Bool {
        let lists = children(of: array, limit: 200)
        return lists.allSatisfy { tape.tokens[$0].kind == .array }
            && Set(lists.map { children(of: $0).count }).count > 1
    }

    private static func areData(_ keys: [String]) -> Bool {
        DictionaryKeys.reason(keys: keys, members: Int64(keys.count), objects: 1) == .ids
    }
}

extension SourceForm {
    /// All of a text, rewritten, also what comes in pieces.
    func whole(_ text: [UInt8]) -> [UInt8] {
        var (rewriter, output) = (self.rewriter, [UInt8]())
        rewriter.add(text[...], to: &output)
        while rewriter.pull(to: &output) {}
        rewriter.finish(to: &output)
        return output
    }
}
