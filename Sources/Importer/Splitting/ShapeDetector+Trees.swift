import ImportModel

extension ShapeDetector {
    /// One level of a tree: objects that are in each other under the same key.
    struct TreeLevel: Sendable, Hashable {
        let path: RecordPath
        /// How many objects of it were seen.
        let count: Int
    }

    /// How many objects are looked at to judge the rest.
    private static let judgedObjects = 200

    /// The levels of the tree whose first one is the collection at `path`; fewer than two where that is no tree.
    ///
    /// It is one where its objects have members with its own key, or with any key for an array at the top, that hold
    /// objects of the same shape.
    func treeLevels(at path: RecordPath) -> [TreeLevel] {
        guard let (container, key) = collection(at: path) else { return [] }
        guard let step = path.steps.last else { return [] }
        var objects = self.objects(in: container)
        guard let key = key ?? recursiveKey(of: objects),
            haveSameShape(objects, nested(in: objects, under: key), but: key)
        else { return [] }
        var levels: [TreeLevel] = []
        var path = path
        while !objects.isEmpty {
            levels.append(TreeLevel(path: path, count: objects.count))
            path = RecordPath(steps: path.steps + [.key(self.key(key)), step])
            objects = nested(in: objects, under: key)
        }
        return levels
    }

    /// The container at a path of keys that ends with a wildcard, and the token of its key.
    private func collection(at path: RecordPath) -> (container: Int, key: Int?)? {
        guard let last = path.steps.last, last == .anyElement || last == .anyMember,
            var container = topLevelValues.first
        else { return nil }
        var lastKey: Int?
        for step in path.steps.dropLast() {
            guard case .key(let name) = step, tape.tokens[container].kind == .object,
                let member = members(of: container).first(where: { ExactText(key($0.key)) == ExactText(name) })
            else { return nil }
            (lastKey, container) = (member.key, member.value)
        }
        // The keys of a keyed collection at the top are data.
        guard lastKey != nil || last == .anyElement else { return nil }
        return (container, lastKey)
    }

    /// The objects that an array or an object has for elements or members.
    private func objects(in container: Int) -> [Int] {
        var objects: [Int] = []
        forEachObject(in: container, tape) { objects.append($0) }
        return objects
    }

    /// The objects in the members with a key of these objects.
    private func nested(in objects: [Int], under key: Int) -> [Int] {
        let (tape, name) = (tape, keyBytes(key))
        var nested: [Int] = []
        for object in objects {
            forEachMember(of: object, tape) { own, value in
                guard isKey(own, name, tape) else { return }
                forEachObject(in: value, tape) { nested.append($0) }
            }
        }
        return nested
    }

    /// A key under which these objects have arrays of objects, some of which have it too.
    private func recursiveKey(of objects: [Int]) -> Int? {
        let recursive = recursiveKeys(of: objects)
        guard !recursive.isEmpty else { return nil }
        for object in objects.prefix(Self.judgedObjects) {
            for member in members(of: object) where tape.tokens[member.value].kind == .array {
                if recursive.contains(keyBytes(member.key)) { return member.key }
            }
        }
        return nil
    }

    /// The keys under which some of these objects have objects that have objects under it, too.
    ///
    /// All at once, and nothing is looked at twice: a sample may have as many keys as it likes.
    private func recursiveKeys(of objects: [Int]) -> Set<ArraySlice<UInt8>> {
        let tape = tape
        var keys: Set<ArraySlice<UInt8>> = []
        for object in objects {
            forEachMember(of: object, tape) { key, value in
                var name: ArraySlice<UInt8>?
                forEachObject(in: value, tape) { child in
                    let outer = name ?? keyBytes(key)
                    name = outer
                    forEachMember(of: child, tape) { own, below in
                        guard isKey(own, outer, tape) else { return }
                        forEachObject(in: below, tape) { _ in keys.insert(outer) }
                    }
                }
            }
        }
        return keys
    }

    private func isKey(_ key: Int, _ name: ArraySlice<UInt8>, _ tape: RecordTape) -> Bool {
        Int(tape.tokens[key].length) == name.count && keyBytes(key) == name
    }

    /// What `members(of:)` are, one by one.
    @inline(__always)
    private func forEachMember(of object: Int, _ tape: RecordTape, _ body: (_ key: Int, _ value: Int) -> Void) {
        let end = tape.tokens[object].next == 0 ? tape.count : Int(tape.tokens[object].next)
        var key = object + 1
        while key + 1 < end {
            body(key, key + 1)
            let next = Int(tape.tokens[key + 1].next)
            if next == 0 { break }
            key = next
        }
    }

    /// The objects that an array or an object has for elements or members, one by one.
    @inline(__always)
    private func forEachObject(in container: Int, _ tape: RecordTape, _ body: (Int) -> Void) {
        let token = tape.tokens[container]
        guard token.kind == .array || token.kind == .object else { return }
        // A member's value is after its key.
        let ahead = token.kind == .object ? 1 : 0
        let end = token.next == 0 ? tape.count : Int(token.next)
        var index = container + 1
        while index + ahead < end {
            let value = tape.tokens[index + ahead]
            if value.kind == .object { body(index + ahead) }
            if value.next == 0 { break }
            index = Int(value.next)
        }
    }

    /// Whether the smaller one of two sets of keys that most of the objects have is mostly in the other one.
    private func haveSameShape(_ objects: [Int], _ others: [Int], but key: Int) -> Bool {
        let name = keyBytes(key)
        let (one, other) = (commonKeys(of: objects).subtracting([name]), commonKeys(of: others).subtracting([name]))
        let same = one.intersection(other).count
        return same > 0 && same * 2 >= min(one.count, other.count)
    }

    /// The keys that at least half of the objects have.
    private func commonKeys(of objects: [Int]) -> Set<ArraySlice<UInt8>> {
        let judged = objects.prefix(Self.judgedObjects)
        var counts: [ArraySlice<UInt8>: Int] = [:]
        for object in judged {
            for key in Set(keys(of: object).map { keyBytes($0) }) { counts[key, default: 0] += 1 }
        }
        return Set(counts.filter { $0.value * 2 >= judged.count }.keys)
    }
}
