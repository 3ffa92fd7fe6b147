/// Leads from the lines of a chunk back to the offsets in the source that they were taken from.
///
/// Lines must be asked for in their order, from the first one.
struct ChunkPositions {
    /// Where a record is in the source.
    struct Place: Sendable, Hashable {
        /// Its first byte.
        let firstByte: Int64
        /// Its length; for a record of a keyed collection from its key's opening quote on.
        let length: Int64
        /// The index of its record path.
        let path: Int
        /// How many bytes the line has before the one that is at `firstByte`: 1 where its key was put in braces.
        let prefix: Int
    }

    private let entry: ChunkEntry
    private let isKeyed: [Bool]
    private var line = 0
    private var end: Int64
    private var gapRun = 0
    private var gapsLeft: Int
    private var pathRun = 0
    private var pathsLeft: Int
    private var reject = 0

    /// - Parameters:
    ///   - entry: the chunk.
    ///   - isKeyed: for each record path of the source, whether it ends in `.*`.
    init(_ entry: ChunkEntry, isKeyed: [Bool]) {
        self.entry = entry
        self.isKeyed = isKeyed
        end = entry.firstByte
        gapsLeft = entry.gaps.first?.count ?? 0
        pathsLeft = entry.paths.first?.count ?? 0
    }

    /// The place of the next line.
    ///
    /// - Parameter lineLength: the line's length without its line break; 0 for a record that was passed over.
    /// - Returns: where its record is.
    mutating func next(lineLength: Int) -> Place {
        let path = Int(value(entry.paths, &pathRun, &pathsLeft))
        let start = end &+ value(entry.gaps, &gapRun, &gapsLeft)
        var prefix = 0
        var length = Int64(lineLength)
        if reject < entry.rejects.count, entry.rejects[reject].line == line {
            length = entry.rejects[reject].length
            reject += 1
        } else if isKeyed[path] {
            prefix = 1
            length -= 2
        }
        line += 1
        end = start &+ length
        return Place(firstByte: start, length: length, path: path, prefix: prefix)
    }

    private func value(_ runs: [ChunkEntry.Run], _ run: inout Int, _ left: inout Int) -> Int64 {
        while left == 0, run + 1 < runs.count {
            run += 1
            left = runs[run].count
        }
        left -= 1
        return run < runs.count ? runs[run].value : 0
    }
}
