/// Which records of a source are accepted: of each record path those after the first `skip`, and `limit` of them.
///
/// Made, used and dropped by one thread.
struct RecordSkipLimit {
    private let skip: Int64
    /// How many records of a path have passed when no more of it are accepted.
    private let end: Int64
    /// Records of each path so far, those that were left out included; nil where all are accepted.
    private(set) var recordsBefore: [Int64]?
    /// How many paths may still give records.
    private var openPaths: Int

    /// - Parameters:
    ///   - limits: what is to be left out.
    ///   - pathCount: how many record paths the source has.
    ///   - before: how many records of each path have passed; nil at the source's beginning.
    init(_ limits: SplitLimits, pathCount: Int, before: [Int64]?) {
        skip = limits.skip
        let (sum, isTooLarge) = limits.skip.addingReportingOverflow(limits.limit ?? .max)
        let end = isTooLarge ? Int64.max : sum
        self.end = end
        openPaths = pathCount
        guard limits.areCounted else { return }
        let known = before ?? []
        let counts = (0..<pathCount).map { $0 < known.count ? known[$0] : 0 }
        recordsBefore = counts
        // Nothing is taken of a path with a limit of 0, not even what is to be skipped.
        openPaths = limits.limit == 0 ? 0 : counts.count { $0 < end }
    }

    /// True if no record path gives any more records.
    var isPassed: Bool { openPaths == 0 }

    /// Takes no more records.
    mutating func close() { openPaths = 0 }

    /// True if the next record of a path is accepted.
    @inline(__always)
    func takesNext(of path: Int) -> Bool {
        guard let recordsBefore else { return true }
        return recordsBefore[path] >= skip && recordsBefore[path] < end
    }

    /// Counts a record, taken or not.
    @inline(__always)
    mutating func pass(_ path: Int) {
        if recordsBefore != nil { count(path) }
    }

    private mutating func count(_ path: Int) {
        guard let number = recordsBefore?[path] else { return }
        recordsBefore?[path] = number + 1
        if number + 1 == end { openPaths -= 1 }
    }
}
