import ImportModel

extension ShapeDetector {
    /// One level of a tree: objects that are in each other under the same key.
    package struct TreeLevel: Sendable, Hashable {
        package let path: RecordPath
        /// How many objects of it were seen.
        package let count: Int
    }

    /// How many objects are looked at to judge the rest.
    private static let judgedObjects = 200

    /// The levels of the tree whose first one is the collection at `path`; fewer than two where that is no tree.
    ///
    /// It is one where its objects have members with its own key, or with any key for an array at the top, that hold
    /// objects of the same shape.
    package func treeLevels(at path: RecordPath) -> [TreeLevel] {
        guard let step = path.steps.last, step == .anyElement || step == .anyMember, let first = topLevelValues.first,
            !path.steps.dropLast().contains(where: { $0 == .anyElement || $0 == .anyMember }),
            let container = values(at: path.steps.dropLast(), in: first)?.first,
            // The keys of a keyed collection at the top are data.
            path.steps.count > 1 || step == .anyElement
        else { return [] }
        var objects = self.objects(in: container)
        guard let key = path.steps.count > 1 ? container - 1 : recursiveKey(of: objects),
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

    /// The objects that an array or an object has for elements or members.
    private func objects(in container: Int) -> [Int] {
        children(of: container).filter { tape.tokens[$0].kind == .object }
    }

    /// The objects in the members with a key of these objects.
    private func nested(in objects: [Int], under key: Int) -> [Int] {
        let name = keyBytes(key)
        return objects.flatMap { members(of: $0).filter { isKey($0.key, name) }.flatMap { self.objects(in: $0.value) } }
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
        var keys: Set<ArraySlice<UInt8>> = []
        for member in objects.lazy.flatMap({ members(of: $0) }) {
            let name = keyBytes(member.key)
            for inner in self.objects(in: member.value).lazy.flatMap({ members(of: $0) }) where isKey(inner.key, name) {
                if !self.objects(in: inner.value).isEmpty { keys.insert(name) }
            }
        }
        return keys
    }

    private func isKey(_ key: Int, _ name: ArraySlice<UInt8>) -> Bool {
        Int(tape.tokens[key].length) == name.count && keyBytes(key) == name
    }

    /// True if the smaller one of two sets of keys that most of the objects have is mostly in the other one.
    private func haveSameShape(_ objects: [Int], _ others: [Int], but key: Int) -> Bool {
        let name = keyBytes(key)
        let (one, other) = (commonKeys(of: objects).subtracting([name]), commonKeys(of: others).subtracting([name]))
        let same = one.intersection(other).count
        return same > 0 && same * 2 >= min(one.count, other.count)
    }

    /// The keys that at least half of the objects have.
    private func commonKeys(of objects: [Int]) -> Set<ArraySlice<UInt8>> {
        let judged = objects.prefix(Self.judgedObjects)
        return Set(keyCounts(of: judged).filter { $0.value * 2 >= judged.count }.keys)
    }
}
