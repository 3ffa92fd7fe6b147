import ImportModel
import ImportSources

/// What the records of one record path have in common: which kinds of values are at which paths, how often.
///
/// Each worker gathers its own, and they are merged: the result depends on which records were seen with which
/// ordinals, not on their order nor on who saw them. It is bounded by `InferenceLimits`. Objects are looked into, and arrays
/// as deep as the limits say: all elements that are ever at a path are one path below it. Once all keys have been met, a
/// record costs no allocation.
package struct EntityStatistics: Sendable {
    /// The index of the record itself among the paths.
    package static let record = 0
    /// The index of the record's key (`$key`) among the paths; after it there are the keys further out.
    package static let recordKey = 1

    package let limits: InferenceLimits
    /// The indexes of the keys among the paths.
    let keyPaths: ClosedRange<Int>
    /// The record, its key, and then every path that was ever met, parents before children.
    package var paths: [PathStatistics]
    /// How many records were seen.
    package private(set) var records: Int64 = 0
    /// Samples of the values of paths that may still be identifiers.
    package var samples: [ValueSample] = []
    /// True if the record is charged with too much for objects in arrays to be searched for identifiers.
    var samplesNoElements = false

    /// The paths' keys, one after the other.
    package var keys: [UInt8] = []
    /// Where paths are, by parent and key: open addressing, 0 for free, else the path's index.
    package var slots: [Int32]
    var usedSlots = 0
    /// The members of the objects that are being visited, the innermost last.
    private var members: [Member] = []
    private var visits: Int64 = 0
    private var unescapedKey: [UInt8] = []
    /// The keys of the columns of rows: those of their header row, or as many as were met.
    private var columnKeys: [[UInt8]] = []
    private var hasHeader = false
    private let hasNullTexts: Bool
    /// The texts that are null at paths of strings, as far as these were met.
    private var nullTexts: [Int: Set<[UInt8]>] = [:]

    /// A member of an object that is being visited: the last one with its key.
    private struct Member {
        let path: Int32
        var token: Int32
    }

    /// Starts with no records.
    ///
    /// - Parameter keys: how many keys a record has at most.
    package init(limits: InferenceLimits = InferenceLimits(), keys: Int = 1) {
        self.limits = limits
        hasNullTexts = !limits.nullTexts.isEmpty
        keyPaths = Self.recordKey...max(1, keys)
        let record = PathStatistics(parent: -1, depth: 0, keyStart: 0, keyCount: 0, hash: 0)
        let recordKey = PathStatistics(parent: -1, depth: 1, keyStart: 0, keyCount: 0, hash: 0)
        paths = [record] + Array(repeating: recordKey, count: keyPaths.count)
        slots = Array(repeating: 0, count: 64)
    }

    /// Says how the columns of the rows that come next are called; nil for rows without a header row.
    package mutating func name(columns: [String]?) {
        guard columns != nil || hasHeader else { return }
        hasHeader = columns != nil
        columnKeys = columns?.map { Array($0.utf8) } ?? []
    }

    /// Takes one record.
    ///
    /// - Parameters:
    ///   - tape: the record's tokens.
    ///   - record: the bytes that were parsed, in valid UTF-8.
    ///   - root: the index of the record's own token on the tape.
    ///   - ordinal: the record's number in its job; no two records that are ever merged have the same.
    ///   - keys: how many keys the line has before the record.
    package mutating func add(
        _ tape: RecordTape,
        record: ByteView,
        root: Int = 0,
        ordinal: Int64,
        keys: Int = 0
    ) {
        for path in keyPaths.prefix(keys) {
            let key = tape.token(2 * (keys - path) + 1, in: record)
            if records == 0 { startSample(at: path) }
            paths[path].countString(key.bytes, hasEscapes: key.hasEscapes)
            if paths[path].sample >= 0 {
                sample(.string, key.bytes, hasEscapes: key.hasEscapes, integer: nil, at: path)
            }
        }
        tape.tokens.withUnsafeBufferPointer { tokens in
            _ = add(Walk(tokens: tokens, record: record, ordinal: ordinal), token: root, at: Self.record)
        }
        records += 1
        dropRestIfFull()
    }

    /// Takes what another worker has gathered.
    ///
    /// The order of merging does not matter.
    ///
    /// - Precondition: both have the same limits, and as many keys.
    package mutating func merge(_ other: EntityStatistics) {
        precondition(limits == other.limits, "statistics under different limits")
        guard other.records > 0 else { return }
        guard records > 0 else {
            self = other
            return
        }
        var places = [Int](repeating: -1, count: other.paths.count)
        // Elements of which only the other has seen any: what it knows of their values is all there is to know.
        var areNew = [Bool](repeating: false, count: other.paths.count)
        for path in other.paths.indices {
            if path <= keyPaths.upperBound {
                places[path] = path
            } else {
                // What is below a full object is there no more, neither here nor there.
                let parent = places[Int(other.paths[path].parent)]
                guard parent >= 0, !paths[parent].isFull, let found = place(of: path, in: other, below: parent) else {
                    continue
                }
                places[path] = found
                areNew[path] = other.paths[path].isElement && paths[found].objects == 0
                if areNew[Int(other.paths[path].parent)], other.paths[path].sample >= 0 { startSample(at: found) }
            }
            merge(other, path: path, into: places[path])
        }
        records += other.records
        dropRestIfFull()
    }

    /// Where a path of another's is here, made if need be; nil if there is no room for it.
    private mutating func place(of path: Int, in other: EntityStatistics, below parent: Int) -> Int? {
        guard !other.paths[path].isElement else { return findOrInsertElement(of: parent) }
        let start = Int(other.paths[path].keyStart)
        let range = start..<start + Int(other.paths[path].keyCount)
        return other.keys.withUnsafeBufferPointer { findOrInsert(ByteView($0)[range], in: parent) }
    }

    private mutating func merge(_ other: EntityStatistics, path: Int, into place: Int) {
        merge(other.paths[path], into: place)
        guard paths[place].sample >= 0 else { return }
        if other.paths[path].sample >= 0 {
            samples[Int(paths[place].sample)].merge(other.samples[Int(other.paths[path].sample)])
        } else {
            dropSample(at: place)
        }
    }

    /// The key of a path, unescaped.
    package func key(of path: Int) -> String {
        let start = Int(paths[path].keyStart)
        return String(decoding: keys[start..<start + Int(paths[path].keyCount)], as: UTF8.self)
    }

    /// The paths right below a path, in no particular order.
    package func children(of path: Int) -> [Int] {
        var children: [Int] = []
        var child = paths[path].firstChild
        while child >= 0 {
            children.append(Int(child))
            child = paths[Int(child)].nextSibling
        }
        return children
    }
}

