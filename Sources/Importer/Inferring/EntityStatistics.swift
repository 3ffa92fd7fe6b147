import ImportModel

/// What the records of one record path have in common: which kinds of values are at which paths, how often.
///
/// Each worker gathers its own, and they are merged: the result depends on which records were seen with which
/// ordinals, not on their order nor on who saw them. It is bounded by `InferenceLimits`. Objects are looked into, and arrays
/// as deep as the limits say: all elements that are ever at a path are one path below it. Once all keys have been met, a
/// record costs no allocation.
struct EntityStatistics: Sendable {
    /// The index of the record itself among the paths.
    static let record = 0
    /// The index of the record's key (`$key`) among the paths.
    static let recordKey = 1

    let limits: InferenceLimits
    /// The record, its key, and then every path that was ever met, parents before children.
    private(set) var paths: [PathStatistics]
    /// How many records were seen.
    private(set) var records: Int64 = 0
    /// Samples of the values of paths that may still be identifiers.
    private(set) var samples: [ValueSample] = []
    /// Whether the record is charged with too much for objects in arrays to be searched for identifiers.
    private var samplesNoElements = false

    /// The paths' keys, one after the other.
    private var keys: [UInt8] = []
    /// Where paths are, by parent and key: open addressing, 0 for free, else the path's index.
    private var slots: [Int32]
    private var usedSlots = 0
    /// The members of the objects that are being visited, the innermost last.
    private var members: [Member] = []
    private var visits: Int64 = 0
    private var unescapedKey: [UInt8] = []

    /// A member of an object that is being visited: the last one with its key.
    private struct Member {
        let path: Int32
        var token: Int32
    }

    /// Starts with no records.
    init(limits: InferenceLimits = InferenceLimits()) {
        self.limits = limits
        let record = PathStatistics(parent: -1, depth: 0, keyStart: 0, keyCount: 0, hash: 0)
        let recordKey = PathStatistics(parent: -1, depth: 1, keyStart: 0, keyCount: 0, hash: 0)
        paths = [record, recordKey]
        slots = Array(repeating: 0, count: 64)
    }

    /// Takes one record.
    ///
    /// - Parameters:
    ///   - tape: the record's tokens.
    ///   - record: the bytes that were parsed, in valid UTF-8.
    ///   - root: the index of the record's own token on the tape.
    ///   - ordinal: the record's number in its job; no two records that are ever merged have the same.
    ///   - key: the key under which the record of a keyed collection is, as a string.
    mutating func add(
        _ tape: RecordTape,
        record: ByteView,
        root: Int = 0,
        ordinal: Int64,
        key: JSONToken? = nil
    ) {
        if let key {
            if records == 0 { startSample(at: Self.recordKey) }
            paths[Self.recordKey].countString(key.bytes, hasEscapes: key.hasEscapes)
            if paths[Self.recordKey].sample >= 0 {
                sample(.string, key.bytes, hasEscapes: key.hasEscapes, integer: nil, at: Self.recordKey)
            }
        }
        tape.tokens.withUnsafeBufferPointer { tokens in
            add(Walk(tokens: tokens, record: record, ordinal: ordinal), token: root, at: Self.record)
        }
        records += 1
        dropRestIfFull()
    }

