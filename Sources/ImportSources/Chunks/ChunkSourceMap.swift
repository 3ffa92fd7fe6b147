import ImportModel

/// Leads from the lines of a chunk back to the offsets in the source that they were taken from.
///
/// Lines must be asked for in their order, from the first one.
package struct ChunkSourceMap {
    /// Where a record is in the source.
    package struct Location: Sendable, Hashable {
        /// Its first byte.
        package let firstByte: Int64
        /// Its length; for a record of a keyed collection from its key's opening quote on.
        package let length: Int64
        /// The index of its record path.
        package let path: Int
        /// How many bytes the line has before the one that is at `firstByte`: those of keys further out, and of a brace
        /// before the key that is there.
        package let prefix: Int
    }

    private let entry: ChunkEntry
    private let keys: [LineKeys]
    private var line = 0
    private var end: Int64
    private var gapRun = 0
    private var gapsLeft: Int
    private var pathRun = 0
    private var pathsLeft: Int
    private var reject = 0

    /// - Parameters:
    ///   - entry: the chunk.
    ///   - keys: those of each record path of the source.
    package init(_ entry: ChunkEntry, keys: [LineKeys]) {
        self.entry = entry
        self.keys = keys
        end = entry.firstByte
        gapsLeft = entry.gaps.first?.count ?? 0
        pathsLeft = entry.paths.first?.count ?? 0
    }

    /// The place of the next line.
    ///
    /// - Parameter line: the line without its line break; empty for a record that was passed over.
    /// - Returns: where its record is.
    package mutating func next(_ line: ByteView) -> Location {
        let path = Int(value(entry.paths, &pathRun, &pathsLeft))
        let start = end &+ value(entry.gaps, &gapRun, &gapsLeft)
        var prefix = 0
        var length = Int64(line.count)
        if reject < entry.rejects.count, entry.rejects[reject].line == self.line {
            length = entry.rejects[reject].length
            reject += 1
        } else if keys[path].count > 0 {
            prefix = keys[path].prefix(of: line)
            length -= Int64(prefix + keys[path].count)
        }
        self.line += 1
        end = start &+ length
        return Location(firstByte: start, length: length, path: path, prefix: prefix)
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