// MARK: - One record

extension EntityStatistics {
    /// A record while it is walked.
    private struct Walk {
        let tokens: UnsafeBufferPointer<RecordTape.Token>
        let record: ByteView
        let ordinal: Int64

        @inline(__always)
        func isNested(_ token: Int) -> Bool { tokens[token].kind.rawValue >= JSONKind.object.rawValue }

        @inline(__always)
        func bytes(_ token: Int) -> ByteView {
            let start = Int(tokens[token].start)
            return record[start..<start &+ Int(tokens[token].length)]
        }
    }

    /// Takes a value.
    ///
    /// - Returns: whether it is null.
    @inline(__always)
    @discardableResult
    private mutating func add(_ walk: Walk, token: Int, at path: Int) -> Bool {
        let value = walk.tokens[token]
        let bytes = walk.bytes(token)
        if value.kind == .string, hasNullTexts, isNullText(bytes, hasEscapes: value.hasEscapes, at: path) {
            paths[path].see(ordinal: walk.ordinal, token: Int32(truncatingIfNeeded: token))
            paths[path].nulls += 1
            // What is left of an object is not asked where texts are taken for nothing.
            return false
        }
        let integer = paths[path].count(value, bytes, index: token, ordinal: walk.ordinal)
        if value.kind == .object {
            if path != Self.record, let extended = extended(walk, token) { return add(extended, at: path) }
            addObject(walk, token: token, at: path)
        } else if value.kind == .array {
            addArray(walk, token: token, at: path)
            dropSample(at: path)
        } else if value.kind != .null, paths[path].sample >= 0 {
            sample(value.kind, bytes, hasEscapes: value.hasEscapes, integer: integer, at: path)
        }
        return value.kind == .null
    }

    @inline(never)
    private mutating func isNullText(_ bytes: ByteView, hasEscapes: Bool, at path: Int) -> Bool {
        if nullTexts[path] == nil {
            var (keys, parent) = ([String](), path)
            // The names that it has as an attribute: of an element, those from its own record on.
            while parent > keyPaths.upperBound, !paths[parent].isElement {
                keys.insert(key(of: parent), at: 0)
                parent = Int(paths[parent].parent)
            }
            nullTexts[path] = limits.nullTexts.texts(
                named: [AttributePath(keys: keys).description, ColumnNames.wanted(for: keys)])
        }
        return NullTexts.contains(nullTexts[path] ?? [], bytes, hasEscapes: hasEscapes)
    }

