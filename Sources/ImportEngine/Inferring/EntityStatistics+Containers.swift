import ImportModel

/// Containers of another kind than all others at their path, as some programs write them.
extension EntityStatistics {
    /// Counts empty containers as null where all others are of the other kind, and single objects as lists of one where all others
    /// are lists of objects; so are objects whose keys are numbers from 0.
    mutating func settleContainers() {
        // Paths that are added come after their parents, too.
        var path = keyPaths.upperBound + 1
        while path < paths.count {
            if paths[path].objects > 0, paths[path].arrays > 0, !paths[path].isFull { settle(path) }
            path += 1
        }
    }

    private mutating func settle(_ path: Int) {
        let seen = paths[path]
        guard seen.objects + seen.arrays == seen.values, seen.marks.isDisjoint(with: [.deepObject, .illFormedKey])
        else {
            return
        }
        if seen.marks.isDisjoint(with: [.objectElement, .otherElement]) {
            paths[path].nulls += seen.arrays
            paths[path].arrays = 0
        } else if children(of: path).isEmpty {
            paths[path].nulls += seen.objects
            paths[path].objects = 0
        } else if !seen.marks.contains(.otherElement), seen.element >= 0 {
            let (element, children) = (Int(seen.element), children(of: path))
            let numbered = children.filter { ListIndex.isOne(key(of: $0).utf8) }
            let others = children.filter { !numbered.contains($0) }
            func most(_ children: [Int]) -> Int64 { children.map { paths[$0].values }.max() ?? 0 }
            // No object has both numbers and other keys.
            guard numbered.allSatisfy({ paths[$0].objects == paths[$0].values }),
                most(numbered) + most(others) <= seen.objects
            else { return }
            for child in numbered { moveObjects(of: child, into: element) }
            if numbered.count < children.count { moveObjects(of: path, into: element, besides: numbered) }
            paths[path].arrays += seen.objects
            paths[path].objects = 0
            paths[path].firstChild = -1
        }
    }

    /// Counts the objects at a path as if they were at another one.
    private mutating func moveObjects(of path: Int, into place: Int, besides left: [Int] = []) {
        paths[place].objects += paths[path].objects
        paths[place].nulls += paths[path].nulls
        paths[place].marks.formUnion(paths[path].marks.intersection([.emptyObject, .illFormedKey, .deepObject]))
        moveMembers(of: path, into: place, besides: left)
    }

    private mutating func moveMembers(of path: Int, into place: Int, besides left: [Int] = []) {
        for child in children(of: path) where !left.contains(child) {
            let key = Array(key(of: child).utf8)
            guard let found = key.withUnsafeBufferPointer({ findOrInsert(ByteView($0), in: place) }) else { return }
            merge(paths[child], into: found)
            dropSample(at: found)
            moveMembers(of: child, into: found)
            guard paths[child].element >= 0, let element = findOrInsertElement(of: found) else { continue }
            merge(paths[Int(paths[child].element)], into: element)
            moveMembers(of: Int(paths[child].element), into: element)
        }
    }
}
