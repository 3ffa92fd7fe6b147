/// The values of cells as bytes, which are equal only if the values are.
package struct EncodedKey: Hashable {
    private var bytes: [UInt8] = []

    package init(_ cells: some Sequence<Cell>, _ values: RowValues) {
        for cell in cells {
            switch cell.tag {
            case .null: append(.null, 0)
            case .integer, .real: append(cell.tag, cell.payload)
            case .chunkText, .batchText, .generatedText: append(.batchText, values.text(cell))
            case .batchBlob, .generatedBlob: append(.batchBlob, values.text(cell))
            }
        }
    }

    /// - Parameter input: the record whose chunk texts may be in.
    package init(_ cells: some Sequence<Cell>, _ own: [UInt8], _ input: RecordDecoder.Input) {
        self = own.withUnsafeBufferPointer { own in
            let none = UnsafeBufferPointer<Cell>(start: nil, count: 0)
            return EncodedKey(cells, RowValues(cells: none, chunk: input.chunk, own: own))
        }
    }

    private mutating func append(_ tag: Cell.Tag, _ word: UInt64) {
        bytes.append(tag.rawValue)
        withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ tag: Cell.Tag, _ text: some Collection<UInt8>) {
        append(tag, UInt64(text.count))
        bytes += text
    }
}
