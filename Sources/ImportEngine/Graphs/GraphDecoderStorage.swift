/// The decoders of a graph's entities, and room for the cells of a link, where nothing has to be checked to change them.
///
/// Used by one worker.
package final class GraphDecoderStorage {
    let decoders: UnsafeMutablePointer<RecordDecoder>
    package let cells: UnsafeMutableBufferPointer<Cell>
    /// All bits are set.
    package let presence: UnsafeMutableBufferPointer<UInt64>
    /// Room for the presence mask of a row.
    let rowPresence: UnsafeMutableBufferPointer<UInt64>
    private let count: Int

    package init(_ decoders: [RecordDecoder]) {
        count = decoders.count
        self.decoders = .allocate(capacity: decoders.count)
        for (index, decoder) in decoders.enumerated() { (self.decoders + index).initialize(to: decoder) }
        // Two identifiers and a position.
        let most = 2 * (decoders.map(\.plan.identifier.count).max() ?? 0) + 1
        cells = .allocate(capacity: most)
        cells.initialize(repeating: .null)
        presence = .allocate(capacity: (most + 63) / 64)
        presence.initialize(repeating: .max)
        let widest = decoders.map(\.plan.attributes.count).max() ?? 0
        rowPresence = .allocate(capacity: (widest + 63) / 64)
        rowPresence.initialize(repeating: 0)
    }

    deinit {
        decoders.deinitialize(count: count)
        decoders.deallocate()
        cells.deallocate()
        presence.deallocate()
        rowPresence.deallocate()
    }
}
