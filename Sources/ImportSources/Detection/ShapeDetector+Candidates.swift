import Foundation
import ImportModel

extension ShapeDetector {
    /// How far down candidates are looked for, in keys.
    private static let maxKeys = 3
    /// An object of this many objects is a dictionary: its keys are data, and paths through them mean nothing.
    private static let dictionarySize = 10
    /// How many members or elements are looked at to judge the rest.
    private static let judgedChildren = 200

    /// The collections in a top-level object, in their order.
    package func candidates(in object: Int) -> [Candidate] {
        var found: [Candidate] = []
        collect(in: object, steps: [], invalidKey: nil, into: &found)
        return found
    }

    /// - Parameter invalidKey: where the first byte is that is not UTF-8 in a key of `steps`.
    private func collect(
        in object: Int,
        steps: [RecordPath.Step],
        invalidKey: Int?,
        into found: inout [Candidate]
    ) {
        func add(_ container: Int, _ steps: [RecordPath.Step], _ kind: Candidate.Kind, _ values: [Int], _ invalid: Int?)
        {
            let token = tape.tokens[container]
            let isOpen = token.next == 0
            found.append(
                Candidate(
                    path: RecordPath(steps: steps),
                    kind: kind,
                    count: values.count,
                    isWhole: !isOpen,
                    bytes: isOpen ? text.count - Int(token.start) : Int(token.length),
                    width: kind == .arrays ? width(of: values) : 0,
                    invalidKeyOffset: invalid
                )
            )
        }
        let members = members(of: object)
        let values = members.map(\.value)
        if areTables(members) {
            for member in members where !isEmpty(member.value) {
                let steps = steps + [.key(key(member.key)), .anyMember]
                let invalid = invalidKey ?? firstInvalidByte(of: member.key)
                add(member.value, steps, .keyed, children(of: member.value), invalid)
            }
            return
        }
        if values.count >= 2, values.allSatisfy({ tape.tokens[$0].kind == .object }) {
            if shareKeys(values) {
                add(object, steps + [.anyMember], .keyed, values, invalidKey)
                return
            }
            if values.count >= Self.dictionarySize { return }
        }
        // A frame of one row, by its key.
        if steps.isEmpty, members.count == 1, tape.tokens[values[0]].kind == .object, !isEmpty(values[0]),
            !hints.hasModel,
            DictionaryKeys.isID(key(members[0].key)) || DictionaryKeys.isRowID(key(members[0].key)),
            candidates(in: values[0]).isEmpty
        {
            add(object, steps + [.anyMember], .keyed, values, invalidKey)
            return
        }
        if areArraysByKey(members) {
            add(object, steps + [.anyMember, .anyElement], .keyedArrays, values, invalidKey)
            return
        }
        // HAL's links lead to other documents (RFC 8288's relations).
        for member in members where key(member.key) != "_links" {
            let steps = steps + [.key(key(member.key))]
            let invalidKey = invalidKey ?? firstInvalidByte(of: member.key)
            switch tape.tokens[member.value].kind {
            case .array:
                let kinds: [(JSONKind, Candidate.Kind)] = [(.object, .array), (.array, .arrays)]
                let kind = kinds.first { isArray(member.value, of: $0.0) }?.1 ?? (isEmpty(member.value) ? .arrays : nil)
                guard let kind else { continue }
                add(member.value, steps + [.anyElement], kind, children(of: member.value), invalidKey)
            case .object where steps.count < Self.maxKeys:
                collect(in: member.value, steps: steps, invalidKey: invalidKey, into: &found)
            default: break
            }
        }
    }

