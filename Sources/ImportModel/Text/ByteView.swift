/// A borrowed run of bytes: a pointer and a count, for the time of one call.
///
/// It is what `Span` will be once the oldest supported toolchain has it. Anyone who makes one keeps the bytes alive
/// and unchanged until the call that takes it returns; nothing that outlives the call may keep it.
// Usable from inline, and all of its members inlinable: that is what makes it free in other modules.
@usableFromInline
package struct ByteView {
    @usableFromInline package let base: UnsafePointer<UInt8>
    @usableFromInline package let count: Int

    /// Borrows `count` bytes from `base`.
    @inlinable
    @inline(__always)
    package init(base: UnsafePointer<UInt8>, count: Int) {
        self.base = base
        self.count = count
    }

    /// Borrows a buffer; an empty buffer without an address is an empty view.
    @inlinable
    @inline(__always)
    package init(_ buffer: UnsafeBufferPointer<UInt8>) {
        base = buffer.baseAddress ?? UnsafePointer(bitPattern: 1)!
        count = buffer.count
    }

    /// The byte at `index`, from 0, below `count`.
    @inlinable
    @inline(__always)
    package subscript(index: Int) -> UInt8 {
        base[index]
    }

    /// The bytes in `range`, borrowed from the same place.
    @inlinable
    @inline(__always)
    package subscript(range: Range<Int>) -> ByteView {
        ByteView(base: base + range.lowerBound, count: range.count)
    }

    /// The same bytes as a buffer, for the standard library's algorithms.
    @inlinable
    @inline(__always)
    package var buffer: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: base, count: count)
    }
}
