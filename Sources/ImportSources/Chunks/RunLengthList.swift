/// Values in a row, equal ones counted.
struct RunLengthList {
    private var ended: [ChunkEntry.Run] = []
    /// The value of the run at hand; -1 before the first.
    private var value: Int64 = -1
    private var count = 0

    /// How many runs there are.
    var runCount: Int { ended.count + (count > 0 ? 1 : 0) }

    /// All runs.
    var runs: [ChunkEntry.Run] { count > 0 ? ended + [ChunkEntry.Run(count: count, value: value)] : [] }

    /// Adds a value, from 0.
    @inline(__always)
    mutating func append(_ value: Int64) {
        if value == self.value {
            count += 1
        } else {
            begin(value)
        }
    }

    private mutating func begin(_ value: Int64) {
        if count > 0 { ended.append(ChunkEntry.Run(count: count, value: self.value)) }
        self.value = value
        count = 1
    }
}
