import CXXHash
import ImportModel

/// What a row says of its object, in so few bytes that it can be kept: two rows with the same digest say the same of the same
/// object.
package struct RowDigest: Equatable {
    /// That of the object's identifier and entity.
    package var key: UInt64 = 0
    /// That of everything, the identifier included.
    package var high: UInt64 = 0
    package var low: UInt64 = 0
}

/// Makes digests with XXH3 (<https://xxhash.com>) and a seed of this process: no input can be made to have the digest of
/// another.
///
/// Made and used by one worker.
final class RowDigester {
    private static let seed = UInt64.random(in: .min ... .max)

    // In memory of its own: each look at a property of a class that changes would be checked.
    private let scratch: UnsafeMutablePointer<RowDigestInput>

    init() {
        scratch = .allocate(capacity: 1)
        scratch.initialize(to: RowDigestInput())
    }

    deinit {
        scratch.pointee.deallocate()
        scratch.deinitialize(count: 1)
        scratch.deallocate()
    }

    /// The digest of a row.
    ///
    /// - Parameters:
    ///   - index: its own in the batch; its identifier's cells follow its own.
    ///   - keyWidth: how many attributes its identifier has.
    ///   - presenceWords: how many words its presence mask has.
    ///   - policy: what it does to a stored object.
    ///   - input: the record that it is of.
    func digest(
        of index: Int,
        in batch: borrowing RowBatch,
        keyWidth: Int,
        presenceWords: Int,
        _ policy: ConflictPolicy,
        _ input: RecordDecoder.Input
    ) -> RowDigest {
        let (row, keyCell) = (batch.rows[index], batch.graph.nested[index].keyCell)
        return batch.bytes.withUnsafeBufferPointer { own in
            batch.cells.withUnsafeBufferPointer { cells in
                batch.presence.withUnsafeBufferPointer { presence in
                    digest(
                        UnsafeBufferPointer(rebasing: cells[row.firstCell..<keyCell]),
                        key: UnsafeBufferPointer(rebasing: cells[keyCell..<keyCell + keyWidth]),
                        presence: UnsafeBufferPointer(
                            rebasing: presence[row.firstPresenceWord...].prefix(presenceWords)
                        ),
                        entity: row.entity,
                        policy,
                        chunk: input.chunk,
                        own: own
                    )
                }
            }
        }
    }

    /// The digest of a row that is given by its parts.
    ///
    /// - Parameters:
    ///   - key: those of its identifier.
    ///   - entity: its entity's index in the job.
    ///   - policy: what it does to a stored object.
    ///   - chunk: the bytes that texts are slices of, as `own` is.
    func digest(
        _ cells: UnsafeBufferPointer<Cell>,
        key: UnsafeBufferPointer<Cell>,
        presence: UnsafeBufferPointer<UInt64>,
        entity: Int32,
        _ policy: ConflictPolicy,
        chunk: UnsafeBufferPointer<UInt8>,
        own: UnsafeBufferPointer<UInt8>
    ) -> RowDigest {
        let values = RowValues(cells: cells, chunk: chunk, own: own)
        let size = RowDigestInput.size(of: key) + RowDigestInput.size(of: cells) + 8 * presence.count + 16
        scratch.pointee.begin(reserving: size)
        scratch.pointee.append(UInt64(truncatingIfNeeded: entity))
        for cell in key { scratch.pointee.append(key: cell, values) }
        let keyHash = XXH3_64bits_withSeed(scratch.pointee.bytes, scratch.pointee.count, Self.seed)
        scratch.pointee.append(policy == .merge ? 0 : 1)
        for word in presence { scratch.pointee.append(word) }
        for cell in cells { scratch.pointee.append(cell, values) }
        let hash = XXH3_128bits_withSeed(scratch.pointee.bytes, scratch.pointee.count, Self.seed)
        return RowDigest(key: keyHash, high: hash.high64, low: hash.low64)
    }
}

/// The last digests of many objects, as far as there is room: whether a row says the same of its object as the one before
/// it can be told without a look at the store.
///
/// A row that is forgotten is written again, which changes nothing; a digest that is kept is that of the last row of its object.
package struct RowDigestCache {
    /// The one of a job: 4 MB.
    private static let slots = 1 << 18

    private var digests: [(high: UInt64, low: UInt64)] = []

    package init() {}

    /// Remembers what a row says.
    ///
    /// - Returns: whether the last one of its object said the same.
    package mutating func remember(_ digest: RowDigest) -> Bool {
        if digests.isEmpty { digests = Array(repeating: (0, 0), count: Self.slots) }
        let slot = Int(truncatingIfNeeded: digest.key & UInt64(Self.slots - 1))
        if digests[slot] == (digest.high, digest.low) { return true }
        digests[slot] = (digest.high, digest.low)
        return false
    }

    /// Forgets what a row has said.
    package mutating func forget(_ digest: RowDigest) {
        guard !digests.isEmpty else { return }
        digests[Int(truncatingIfNeeded: digest.key & UInt64(Self.slots - 1))] = (0, 0)
    }
}
