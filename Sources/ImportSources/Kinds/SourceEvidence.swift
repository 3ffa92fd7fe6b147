import ImportModel

/// What sources tell of where the records of another one are that leaves it open.
///
/// Kept by record path and key, so that what all of many sources tell one of them takes no time that grows with their number.
package struct SourceEvidence {
    /// What sources that are alike tell.
    private struct Group {
        /// By record path, the sources that have it, in their order, and its place among their paths.
        private var sources: [RecordPath: [(source: Int, place: Int)]] = [:]
        /// By key, how many sources have it.
        private var keys: [BytewiseString: Int] = [:]

        mutating func add(_ look: SourceLook, _ source: Int) {
            for (place, path) in look.paths.enumerated() {
                let index = sources[path]?.partitioningIndex { $0.source > source } ?? 0
                sources[path, default: []].insert((source, place), at: index)
            }
            for key in look.keys { keys[key, default: 0] += 1 }
        }

        mutating func remove(_ look: SourceLook, _ source: Int) {
            for path in look.paths {
                guard let index = sources[path]?.partitioningIndex(where: { $0.source >= source }) else { continue }
                sources[path]?.remove(at: index)
            }
            for key in look.keys { keys[key, default: 1] -= 1 }
        }

        /// Adds it to what is known of records: record paths in the order of the sources.
        func add(to known: inout KnownRecords) {
            let found = sources.compactMap { path, sources in sources.first.map { (path: path, first: $0) } }
            for (path, _) in found.sorted(by: { ($0.first.source, $0.first.place) < ($1.first.source, $1.first.place) })
            where !known.paths.contains(path) {
                known.paths.append(path)
            }
            known.keys.formUnion(keys.lazy.filter { $0.value > 0 }.map(\.key))
        }
    }

    /// Those that cannot be read otherwise.
    private var firm = Group()
    /// Those of which each is one object that has records elsewhere.
    private var pages = Group()
    /// Those of which each is one record.
    private var records = Group()

    package init() {}

    /// Adds what a source tells.
    package mutating func add(_ look: SourceLook, _ source: Int) {
        change(look) { $0.add(look, source) }
    }

    /// Takes back what a source tells.
    package mutating func remove(_ look: SourceLook, _ source: Int) {
        change(look) { $0.remove(look, source) }
    }

    private mutating func change(_ look: SourceLook, _ body: (inout Group) -> Void) {
        if !look.isOneObject {
            if !look.hasNothing { body(&firm) }
        } else if !look.keys.isEmpty {
            if look.paths == [.root] { body(&records) } else { body(&pages) }
        }
    }

    /// Adds what all others tell a source to what is known of its records.
    ///
    /// - Parameter look: the source's, which is not among them.
    package func add(to known: inout KnownRecords, for look: SourceLook) {
        // What cannot be read otherwise comes first.
        firm.add(to: &known)
        pages.add(to: &known)
        // A record with an empty list looks like an empty page.
        if look.keys.isEmpty { records.add(to: &known) }
    }
}

extension [(source: Int, place: Int)] {
    /// The index of the first element for which `isBehind` is true, as it is for all that follow it.
    fileprivate func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
