import ImportModel

extension ShapeDetector {
    /// One level of a tree: objects that stand in each other under the same key.
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
        guard var container = topLevelValues.first, let last = path.steps.last,
            last == .anyElement || last == .anyMember
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
        switch tape.tokens[container].kind {
        case .array: children(of: container).filter { tape.tokens[$0].kind == .object }
        case .object: members(of: container).map(\.value).filter { tape.tokens[$0].kind == .object }
        default: []
        }
    }

    /// The objects in the members with a key of these objects.
    private func nested(in objects: [Int], under key: Int) -> [Int] {
        let name = keyBytes(key)
        return objects.flatMap { object in
            members(of: object).filter { keyBytes($0.key) == name }.flatMap { self.objects(in: $0.value) }
        }
    }

    /// A key under which these objects have arrays of objects, some of which have it too.
    private func recursiveKey(of objects: [Int]) -> Int? {
        var seen: Set<ArraySlice<UInt8>> = []
        for object in objects.prefix(Self.judgedObjects) {
            for member in members(of: object) where tape.tokens[member.value].kind == .array {
                guard seen.insert(keyBytes(member.key)).inserted else { continue }
                let below = nested(in: objects, under: member.key)
                if !nested(in: below, under: member.key).isEmpty { return member.key }
            }
        }
        return nil
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
