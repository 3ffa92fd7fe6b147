import ImportModel
import ImportSources

/// The paths that were met, and what bounds them.
extension EntityStatistics {
    /// The path of a key below another path, made if need be; nil if there is no room for it.
    mutating func findOrInsert(_ key: ByteView, in parent: Int) -> Int? {
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
        added.forms = limits.forms
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
    mutating func findOrInsertElement(of parent: Int) -> Int? {
        noteNested(in: parent)
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
        raiseCharge(of: parent, by: 0)
        return isOpen(path) ? path : nil
    }

    private mutating func use(_ slot: Int, for path: Int) {
        slots[slot] = Int32(truncatingIfNeeded: path)
        usedSlots += 1
        guard usedSlots * 2 > slots.count else { return }
        slots = Array(repeating: 0, count: slots.count * 2)
        for path in keyPaths.upperBound + 1..<paths.count where !paths[path].isElement {
            var slot = Int(truncatingIfNeeded: paths[path].hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(truncatingIfNeeded: path)
        }
    }

    /// Charges the objects around a new key for it; false if there is no room for it, now or before.
    private mutating func charge(keyLength: Int, to parent: Int) -> Bool {
        guard isOpen(parent) else { return false }
        let cost = InferenceLimits.cost(ofKeyLength: keyLength)
        paths[parent].children += 1
        paths[parent].ownCharge += cost
        raiseCharge(of: parent, by: cost)
        return isOpen(parent)
    }

    /// True if new keys of an object are kept: neither it is full, nor one around it.
    private func isOpen(_ path: Int) -> Bool {
        var path = path
        while path >= 0 {
            if paths[path].isFull { return false }
            path = Int(paths[path].parent)
        }
        return true
    }

    /// Raises the charge of an object and of those around it, and makes those closed or full that reach a limit.
    private mutating func raiseCharge(of path: Int, by cost: Int) {
        var (path, cost) = (path, cost)
        repeat {
            let parent = Int(paths[path].parent)
            let limit = limits.charge(depth: Int(paths[path].depth))
            let keys = limits.keys(depth: Int(paths[path].depth))
            var charge = min(paths[path].charge + cost, limit)
            if charge == limit { paths[path].marks.insert(.closedObject) }
            let isInClosed = parent >= 0 && paths[parent].isClosed
            if paths[path].ownCharge > keys || paths[path].ownCharge >= limit || paths[path].isClosed && isMap(path)
                || isInClosed && charge > limits.closedCharge
            {
                fill(path)
            }
            if paths[path].isFull {
                charge = paths[path].marks.contains(.nested) ? limit : min(limit, keys + 1)
            } else if paths[path].isClosed {
                for child in children(of: path) where paths[child].charge > limits.closedCharge { fill(child) }
            }
            cost = charge - paths[path].charge
            paths[path].charge = charge
            path = parent
        } while path >= 0 && cost > 0
        limitElementSamples()
    }

    /// True if what a path has in it has no names: elements, or many objects.
    private func isMap(_ path: Int) -> Bool {
        paths[path].element >= 0
            || path != Self.record && children(of: path).count { paths[$0].charge > 0 } > limits.closedObjects
    }

    private mutating func fill(_ path: Int) {
        paths[path].marks.insert(.fullObject)
        paths[path].firstChild = -1
        paths[path].element = -1
    }

    /// Notes that there are objects or arrays in an object.
    mutating func noteNested(in path: Int) {
        guard !paths[path].marks.contains(.nested) else { return }
        paths[path].marks.insert(.nested)
        if paths[path].isFull { raiseCharge(of: path, by: 0) }
    }

    /// Takes what another part has seen at the same path: the sums, and whether it is full or closed there.
    package mutating func merge(_ other: PathStatistics, into place: Int) {
        paths[place].merge(other)
        if other.isFull { fill(place) }
        raiseCharge(of: place, by: other.isClosed ? limits.charge(depth: Int(other.depth)) : 0)
    }

    /// Lets go of all paths once the record itself is full.
    ///
    /// Of other full objects they stay, unused: all that were ever
    /// made are within the record's limit.
    mutating func dropRestIfFull() {
        guard paths[Self.record].isFull, paths.count > keyPaths.upperBound + 1 else { return }
        paths = Array(paths[...keyPaths.upperBound])
        keys = []
        slots = Array(repeating: 0, count: 64)
        usedSlots = 0
        let all = samples
        samples = []
        for path in keyPaths where paths[path].sample >= 0 {
            samples.append(all[Int(paths[path].sample)])
            paths[path].sample = Int32(truncatingIfNeeded: samples.count - 1)
        }
    }
}

// MARK: - Samples

extension EntityStatistics {
    /// Starts to sample the values of a path that is met for the first time.
    mutating func startSample(at path: Int) {
        let parent = Int(paths[path].parent)
        let isInElement = parent >= 0 && paths[parent].isElement
        guard paths[path].sample < 0, !isInElement || !samplesNoElements else { return }
        paths[path].sample = Int32(truncatingIfNeeded: samples.count)
        samples.append(ValueSample(capacity: isInElement ? limits.sampledElements : limits.sampledValues))
    }

    mutating func dropSample(at path: Int) {
        guard paths[path].sample >= 0 else { return }
        samples[Int(paths[path].sample)] = ValueSample(capacity: limits.sampledValues)
        paths[path].sample = -1
    }

    /// Stops to sample what is in arrays once the record is charged with too much; that never becomes less.
    mutating func limitElementSamples() {
        guard !samplesNoElements, paths[Self.record].charge > limits.sampledCharge else { return }
        samplesNoElements = true
        for path in paths.indices where paths[path].sample >= 0 && paths[path].level > 0 { dropSample(at: path) }
    }
}