    /// Takes what another worker has gathered.
    ///
    /// The order of merging does not matter.
    ///
    /// - Precondition: both have the same limits.
    mutating func merge(_ other: EntityStatistics) {
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
            if path <= Self.recordKey {
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
        if other.paths[path].isFull { fill(place) }
        paths[place].merge(other.paths[path])
        guard paths[place].sample >= 0 else { return }
        if other.paths[path].sample >= 0 {
            samples[Int(paths[place].sample)].merge(other.samples[Int(other.paths[path].sample)])
        } else {
            dropSample(at: place)
        }
    }

    /// The key of a path, unescaped.
    func key(of path: Int) -> String {
        let start = Int(paths[path].keyStart)
        return String(decoding: keys[start..<start + Int(paths[path].keyCount)], as: UTF8.self)
    }

    /// The paths right below a path, in no particular order.
    func children(of path: Int) -> [Int] {
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
        func bytes(_ token: Int) -> ByteView {
            let start = Int(tokens[token].start)
            return record[start..<start &+ Int(tokens[token].length)]
        }
    }

    @inline(__always)
    private mutating func add(_ walk: Walk, token: Int, at path: Int) {
        let value = walk.tokens[token]
        let bytes = walk.bytes(token)
        let integer = paths[path].count(value, bytes, index: token, ordinal: walk.ordinal)
        if value.kind == .object {
            addObject(walk, token: token, at: path)
        } else if value.kind == .array {
            addArray(walk, token: token, at: path)
            dropSample(at: path)
        } else if value.kind != .null, paths[path].sample >= 0 {
            sample(value.kind, bytes, hasEscapes: value.hasEscapes, integer: integer, at: path)
        }
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

    /// Starts to sample the values of a path that is met for the first time.
    private mutating func startSample(at path: Int) {
        let parent = Int(paths[path].parent)
        let isInElement = parent >= 0 && paths[parent].isElement
        guard paths[path].sample < 0, !isInElement || !samplesNoElements else { return }
        paths[path].sample = Int32(truncatingIfNeeded: samples.count)
        samples.append(ValueSample(capacity: isInElement ? limits.sampledElements : limits.sampledValues))
    }

    private mutating func dropSample(at path: Int) {
        guard paths[path].sample >= 0 else { return }
        samples[Int(paths[path].sample)] = ValueSample(capacity: limits.sampledValues)
        paths[path].sample = -1
    }

    /// Stops to sample what is in arrays once the record is charged with too much; that never becomes less.
    private mutating func limitElementSamples() {
        guard !samplesNoElements, paths[Self.record].charge > limits.sampledCharge else { return }
        samplesNoElements = true
        for path in paths.indices where paths[path].sample >= 0 && paths[path].level > 0 { dropSample(at: path) }
    }

    /// Takes an array's elements.
    ///
    /// The recursion is as deep as the limits allow.
    private mutating func addArray(_ walk: Walk, token: Int, at path: Int) {
        let end = Int(walk.tokens[token].next)
        var index = token + 1
        while index < end {
            paths[path].marks.insert(walk.tokens[index].kind == .object ? .objectElement : .otherElement)
            index = Int(walk.tokens[index].next)
        }
        guard path != Self.record, end > token + 1, Int(paths[path].level) < limits.arrayLevels,
            let element = findOrInsertElement(of: path)
        else { return }
        index = token + 1
        while index < end {
            add(walk, token: index, at: element)
            index = Int(walk.tokens[index].next)
        }
    }

    /// Takes an object's members.
    ///
    /// The recursion is as deep as the limits allow.
    private mutating func addObject(_ walk: Walk, token: Int, at path: Int) {
        guard !paths[path].isFull else { return }
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
                if walk.tokens[Int(member.token)].kind != .null { isEmpty = false }
                add(walk, token: Int(member.token), at: Int(member.path))
            }
            if isEmpty { paths[path].marks.insert(.emptyObject) }
        }
        members.removeLast(members.count - first)
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
            if Unescaping.append(walk.bytes(key), to: &unescapedKey) { return .illFormed }
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
}

// MARK: - Paths

extension EntityStatistics {
    @inline(__always)
    private func isKey(of path: Int, _ bytes: ByteView) -> Bool {
        let start = Int(paths[path].keyStart)
        guard Int(paths[path].keyCount) == bytes.count else { return false }
        return keys.withUnsafeBufferPointer { keys in
            for index in 0..<bytes.count where keys[start &+ index] != bytes[index] { return false }
            return true
        }
    }

    /// The path of a key below another path, made if need be; nil if there is no room for it.
    private mutating func findOrInsert(_ key: ByteView, in parent: Int) -> Int? {
        let hash = ByteHash.hash(key, seed: UInt64(truncatingIfNeeded: parent))
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let path = Int(slots[slot])
            if paths[path].hash == hash, Int(paths[path].parent) == parent, isKey(of: path, key) { return path }
            slot = (slot + 1) & (slots.count - 1)
        }
        guard charge(keyLength: key.count, to: parent) else { return nil }
        let path = paths.count
        var added = PathStatistics(
            parent: Int32(truncatingIfNeeded: parent),
            depth: paths[parent].depth + 1,
            keyStart: Int32(truncatingIfNeeded: keys.count),
            keyCount: Int32(truncatingIfNeeded: key.count),
            hash: hash,
            level: paths[parent].level
        )
        keys.append(contentsOf: key.buffer)
        added.nextSibling = paths[parent].firstChild
        paths[parent].firstChild = Int32(truncatingIfNeeded: path)
        paths.append(added)
        use(slot, for: path)
        if paths[parent].isElement {
            // Only what is in every element can be an identifier, and that is in the first one that comes here.
            if paths[parent].objects == 1 { startSample(at: path) }
        } else if parent == Self.record {
            if records == 0 { startSample(at: path) }
            if Int(paths[parent].children) == limits.sampledKeys + 1 {
                for child in children(of: parent) { dropSample(at: child) }
            } else if Int(paths[parent].children) > limits.sampledKeys {
                dropSample(at: path)
            }
        }
        return path
    }

