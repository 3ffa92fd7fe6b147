/// Which of an attribute's values repeat, in bounded memory.
///
/// It keeps the values with the smallest hashes and passes all others over. Anyone who has few values has all of them in the sample.
///
/// A value that is in the sample of the whole is in the sample of every part that has it, so samples of parts merge
/// into the sample of the whole whatever the parts are.
package struct ValueSample: Sendable {
    /// What a sample tells.
    package struct Summary: Equatable {
        /// True if none of the sampled values was seen twice.
        package let isUnique: Bool
        /// True if the sample holds every value there was.
        package let isComplete: Bool
    }

    /// How many values the final sample has; up to twice as many are kept on the way.
    private let capacity: Int
    /// Hashes with bit 0 for "seen more than once", in open addressing; 0 for free.
    private var slots: [UInt64]
    private var count = 0
    /// Hashes from here on are not in the sample.
    private var threshold = UInt64.max

    package init(capacity: Int) {
        self.capacity = max(capacity, 1)
        slots = Array(repeating: 0, count: 16)
    }

    /// Takes the hash of one value.
    @inline(__always)
    package mutating func insert(_ hash: UInt64) {
        let value = max(hash & ~1, 2)
        guard value < threshold else { return }
        insert(value, isRepeated: false)
    }

    /// Takes all that another sample has.
    package mutating func merge(_ other: ValueSample) {
        for slot in other.slots where slot != 0 && slot & ~1 < threshold {
            insert(slot & ~1, isRepeated: slot & 1 == 1)
        }
        threshold = min(threshold, other.threshold)
    }

    /// What the values so far tell.
    package func summary() -> Summary {
        let values = slots.filter { $0 != 0 }.sorted().prefix(capacity)
        let isComplete = threshold == .max && count <= capacity
        return Summary(isUnique: values.allSatisfy { $0 & 1 == 0 }, isComplete: isComplete)
    }

    private mutating func insert(_ value: UInt64, isRepeated: Bool) {
        // The low bits choose the slot: the high bits of what stays are all alike.
        var index = Int(truncatingIfNeeded: value >> 1) & (slots.count - 1)
        while slots[index] != 0 {
            if slots[index] & ~1 == value {
                slots[index] |= 1
                return
            }
            index = (index + 1) & (slots.count - 1)
        }
        slots[index] = value | (isRepeated ? 1 : 0)
        count += 1
        if count >= 2 * capacity {
            prune()
        } else if count * 2 > slots.count {
            rebuild(from: slots.filter { $0 != 0 }, slotCount: slots.count * 2)
        }
    }

    private mutating func prune() {
        let sorted = slots.filter { $0 != 0 }.sorted()
        threshold = min(threshold, sorted[capacity] & ~1)
        rebuild(from: Array(sorted[..<capacity]), slotCount: slots.count)
    }

    private mutating func rebuild(from values: [UInt64], slotCount: Int) {
        slots = Array(repeating: 0, count: slotCount)
        count = values.count
        for value in values {
            var index = Int(truncatingIfNeeded: value >> 1) & (slotCount - 1)
            while slots[index] != 0 { index = (index + 1) & (slotCount - 1) }
            slots[index] = value
        }
    }
}
