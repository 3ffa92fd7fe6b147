import ImportEngine

/// Which attributes each of consecutive rows mentions, as runs of equal presence masks.
///
/// Kept while rows with the same identifier are beside each other: a row has the default or NULL where its
/// record has no key, and merging must tell that from a value.
package struct PresenceMasks {
    /// Some runs as the store keeps them.
    ///
    /// A run is its rows' end, counted from the block's first row, and then the words of their mask, all of them 64-bit
    /// little-endian integers; so a row is found by halving, without taking the block apart.
    package struct Block {
        let firstRowID: Int64
        package private(set) var bytes: [UInt8] = []

        fileprivate mutating func append(_ word: UInt64) {
            withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
        }

        private func word(_ index: Int) -> UInt64 {
            bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)) }
        }

        /// The words of a row's mask; nil where the block does not have the row.
        package func mask(of rowID: Int64, plan: EntityPlan) -> [UInt64]? {
            let width = PresenceMasks.width(of: plan)
            let size = width + 1
            let runs = bytes.count / (8 * size)
            guard rowID >= firstRowID, runs > 0, bytes.count == 8 * size * runs else { return nil }
            let offset = UInt64(bitPattern: rowID &- firstRowID)
            // The first run that ends after the row.
            var (low, high) = (0, runs - 1)
            while low < high {
                let middle = (low + high) / 2
                if word(middle * size) > offset { high = middle } else { low = middle + 1 }
            }
            guard word(low * size) > offset else { return nil }
            return (1...width).map { word(low * size + $0) }
        }
    }

    /// So many runs make a block: one that is read for a single row should not be large.
    private static let mostRuns = 256

    private var done: [Block] = []
    private var block: Block?
    private var runs = 0
    private var mask: [UInt64] = []
    private var end: UInt64 = 0

    /// How many words a mask has.
    private static func width(of plan: EntityPlan) -> Int { max(1, (plan.attributes.count + 63) / 64) }

    /// Adds the row after the last one.
    package mutating func add(_ presence: ArraySlice<UInt64>, rowID: Int64) {
        if block == nil { block = Block(firstRowID: rowID) }
        if end == 0 || !mask.elementsEqual(presence) {
            endRun()
            if runs == Self.mostRuns, let full = block {
                done.append(full)
                block = Block(firstRowID: rowID)
                (runs, end) = (0, 0)
            }
            mask.removeAll(keepingCapacity: true)
            mask.append(contentsOf: presence)
        }
        end += 1
    }

    private mutating func endRun() {
        guard end > 0 else { return }
        block?.append(end)
        for word in mask { block?.append(word) }
        runs += 1
    }

    /// All blocks, in the rows' order.
    package var blocks: [Block] {
        var all = self
        all.endRun()
        return all.done + (all.block.map { [$0] } ?? [])
    }
}
