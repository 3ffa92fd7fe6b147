extension RecordViewChanges {
    /// What makes `old` into `new`, in n log n steps.
    ///
    /// A section is the same if its name is; a record, if its row id is. Sections do not move: where some are in another
    /// order, as after another sort, they go and come.
    init(from old: RecordViewSnapshot, to new: RecordViewSnapshot) {
        offset = new.offset
        total = new.total
        let kept = matchSections(old, new)
        matchRecords(old, new, kept)
    }

    /// - Returns: the old number of each new section, nil for those that come.
    private mutating func matchSections(_ old: RecordViewSnapshot, _ new: RecordViewSnapshot) -> [Int?] {
        var places: [NumberedSectionName: Int] = [:]
        for (index, name) in NumberedSectionName.all(of: old).enumerated() { places[name] = index }
        var origins = NumberedSectionName.all(of: new).map { places[$0] }
        let found = origins.enumerated().compactMap { index, origin in origin.map { (index, $0) } }
        let stay = Set(Self.longestIncrease(found.map(\.1)).map { found[$0].0 })
        for index in origins.indices where !stay.contains(index) {
            origins[index] = nil
            insertedSections.append(SectionInsertion(index: index, name: new.sections[index].name))
        }
        let keptOrigins = Set(origins.compactMap { $0 })
        deletedSections = old.sections.indices.filter { !keptOrigins.contains($0) }
        return origins
    }

    private mutating func matchRecords(_ old: RecordViewSnapshot, _ new: RecordViewSnapshot, _ origins: [Int?]) {
        var places: [Int64: RecordIndexPath] = [:]
        places.reserveCapacity(old.count)
        for (section, content) in old.sections.enumerated() {
            for (row, record) in content.records.enumerated() {
                places[record.rowID] = RecordIndexPath(section: section, row: row)
            }
        }
        // Those that are in the same section as before may stay, as many of them as are in the same order.
        var candidates: [(path: RecordIndexPath, origin: RecordIndexPath)] = []
        for (section, content) in new.sections.enumerated() {
            for (row, record) in content.records.enumerated() {
                if let origin = places[record.rowID], origin.section == origins[section] {
                    candidates.append((RecordIndexPath(section: section, row: row), origin))
                }
            }
        }
        let stay = Set(Self.longestIncrease(candidates.map(\.origin)).map { candidates[$0].path })
        // Out of a section that goes, or into one that comes, tables on a screen move no row.
        let (gone, come) = (Set(deletedSections), Set(insertedSections.map(\.index)))
        for (section, content) in new.sections.enumerated() {
            for (row, record) in content.records.enumerated() {
                let path = RecordIndexPath(section: section, row: row)
                guard let origin = places[record.rowID], !come.contains(section), !gone.contains(origin.section) else {
                    insertions.append(Insertion(path: path, record: record))
                    continue
                }
                places[record.rowID] = nil
                let isUpdated = old[origin] != record
                if !stay.contains(path) {
                    moves.append(Move(source: origin, target: path, record: record, isUpdated: isUpdated))
                } else if isUpdated {
                    updates.append(Update(path: origin, record: record))
                }
            }
        }
        deletions = places.values.sorted()
    }

    /// The places of the longest part of a list that increases, by patience sorting.
    static func longestIncrease<Value: Comparable>(_ values: [Value]) -> [Int] {
        // For each length, the place of the smallest value that such a part ends with.
        var ends: [Int] = []
        var before: [Int] = []
        for (place, value) in values.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
            }
            before.append(low > 0 ? ends[low - 1] : -1)
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var result: [Int] = []
        var place = ends.last ?? -1
        while place >= 0 {
            result.append(place)
            place = before[place]
        }
        return result.reversed()
    }
}

/// A section's name, and how many sections before it have the same: texts that are not UTF-8 may look alike.
private struct NumberedSectionName: Hashable {
    let name: SectionName
    let number: Int

    static func all(of snapshot: RecordViewSnapshot) -> [NumberedSectionName] {
        var counts: [SectionName: Int] = [:]
        return snapshot.sections.map { section in
            let name = SectionName(section.name)
            defer { counts[name, default: 0] += 1 }
            return NumberedSectionName(name: name, number: counts[name, default: 0])
        }
    }
}