    /// The value of Extended JSON that an object is; nil where it is none, or where objects stay what they are.
    @inline(__always)
    private func extended(_ walk: Walk, _ token: Int) -> ExtendedJSON? {
        let key = walk.tokens[min(token + 1, walk.tokens.count - 1)]
        guard
            key.hasEscapes || key.length > 0 && walk.record[Int(key.start)] == UInt8(ascii: "$")
                || key.length == 4 && walk.tokens[min(token + 2, walk.tokens.count - 1)].length == 6,
            limits.unwraps
        else { return nil }
        return ExtendedJSON(walk.bytes(token))
    }

    @inline(never)
    private mutating func add(_ extended: ExtendedJSON, at path: Int) -> Bool {
        let integer = paths[path].count(extended)
        guard extended.kind != .null else { return true }
        guard paths[path].sample >= 0 else { return false }
        switch extended.kind {
        case .text, .integer, .uuid:
            let token = extended.token
            sample(token.kind, token.bytes, hasEscapes: token.hasEscapes, integer: integer, at: path)
        case .null, .double, .decimal, .date, .data, .uuidData: dropSample(at: path)
        }
        return false
    }

    private mutating func sample(
        _ kind: JSONKind,
        _ bytes: ByteView,
        hasEscapes: Bool,
        integer: Int64?,
        at path: Int
    ) {
        if let integer {
            sample(ByteHash.hash(integer, seed: 1), at: path)
        } else if kind == .string, !hasEscapes, bytes.count <= 128 {
            sample(ByteHash.hash(bytes, seed: 2), at: path)
        } else {
            // Escapes spell one string in several ways, and long texts are no identifiers.
            dropSample(at: path)
        }
    }

    /// Samples a value, or gives the sample up where an earlier record has no value.
    private mutating func sample(_ hash: UInt64, at path: Int) {
        let parent = Int(paths[path].parent)
        let objects = parent >= 0 && paths[parent].isElement ? paths[parent].objects : records + 1
        if paths[path].values == objects {
            samples[Int(paths[path].sample)].insert(hash)
        } else {
            dropSample(at: path)
        }
    }

    /// Takes an array's elements.
    ///
    /// The recursion is as deep as the limits allow.
    private mutating func addArray(_ walk: Walk, token: Int, at path: Int) {
        if path == Self.record { return addRow(walk, token: token) }
        let end = Int(walk.tokens[token].next)
        var index = token + 1
        let known: PathStatistics.Marks = [.objectElement, .otherElement]
        var marks: PathStatistics.Marks = []
        while index < end, marks != known {
            let isObject = walk.tokens[index].kind == .object && extended(walk, index) == nil
            marks.insert(isObject ? .objectElement : .otherElement)
            index = Int(walk.tokens[index].next)
        }
        paths[path].marks.formUnion(marks)
        guard end > token + 1, Int(paths[path].level) < limits.arrayLevels,
            let element = findOrInsertElement(of: path)
        else { return }
        index = token + 1
        while index < end {
            add(walk, token: index, at: element)
            index = Int(walk.tokens[index].next)
        }
    }

    /// Takes a record that is an array: its elements as if they were under the keys of their columns, if all are scalars.
    ///
    /// With a header row, any value may be in a row.
    private mutating func addRow(_ walk: Walk, token: Int) {
        var values: [Int] = []
        var index = token + 1
        while index < Int(walk.tokens[token].next) {
            values.append(index)
            index = Int(walk.tokens[index].next)
        }
        let isRow = values.allSatisfy {
            !walk.isNested($0) || walk.tokens[$0].kind == .object && extended(walk, $0) != nil
        }
        guard hasHeader || isRow && values.count <= limits.recordKeys else {
            paths[Self.record].marks.insert(.objectElement)
            return
        }
        while columnKeys.count < values.count { columnKeys.append(Array(RowColumns.name(columnKeys.count).utf8)) }
        for (column, value) in values.enumerated() {
            if walk.isNested(value) { noteNested(in: Self.record) }
            let key = columnKeys[column]
            guard let path = key.withUnsafeBufferPointer({ findOrInsert(ByteView($0), in: Self.record) }) else {
                return
            }
            paths[path].inRows += 1
            add(walk, token: value, at: path)
        }
    }

