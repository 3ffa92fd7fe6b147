/// The bytes that a digest of cells is made of, which are equal only if the values are.
///
/// Used by one worker.
@usableFromInline package struct RowDigestInput {
    @usableFromInline package var bytes = UnsafeMutableRawPointer.allocate(byteCount: 1 << 10, alignment: 16)
    @usableFromInline package var count = 0
    @usableFromInline var capacity = 1 << 10

    package init() {}

    package func deallocate() { bytes.deallocate() }

    /// At most this many bytes are appended for these cells.
    @inline(__always)
    @inlinable package static func size(of cells: UnsafeBufferPointer<Cell>) -> Int {
        cells.reduce(0) { $0 + 16 + $1.textLength }
    }

    /// Empties it.
    ///
    /// - Parameter size: how many bytes are appended then, at most.
    @inline(__always)
    @inlinable package mutating func begin(reserving size: Int) {
        count = 0
        guard size > capacity else { return }
        bytes.deallocate()
        capacity = size
        bytes = .allocate(byteCount: size, alignment: 16)
    }

    @inline(__always)
    @inlinable package mutating func append(_ word: UInt64) {
        bytes.storeBytes(of: word, toByteOffset: count, as: UInt64.self)
        count += 8
    }

    /// Appends a value; one that was made for an object is like any other that was, as it changes none that is there.
    @inline(__always)
    @inlinable package mutating func append(_ cell: Cell, _ values: RowValues) {
        if cell.isGenerated { append(UInt64(cell.tag.rawValue)) } else { append(key: cell, values) }
    }

    /// Appends a value of an identifier, whether it was made for the object or not.
    @inline(__always)
    @inlinable package mutating func append(key cell: Cell, _ values: RowValues) {
        switch cell.tag {
        case .null: append(UInt64(cell.tag.rawValue))
        case .integer, .real:
            append(UInt64(cell.tag.rawValue))
            append(cell.payload)
        case .chunkText, .batchText, .generatedText: append(.batchText, values.text(cell))
        case .batchBlob, .generatedBlob: append(.batchBlob, values.text(cell))
        }
    }

    /// Appends a text or blob.
    @inline(__always)
    @inlinable package mutating func append(_ tag: Cell.Tag, _ text: UnsafeRawBufferPointer) {
        // The length is in the same word.
        append(UInt64(tag.rawValue) | UInt64(truncatingIfNeeded: text.count) << 8)
        guard let address = text.baseAddress else { return }
        (bytes + count).copyMemory(from: address, byteCount: text.count)
        count += text.count
    }
}