    /// True if these are arrays of objects of one kind: their keys are data, or there are several whose objects have mostly
    /// the same keys.
    private func areArraysByKey(_ members: [(key: Int, value: Int)]) -> Bool {
        // Scalars beside them say when they were written, or how many there are.
        let lists = members.filter { [.array, .object].contains(tape.tokens[$0.value].kind) }
        let arrays = lists.map(\.value).filter { !isEmpty($0) || tape.tokens[$0].kind != .array }
        guard !arrays.isEmpty, arrays.allSatisfy({ isArrayOfObjects($0) }) else { return false }
        let heads = arrays.compactMap { children(of: $0, limit: 1).first }.filter { tape.tokens[$0].kind == .object }
        guard shareKeys(heads) else { return false }
        if lists.allSatisfy({ DictionaryKeys.isID(key($0.key)) || DictionaryKeys.isRowID(key($0.key)) }) { return true }
        let common = Set(keyCounts(of: heads).filter { $0.value * 2 > heads.count }.keys)
        return arrays.count >= 3 && arrays.count == members.count
            && heads.allSatisfy { head in
                let keys = keys(of: head)
                return keys.count { common.contains(keyBytes($0)) } * 2 > keys.count
            }
    }

    /// True if these are tables by name, whose rows are objects by number or id, as tinydb writes them.
    private func areTables(_ members: [(key: Int, value: Int)]) -> Bool {
        guard members.count >= 2, members.count <= RecordMatcher.maximumPaths, !hints.hasModel,
            members.allSatisfy({ tape.tokens[$0.value].kind == .object && !DictionaryKeys.isRowID(key($0.key)) })
        else { return false }
        let rows = members.flatMap { self.members(of: $0.value).prefix(Self.judgedChildren) }
        return !rows.isEmpty
            && rows.allSatisfy { tape.tokens[$0.value].kind == .object && DictionaryKeys.isRowID(key($0.key)) }
            && (members.count < Self.dictionarySize || !shareKeys(rows.map(\.value)))
    }

    /// How many values the first of some rows has; 0 where it has arrays, as coordinates have.
    private func width(of rows: [Int]) -> Int {
        let cells = rows.first.map { children(of: $0) } ?? []
        return cells.allSatisfy { tape.tokens[$0].kind == .array } ? 0 : cells.count
    }

    /// True if nothing is in a container.
    func isEmpty(_ container: Int) -> Bool { Int(tape.tokens[container].next) == container + 1 }

    /// True if an array of objects describes the columns of rows: by its key, and as each says a name and a type.
    func describesColumns(_ candidate: Candidate) -> Bool {
        guard candidate.kind == .array, case .key(let name)? = candidate.path.steps.dropLast().last,
            ["meta", "col", "field", "schema", "head"].contains(where: name.lowercased().contains)
        else { return false }
        let keys = recordKeys(at: candidate.path).map { $0.text.lowercased() }
        return keys.contains { $0.hasSuffix("type") }
            && keys.contains { ["name", "id", "label", "field", "column", "fieldname", "column_name"].contains($0) }
    }

    /// True if this is an array, and more than half of its elements are objects.
    package func isArrayOfObjects(_ value: Int) -> Bool { isArray(value, of: .object) }

    /// True if this is an array, and more than half of its elements are of a kind; values of Extended JSON are no objects.
    private func isArray(_ value: Int, of kind: JSONKind) -> Bool {
        guard tape.tokens[value].kind == .array else { return false }
        let elements = children(of: value, limit: Self.judgedChildren)
        return elements.count { tape.tokens[$0].kind == kind && !isExtended($0) } * 2 > elements.count
    }

    /// True if an object is a value of Extended JSON.
    private func isExtended(_ value: Int) -> Bool {
        let token = tape.tokens[value]
        guard token.kind == .object, token.next != 0, token.length > 0, !hints.isStrict else { return false }
        return text.withUnsafeBufferPointer {
            ExtendedJSON(ByteView($0)[Int(token.start)..<Int(token.start + token.length)]) != nil
        }
    }

    /// What lists of records are called, whatever the records are.
    static let listNames: Set = [
        "data", "items", "results", "result", "records", "rows", "values", "value", "list", "entries", "hits",
        "response", "bindings",
        "objects", "elements", "content", "docs", "documents", "features",
    ]

