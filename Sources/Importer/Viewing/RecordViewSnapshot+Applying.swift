extension RecordViewSnapshot {
    /// The snapshot that results from applying changes to this one.
    ///
    /// - Returns: nil if the changes are not of this snapshot.
    public func applying(_ changes: RecordViewChanges) -> RecordViewSnapshot? {
        var kept = sections.map { $0.records.map { Optional($0) } }
        for path in changes.deletions + changes.moves.map(\.source) {
            guard self[path] != nil else { return nil }
            kept[path.section][path.row] = nil
        }
        for update in changes.updates {
            guard self[update.path]?.rowID == update.record.rowID else { return nil }
            kept[update.path.section][update.path.row] = update.record
        }
        var result = zip(sections, kept).map { (name: $0.name, records: $1.compactMap { $0 }) }
        for index in changes.deletedSections.reversed() {
            guard result.indices.contains(index), result[index].records.isEmpty else { return nil }
            result.remove(at: index)
        }
        for section in changes.insertedSections {
            guard section.index <= result.count else { return nil }
            result.insert((section.name, []), at: section.index)
        }
        let coming =
            changes.insertions.map { ($0.path, $0.record) } + changes.moves.map { ($0.target, $0.record) }
        // From the first place to the last, each is where it is to be once it is put in.
        for (path, record) in coming.sorted(by: { $0.0 < $1.0 }) {
            guard result.indices.contains(path.section), path.row <= result[path.section].records.count else {
                return nil
            }
            result[path.section].records.insert(record, at: path.row)
        }
        return RecordViewSnapshot(
            sections: result.map { Section(name: $0.name, records: $0.records) },
            offset: changes.offset,
            total: changes.total
        )
    }
}