    /// The path of an array's elements, made if need be; nil if there is no room for it.
    private mutating func findOrInsertElement(of parent: Int) -> Int? {
        if paths[parent].element >= 0 { return Int(paths[parent].element) }
        guard charge(keyLength: 0, to: parent) else { return nil }
        let path = paths.count
        paths.append(
            PathStatistics(
                parent: Int32(truncatingIfNeeded: parent),
                depth: paths[parent].depth + 1,
                keyStart: Int32(truncatingIfNeeded: keys.count),
                keyCount: 0,
                hash: 0,
                level: paths[parent].level + 1,
                isElement: true
            )
        )
        paths[parent].element = Int32(truncatingIfNeeded: path)
        return path
    }

    private mutating func use(_ slot: Int, for path: Int) {
        slots[slot] = Int32(truncatingIfNeeded: path)
        usedSlots += 1
        guard usedSlots * 2 > slots.count else { return }
        slots = Array(repeating: 0, count: slots.count * 2)
        for path in Self.recordKey + 1..<paths.count where !paths[path].isElement {
            var slot = Int(truncatingIfNeeded: paths[path].hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(truncatingIfNeeded: path)
        }
    }

    /// Charges the objects around a new key for it; false if one of them is full, now or before.
    private mutating func charge(keyLength: Int, to parent: Int) -> Bool {
        var path = parent
        while path >= 0 {
            if paths[path].isFull { return false }
            path = Int(paths[path].parent)
        }
        paths[parent].children += 1
        let cost = InferenceLimits.cost(ofKeyLength: keyLength)
        let hasTooManyKeys = Int(paths[parent].children) > limits.keys(depth: Int(paths[parent].depth))
        defer { limitElementSamples() }
        return !raiseCharge(of: parent, by: cost, toLimit: hasTooManyKeys)
    }

    /// Makes an object full that is full elsewhere.
    private mutating func fill(_ path: Int) {
        var around = path
        while around >= 0 {
            if paths[around].isFull { return }
            around = Int(paths[around].parent)
        }
        _ = raiseCharge(of: path, by: 0, toLimit: true)
        limitElementSamples()
    }

    /// Raises the charge of an object and of those around it; true if one of them is full now.
    private mutating func raiseCharge(of path: Int, by cost: Int, toLimit: Bool) -> Bool {
        var fills = false
        var path = path
        var cost = cost
        var toLimit = toLimit
        while path >= 0 {
            let limit = limits.charge(depth: Int(paths[path].depth))
            if toLimit || cost >= limit - paths[path].charge {
                cost = limit - paths[path].charge
                paths[path].marks.insert(.fullObject)
                paths[path].firstChild = -1
                paths[path].element = -1
                fills = true
            }
            paths[path].charge += cost
            toLimit = false
            path = Int(paths[path].parent)
        }
        return fills
    }

    /// Lets go of all paths once the record itself is full.
    ///
    /// Of other full objects they stay, unused: all that were ever
    /// made are within the record's limit.
    private mutating func dropRestIfFull() {
        guard paths[Self.record].isFull, paths.count > Self.recordKey + 1 else { return }
        paths = Array(paths[...Self.recordKey])
        keys = []
        slots = Array(repeating: 0, count: 64)
        usedSlots = 0
        let keySample = paths[Self.recordKey].sample
        samples = keySample < 0 ? [] : [samples[Int(keySample)]]
        if keySample >= 0 { paths[Self.recordKey].sample = 0 }
    }
}