    /// The first empty array, of those called as lists of records are if there is one, in an object that has besides no more
    /// than scalars, and none that identifies it.
    ///
    /// What has a text is a record that has an empty list, for all that is known, unless that list is called so.
    func emptyCollection(in object: Int) -> RecordPath? {
        var (lists, hasTexts): ([[String]], Bool) = ([], false)
        guard isAround(&lists, object, keys: [], &hasTexts) else { return nil }
        let named = lists.first { Self.listNames.contains($0[$0.count - 1].lowercased()) }
        let list = hasTexts ? (hints.hasModel ? nil : named) : named ?? lists.first
        return list.map { RecordPath(steps: $0.map { .key($0) } + [.anyElement]) }
    }

    /// The keys of a value that says which record an object is.
    static let identityKeys: Set = ["id", "_id", "uuid", "guid"]

    private func isAround(_ lists: inout [[String]], _ object: Int, keys: [String], _ hasTexts: inout Bool) -> Bool {
        guard tape.tokens[object].kind == .object, tape.tokens[object].next != 0 else { return false }
        for member in members(of: object) {
            let value = tape.tokens[member.value]
            let keys = keys + [key(member.key)]
            switch value.kind {
            case .null, .boolean, .number, .string:
                if Self.identityKeys.contains(keys[keys.count - 1].lowercased()) { return false }
                hasTexts = hasTexts || value.kind == .string && value.length > 0
            case .array where isEmpty(member.value) && firstInvalidByte(of: member.key) == nil: lists.append(keys)
            case .object where keys.count < Self.maxKeys && isAround(&lists, member.value, keys: keys, &hasTexts): break
            default: return false
            }
        }
        return true
    }

    // MARK: Known record paths

    /// True if records like those of other sources are at a record path, or its collection is there and empty.
    package func leads(to path: RecordPath) -> Bool {
        let found = topLevelValues.prefix(Self.judgedLines).map { self.values(at: path.steps[...], in: $0) }
        let values = found.flatMap { $0 ?? [] }
        if values.isEmpty { return found.first.flatMap(\.self) != nil }
        let objects = values.filter { tape.tokens[$0].kind == .object }
        guard objects.count * 2 >= values.count else { return false }
        return hints.keys.isEmpty || !hints.keys.isDisjoint(with: keys(of: objects))
    }

    /// What perhaps was meant by a record path where whole collections are: their elements or members, and how many there are.
    package func within(_ path: RecordPath) -> (path: RecordPath, count: Int)? {
        let found = topLevelValues.prefix(Self.judgedLines).flatMap { self.values(at: path.steps[...], in: $0) ?? [] }
        let isElement = [.anyElement, .anyMember].contains(path.steps.last)
        if !found.isEmpty, !isLines || !path.steps.isEmpty,
            found.allSatisfy({ isElement ? isArrayOfObjects($0) : tape.tokens[$0].kind == .array })
        {
            return (RecordPath(steps: path.steps + [.anyElement]), found.reduce(0) { $0 + children(of: $1).count })
        }
        return collections.first { $0.path.steps == path.steps + [.anyMember] }.map { ($0.path, $0.count) }
    }

    /// How many of these objects have each key.
    func keyCounts(of objects: some Collection<Int>) -> [ArraySlice<UInt8>: Int] {
        var counts: [ArraySlice<UInt8>: Int] = [:]
        for object in objects {
            for key in Set(keys(of: object).map { keyBytes($0) }) { counts[key, default: 0] += 1 }
        }
        return counts
    }

    /// The keys that the first records at a record path have.
    package func recordKeys(at path: RecordPath) -> Set<BytewiseString> {
        let values = topLevelValues.prefix(Self.judgedLines).flatMap { self.values(at: path.steps[...], in: $0) ?? [] }
        return keys(of: values.filter { tape.tokens[$0].kind == .object })
    }

    private func keys(of objects: [Int]) -> Set<BytewiseString> {
        Set(objects.flatMap { keys(of: $0) }.map { BytewiseString(key($0)) })
    }

