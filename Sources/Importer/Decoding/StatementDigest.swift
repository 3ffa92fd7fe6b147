import CXXHash
import ImportModel

/// What a row says of its object, in so few bytes that it can be kept: two rows with the same digest say the same of the same
/// object.
struct StatementDigest: Equatable {
    /// That of the object's identifier and entity.
    var key: UInt64 = 0
    /// That of everything, the identifier included.
    var high: UInt64 = 0
    var low: UInt64 = 0
}

/// Makes digests with XXH3 (<https://xxhash.com>) and a seed of this process: no input can be made to have the digest of
/// another.
///
/// Made and used by one worker.
final class StatementDigester {
    private static let seed = UInt64.random(in: .min ... .max)

    private var scratch: [UInt8] = []

    /// The digest of a row.
    ///
    /// - Parameters:
    ///   - index: its own in the batch; its identifier's cells follow its own.
    ///   - plan: its entity's.
    ///   - policy: what it does to a stored object.
    ///   - input: the record that it is of.
    func digest(
        of index: Int,
        in batch: borrowing RowBatch,
        _ plan: EntityPlan,
        _ policy: ConflictPolicy,
        _ input: RecordDecoder.Input
    ) -> StatementDigest {
        let (row, keyCell) = (batch.rows[index], batch.graph.nested[index].keyCell)
        return batch.bytes.withUnsafeBufferPointer { own in
            batch.cells.withUnsafeBufferPointer { cells in
                let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
                let values = RowValues(cells: cells, chunk: input.chunk, own: own, defaults: none)
                scratch.removeAll(keepingCapacity: true)
                append(UInt64(truncatingIfNeeded: row.entity))
                for cell in cells[keyCell..<keyCell + plan.identifier.count] { append(cell, values) }
                let key = scratch.withUnsafeBytes { XXH3_64bits_withSeed($0.baseAddress, $0.count, Self.seed) }
                scratch.append(policy == .merge ? 0 : 1)
                let words = (plan.attributes.count + 63) / 64
                for word in batch.presence[row.firstPresenceWord..<row.firstPresenceWord + words] { append(word) }
                for cell in cells[row.firstCell..<keyCell] { append(cell, values) }
                let hash = scratch.withUnsafeBytes { XXH3_128bits_withSeed($0.baseAddress, $0.count, Self.seed) }
                return StatementDigest(key: key, high: hash.high64, low: hash.low64)
            }
        }
    }

    private func append(_ word: UInt64) {
        withUnsafeBytes(of: word) { scratch.append(contentsOf: $0) }
    }

    private func append(_ cell: Cell, _ values: RowValues) {
        scratch.append(cell.tag == .chunkText ? Cell.Tag.batchText.rawValue : cell.tag.rawValue)
        switch cell.tag {
        // What is made for an object changes none that is there.
        case .null, .generatedText: break
        case .integer, .real: append(cell.payload)
        case .chunkText, .batchText, .batchBlob:
            append(UInt64(cell.length))
            scratch.append(contentsOf: values.text(cell))
        }
    }
}

/// The last digests of many objects, as far as there is room: whether a row says the same of its object as the one before
/// it can be told without a look at the store.
///
/// A row that is forgotten is written again, which changes nothing; a digest that is kept is that of the last row of its object.
struct StatementMemory {
    private static let slots = 1 << 18

    private var digests: [(high: UInt64, low: UInt64)] = []

    /// Remembers what a row says.
    ///
    /// - Returns: whether the last one of its object said the same.
    mutating func remember(_ digest: StatementDigest) -> Bool {
        if digests.isEmpty { digests = Array(repeating: (0, 0), count: Self.slots) }
        let slot = Int(truncatingIfNeeded: digest.key & UInt64(Self.slots - 1))
        if digests[slot] == (digest.high, digest.low) { return true }
        digests[slot] = (digest.high, digest.low)
        return false
    }

    /// Forgets what a row has said.
    mutating func forget(_ digest: StatementDigest) {
        guard !digests.isEmpty else { return }
        digests[Int(truncatingIfNeeded: digest.key & UInt64(Self.slots - 1))] = (0, 0)
    }

    /// Forgets everything.
    mutating func removeAll() { digests = [] }
}
