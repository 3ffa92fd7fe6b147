/// A batch's cells with the bytes that they are slices of.
package struct RowValues {
    package let cells: UnsafeBufferPointer<Cell>
    package let chunk: UnsafeBufferPointer<UInt8>
    package let own: UnsafeBufferPointer<UInt8>
    package let defaults: UnsafeBufferPointer<UInt8>

    package init(
        cells: UnsafeBufferPointer<Cell>,
        chunk: UnsafeBufferPointer<UInt8>,
        own: UnsafeBufferPointer<UInt8>,
        defaults: UnsafeBufferPointer<UInt8>
    ) {
        (self.cells, self.chunk, self.own, self.defaults) = (cells, chunk, own, defaults)
    }

    /// The same for the plan's defaults.
    @inline(__always)
    package var absent: RowValues { RowValues(cells: cells, chunk: chunk, own: defaults, defaults: defaults) }

    @inline(__always)
    package func text(_ cell: Cell) -> UnsafeRawBufferPointer {
        let bytes = cell.tag == .chunkText ? chunk : own
        return UnsafeRawBufferPointer(
            UnsafeBufferPointer(rebasing: bytes[cell.textOffset..<cell.textOffset + cell.textLength])
        )
    }
}
