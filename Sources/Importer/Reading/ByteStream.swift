/// A source's bytes, decompressed, from wherever it was opened to its end.
///
/// Made, used and closed by one thread. Whatever decompresses does it on a thread of its own.
protocol ByteStream: AnyObject {
    /// Fills `block` from its beginning with the next bytes, and says how many: 0 only at the end.
    ///
    /// - Throws: `SourceError` when the source cannot be read, is damaged, or the import was interrupted.
    func read(into block: inout [UInt8]) throws -> Int
}
