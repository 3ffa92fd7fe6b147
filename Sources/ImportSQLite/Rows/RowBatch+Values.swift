import ImportEngine

extension RowBatch {
    /// Lends the batch's cells as values.
    ///
    /// - Parameters:
    ///   - chunk: the bytes of the chunk that it was decoded from, where its texts may be in that.
    ///   - cells: others of the same number; nil for its own.
    ///   - defaults: the texts of an entity's defaults.
    func withValues<Result>(
        chunk: [UInt8] = [],
        cells: [Cell]? = nil,
        defaults: [UInt8] = [],
        _ body: (RowValues) throws -> Result
    ) rethrows -> Result {
        try chunk.withUnsafeBufferPointer { chunk in
            try bytes.withUnsafeBufferPointer { own in
                try (cells ?? self.cells).withUnsafeBufferPointer { cells in
                    try defaults.withUnsafeBufferPointer { defaults in
                        try body(RowValues(cells: cells, chunk: chunk, own: own, defaults: defaults))
                    }
                }
            }
        }
    }
}
