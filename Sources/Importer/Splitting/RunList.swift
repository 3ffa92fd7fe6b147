/// Values in a row, equal ones counted.
struct RunList {
    private(set) var runs: [ChunkEntry.Run] = []
    private var last: Int64 = -1

    /// - Parameter value: from 0.
    @inline(__always)
    mutating func append(_ value: Int64) {
        if value == last {
            runs[runs.count - 1].count += 1
        } else {
            last = value
            runs.append(ChunkEntry.Run(count: 1, value: value))
        }
    }
}
