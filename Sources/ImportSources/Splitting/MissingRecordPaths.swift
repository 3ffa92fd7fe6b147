/// The record paths of a source of which neither a record nor the collection was found yet.
struct MissingRecordPaths {
    private let pathCount: Int
    /// As a bit mask.
    private var paths: UInt64

    /// - Parameter start: where the split begins or continues.
    init(at start: SplitPosition, _ settings: ChunkBuilder.Settings) {
        pathCount = settings.pathCount
        let paths = start.byteOffset == 0 ? Array(0..<pathCount) : start.missingPaths ?? []
        // Nothing is looked for where nothing is wanted.
        self.paths = settings.limits.limit == 0 ? 0 : paths.reduce(0) { $0 | 1 << UInt64($1) }
    }

    /// Leaves out record paths whose collections were found, as a bit mask.
    mutating func find(_ found: UInt64) {
        paths &= ~found
    }

    /// Those that are left; nil for none.
    ///
    /// - Parameters:
    ///   - runs: the record paths of the open chunk's records.
    ///   - recordsBefore: how many records each path has had, where they are counted.
    mutating func left(besides runs: [ChunkEntry.Run], _ recordsBefore: [Int64]?) -> [Int]? {
        for run in runs { find(1 << UInt64(run.value)) }
        for (path, count) in (recordsBefore ?? []).enumerated() where count > 0 { find(1 << UInt64(path)) }
        guard paths != 0 else { return nil }
        return (0..<pathCount).filter { paths & 1 << UInt64($0) != 0 }
    }
}
