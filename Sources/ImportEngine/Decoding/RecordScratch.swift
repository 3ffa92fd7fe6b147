import ImportModel

/// What a decoder knows of the record at hand, and where it puts its row together.
///
/// Asked and changed for every key and value of every record, so it lies in memory of its own, which is as large as the
/// entity asks for and never grows. Used by one decoder.
package final class RecordScratch {
    /// The token that fills a slot, in records of this generation, or what stands for it (`RecordDecoder.token`).
    package struct Slot {
        package var generation: UInt32 = 0
        package var token: Int32 = -1
    }

    /// What coercion notes of an attribute's value.
    package struct Note {
        package var notes: CoercionNotes = []
        package var attribute: Int32 = 0
    }

    package let slots: UnsafeMutableBufferPointer<Slot>
    /// The generation in which each node's key was last seen.
    package let seen: UnsafeMutableBufferPointer<UInt32>
    /// The generation in which a key that fills each slot was last seen again.
    package let repeated: UnsafeMutableBufferPointer<UInt32>
    /// The row's cells, of which there is at most one per attribute, and its presence mask.
    package let cells: UnsafeMutableBufferPointer<Cell>
    package let presence: UnsafeMutableBufferPointer<UInt64>
    /// Notes of the record at hand, of which there is at most one per attribute.
    package let notes: UnsafeMutableBufferPointer<Note>
    /// Notes of the records that were accepted, by attribute and kind.
    let noteCounts: UnsafeMutableBufferPointer<Int64>

    package init(_ plan: EntityPlan) {
        slots = .allocate(capacity: max(1, plan.slotCount))
        seen = .allocate(capacity: plan.trie.count)
        repeated = .allocate(capacity: plan.slotCount)
        cells = .allocate(capacity: plan.attributes.count)
        presence = .allocate(capacity: (plan.attributes.count + 63) / 64)
        notes = .allocate(capacity: plan.attributes.count)
        noteCounts = .allocate(capacity: max(1, plan.attributes.count * CoercionNotes.count))
        notes.initialize(repeating: Note())
        noteCounts.initialize(repeating: 0)
        cells.initialize(repeating: .null)
        presence.initialize(repeating: 0)
        slots.initialize(repeating: Slot())
        seen.initialize(repeating: 0)
        repeated.initialize(repeating: 0)
    }

    deinit {
        slots.deallocate()
        seen.deallocate()
        repeated.deallocate()
        cells.deallocate()
        presence.deallocate()
        notes.deallocate()
        noteCounts.deallocate()
    }

    /// Counts a note of a record that is accepted.
    package func count(_ note: Note) {
        var bits = note.notes.rawValue
        while bits != 0 {
            noteCounts[Int(note.attribute) * CoercionNotes.count + bits.trailingZeroBitCount] += 1
            bits &= bits - 1
        }
    }

    /// Forgets what was seen in which generation: generation 0 is none.
    package func reset() {
        slots.update(repeating: Slot())
        seen.update(repeating: 0)
        repeated.update(repeating: 0)
    }
}
