/// Bytes that grow at their end, in memory that is kept when they are emptied.
final class CopyBuffer {
    private(set) var base: UnsafeMutableRawPointer
    private var capacity: Int
    /// How many bytes there are.
    var count = 0

    init() {
        capacity = 1 << 16
        base = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { base.deallocate() }

    /// Makes room for this many bytes more, and gives back where they begin.
    @inline(__always)
    func room(_ bytes: Int) -> UnsafeMutableRawPointer {
        if capacity &- count < bytes { grow(bytes) }
        return base + count
    }

    @inline(never)
    private func grow(_ bytes: Int) {
        let wanted = max(count + bytes, capacity + capacity / 2)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 16)
        grown.copyMemory(from: base, byteCount: count)
        base.deallocate()
        (base, capacity) = (grown, wanted)
    }

    /// The bytes in a range; for as long as nothing is added.
    func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
    }
}