    /// Takes an object's members.
    ///
    /// The recursion is as deep as the limits allow.
    private mutating func addObject(_ walk: Walk, token: Int, at path: Int) {
        guard !paths[path].isFull else { return lookForNested(walk, token: token, at: path) }
        guard paths[path].depth < limits.depth else {
            paths[path].marks.insert(.deepObject)
            return
        }
        let first = members.count
        // The values are taken once all keys are known: only the last of equal keys counts.
        let hasRoom = collectMembers(walk, token: token, at: path)
        if hasRoom {
            var isEmpty = true
            for index in first..<members.count {
                let member = members[index]
                if !add(walk, token: Int(member.token), at: Int(member.path)) { isEmpty = false }
            }
            if isEmpty { paths[path].marks.insert(.emptyObject) }
        } else if paths[path].isFull {
            lookForNested(walk, token: token, at: path)
        }
        members.removeLast(members.count - first)
    }

    /// Notes whether a full object has objects or arrays in it: what they had before may fill those around it.
    private mutating func lookForNested(_ walk: Walk, token: Int, at path: Int) {
        var value = token + 2
        while !paths[path].marks.contains(.nested), value < Int(walk.tokens[token].next) {
            if walk.isNested(value) { noteNested(in: path) }
            value = Int(walk.tokens[value].next) + 1
        }
    }

    /// Puts an object's members onto `members`; false if the object, or one around it, is full.
    private mutating func collectMembers(_ walk: Walk, token: Int, at path: Int) -> Bool {
        let first = members.count
        var isRising = true
        var previous = -1
        var index = token + 1
        let end = Int(walk.tokens[token].next)
        while index < end {
            let value = index + 1
            if walk.isNested(value) { noteNested(in: path) }
            var child = guess(walk, key: index, in: path, after: previous)
            if child < 0 {
                switch find(walk, key: index, in: path, after: previous) {
                case .path(let found):
                    child = found
                case .illFormed:
                    paths[path].marks.insert(.illFormedKey)
                    index = Int(walk.tokens[value].next)
                    continue
                case .full:
                    return false
                }
            }
            let member = Member(path: Int32(truncatingIfNeeded: child), token: Int32(truncatingIfNeeded: value))
            if isRising, child > previous {
                // Paths are numbered as they first appear: as long as the numbers rise, no key is here twice.
                members.append(member)
            } else {
                if isRising { stampMembers(from: first) }
                isRising = false
                if paths[child].visit == visits {
                    members[Int(paths[child].member)].token = member.token
                } else {
                    paths[child].meet(visit: visits, member: members.count)
                    members.append(member)
                }
            }
            previous = child
            index = Int(walk.tokens[value].next)
        }
        return true
    }

    /// Notes of each member of an object that it was met there.
    private mutating func stampMembers(from first: Int) {
        visits += 1
        for index in first..<members.count { paths[Int(members[index].path)].meet(visit: visits, member: index) }
    }

    /// The path of a key if it is the one that came here last, else -1.
    @inline(__always)
    private func guess(_ walk: Walk, key: Int, in path: Int, after previous: Int) -> Int {
        let guess = Int(previous < 0 ? paths[path].childGuess : paths[previous].nextGuess)
        let token = walk.tokens[key]
        guard guess >= 0, !token.hasEscapes, token.length == paths[guess].keyCount else { return -1 }
        return isKey(of: guess, walk.bytes(key)) ? guess : -1
    }

    private enum Found {
        case path(Int)
        /// The key is not well-formed Unicode.
        case illFormed
        /// The key is new and there is no room for it.
        case full
    }

    private mutating func find(_ walk: Walk, key: Int, in path: Int, after previous: Int) -> Found {
        let found: Int?
        if walk.tokens[key].hasEscapes {
            unescapedKey.removeAll(keepingCapacity: true)
            if JSONUnescaper.append(walk.bytes(key), to: &unescapedKey) { return .illFormed }
            let bytes = unescapedKey
            found = bytes.withUnsafeBufferPointer { findOrInsert(ByteView($0), in: path) }
        } else {
            found = findOrInsert(walk.bytes(key), in: path)
        }
        guard let found else { return .full }
        let guess = Int32(truncatingIfNeeded: found)
        if previous < 0 { paths[path].childGuess = guess } else { paths[previous].nextGuess = guess }
        return .path(found)
    }

    @inline(__always)
    package func isKey(of path: Int, _ bytes: ByteView) -> Bool {
        let start = Int(paths[path].keyStart)
        guard Int(paths[path].keyCount) == bytes.count else { return false }
        return keys.withUnsafeBufferPointer { keys in
            for index in 0..<bytes.count where keys[start &+ index] != bytes[index] { return false }
            return true
        }
    }
}
