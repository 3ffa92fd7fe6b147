/// A batch's cells with the bytes that they are slices of.
struct RowValues {
    let cells: UnsafeBufferPointer<Cell>
    let chunk: UnsafeBufferPointer<UInt8>
    let own: UnsafeBufferPointer<UInt8>
    let defaults: UnsafeBufferPointer<UInt8>

    /// The same for the plan's defaults.
    @inline(__always)
    var absent: RowValues { RowValues(cells: cells, chunk: chunk, own: defaults, defaults: defaults) }

    @inline(__always)
    func text(_ cell: Cell) -> UnsafeRawBufferPointer {
        let bytes = cell.tag == .chunkText ? chunk : own
        return UnsafeRawBufferPointer(
            UnsafeBufferPointer(rebasing: bytes[cell.textOffset..<cell.textOffset + cell.textLength])
        )
    }
}
