/// A batch's cells with the bytes that they are slices of.
@usableFromInline package struct RowValues {
    @usableFromInline package let cells: UnsafeBufferPointer<Cell>
    @usableFromInline package let chunk: UnsafeBufferPointer<UInt8>
    @usableFromInline package let own: UnsafeBufferPointer<UInt8>
    @usableFromInline package let defaults: UnsafeBufferPointer<UInt8>

    @inlinable package init(
        cells: UnsafeBufferPointer<Cell>,
        chunk: UnsafeBufferPointer<UInt8>,
        own: UnsafeBufferPointer<UInt8>,
        defaults: UnsafeBufferPointer<UInt8> = UnsafeBufferPointer(start: nil, count: 0)
    ) {
        (self.cells, self.chunk, self.own, self.defaults) = (cells, chunk, own, defaults)
    }

    /// The same for the plan's defaults.
    @inline(__always)
    @inlinable package var absent: RowValues {
        RowValues(cells: cells, chunk: chunk, own: defaults, defaults: defaults)
    }

    @inline(__always)
    @inlinable package func text(_ cell: Cell) -> UnsafeRawBufferPointer {
        let bytes = cell.tag == .chunkText ? chunk : own
        return UnsafeRawBufferPointer(
            UnsafeBufferPointer(rebasing: bytes[cell.textOffset..<cell.textOffset + cell.textLength])
        )
    }
}