    /// The first values at a path; nil where it does not lead anywhere.
    package func values(at steps: ArraySlice<RecordPath.Step>, in value: Int) -> [Int]? {
        guard let step = steps.first else { return [value] }
        let children: [Int]
        switch (step, tape.tokens[value].kind) {
        case (.anyElement, .array): children = self.children(of: value, limit: Self.judgedChildren)
        case (.anyMember, .object): children = self.children(of: value, limit: Self.judgedChildren)
        case (.key(let name), .object):
            let member = members(of: value).first { BytewiseString(key($0.key)) == BytewiseString(name) }
            guard let member else { return value > 0 && isEmpty(value) ? [] : nil }
            children = [member.value]
        // Some languages write what is empty as the other one, or as null.
        case (.anyElement, .object) where isEmpty(value), (.anyMember, .array) where isEmpty(value): return []
        case (_, .null): return []
        default: return nil
        }
        var found: [Int] = []
        for child in children where found.count < Self.judgedChildren {
            guard let more = values(at: steps.dropFirst(), in: child) else { return nil }
            found += more
        }
        return found
    }

    /// True if these objects have most of their keys in common.
    ///
    /// A key is common if more than half of the objects have it; more than half of all the keys that are in the objects
    /// must be common ones.
    private func shareKeys(_ objects: [Int]) -> Bool {
        let whole = objects.filter { tape.tokens[$0].next != 0 }
        let judged = (whole.count >= 2 ? whole : objects).prefix(Self.judgedChildren)
        let counts = keyCounts(of: judged)
        let all = counts.values.reduce(0, +)
        let common = counts.values.filter { $0 * 2 > judged.count }.reduce(0, +)
        return common * 2 > all
    }

    /// The tokens of an array's elements or the values of an object's members, as far as the sample has them, and at most
    /// `limit`; none of anything else.
    package func children(of container: Int, limit: Int = .max) -> [Int] {
        let token = tape.tokens[container]
        guard token.kind == .array || token.kind == .object else { return [] }
        let end = token.next == 0 ? tape.count : Int(token.next)
        return Self.values(in: tape, from: container + 1, to: end, areMembers: token.kind == .object, limit: limit)
    }

    /// The tokens of values one after the other.
    ///
    /// - Parameter areMembers: whether each has its key before it.
    package static func values(
        in tape: RecordTape,
        from start: Int,
        to end: Int,
        areMembers: Bool = false,
        limit: Int = .max
    ) -> [Int] {
        let ahead = areMembers ? 1 : 0
        var values: [Int] = []
        var index = start + ahead
        while index < end, values.count < limit {
            values.append(index)
            let next = Int(tape.tokens[index].next)
            if next == 0 { break }
            index = next + ahead
        }
        return values
    }

    /// The tokens of an object's keys and values; a key whose value the sample lacks is left out.
    package func members(of object: Int) -> [(key: Int, value: Int)] {
        tape.tokens[object].kind == .object ? children(of: object).map { ($0 - 1, $0) } : []
    }

    /// The tokens of an object's keys, with a last one whose value the sample lacks.
    private func keys(of object: Int) -> [Int] {
        let keys = members(of: object).map(\.key)
        let next = keys.last.map { Int(tape.tokens[$0 + 1].next) } ?? object + 1
        return tape.tokens[object].next == 0 && 1..<tape.count ~= next ? keys + [next] : keys
    }

    private func firstInvalidByte(of key: Int) -> Int? {
        let bytes = keyBytes(key)
        let place = Array(bytes).withUnsafeBufferPointer { UTF8Validation.firstInvalid(in: ByteView($0)) }
        return place.map { bytes.startIndex + $0 }
    }

    /// A key's bytes as they are in the source.
    package func keyBytes(_ key: Int) -> ArraySlice<UInt8> {
        let token = tape.tokens[key]
        return text[Int(token.start)..<Int(token.start) + Int(token.length)]
    }

    /// A key as a record path has it, its escapes undone.
    package func key(_ index: Int) -> String {
        let bytes = keyBytes(index)
        if tape.tokens[index].hasEscapes {
            let literal = Data([UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")])
            if let key = try? JSONDecoder().decode(String.self, from: literal) { return key }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
