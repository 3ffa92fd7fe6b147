/// Which attributes each of consecutive rows mentions, as runs of equal presence masks.
///
/// Kept while rows with the same identifier stand beside each other (DESIGN §8): a row has the default or NULL where its
/// record has no key, and merging must tell that from a value.
struct PresenceRuns {
    /// The row id of the first row.
    private(set) var firstRowID: Int64 = 0
    /// The runs but for the last: each the number of rows, then the mask's words, all as 64-bit little-endian integers.
    private var words: [UInt64] = []
    private var mask: [UInt64] = []
    private var count: UInt64 = 0
    /// How many words a mask has.
    private let width: Int

    init(_ plan: EntityPlan) {
        width = Self.width(of: plan)
    }

    private static func width(of plan: EntityPlan) -> Int { (plan.types.count + 63) / 64 }

    var isEmpty: Bool { count == 0 }

    /// Adds the row after the last one.
    ///
    /// - Parameter presence: begins with the row's mask.
    mutating func add(_ presence: ArraySlice<UInt64>, rowID: Int64) {
        if isEmpty { firstRowID = rowID }
        if count > 0, mask.elementsEqual(presence.prefix(width)) {
            count += 1
            return
        }
        endRun()
        mask.removeAll(keepingCapacity: true)
        mask.append(contentsOf: presence.prefix(width))
        count = 1
    }

    private mutating func endRun() {
        guard count > 0 else { return }
        words.append(count)
        words += mask
    }

    /// The runs as the store keeps them.
    var encoded: [UInt8] {
        var runs = self
        runs.endRun()
        return runs.words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
    }

    /// Reads what `encoded` gave.
    struct Reader {
        /// The rows that each run ends before, as offsets from the first row.
        private var ends: [Int64] = []
        private var masks: [UInt64] = []
        private let firstRowID: Int64
        private let width: Int

        /// - Returns: nil where the bytes are not whole runs.
        init?(_ bytes: [UInt8], firstRowID: Int64, plan: EntityPlan) {
            self.firstRowID = firstRowID
            width = PresenceRuns.width(of: plan)
            let size = 8 * (width + 1)
            guard bytes.count.isMultiple(of: size) else { return nil }
            var end: Int64 = 0
            for run in stride(from: 0, to: bytes.count, by: size) {
                end += Int64(truncatingIfNeeded: Self.word(bytes, at: run))
                ends.append(end)
                for word in stride(from: 1, through: width, by: 1) {
                    masks.append(Self.word(bytes, at: run + 8 * word))
                }
            }
        }

        private static func word(_ bytes: [UInt8], at offset: Int) -> UInt64 {
            bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// Whether these runs have the row.
        func covers(_ rowID: Int64) -> Bool {
            rowID >= firstRowID && rowID - firstRowID < ends.last ?? 0
        }

        /// The words of the row's mask; the row must be covered.
        func mask(of rowID: Int64) -> ArraySlice<UInt64> {
            let offset = rowID - firstRowID
            // The first run that ends behind the row.
            var (low, high) = (0, ends.count - 1)
            while low < high {
                let middle = (low + high) / 2
                if ends[middle] > offset { high = middle } else { low = middle + 1 }
            }
            return masks[low * width..<(low + 1) * width]
        }
    }
}
