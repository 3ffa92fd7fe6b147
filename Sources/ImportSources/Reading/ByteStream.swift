/// A source's bytes, decompressed, from wherever it was opened to its end.
///
/// Made, used and closed by one thread. Whatever decompresses does it on a thread of its own.
package protocol ByteStream: AnyObject {
    /// Fills `block` from its beginning with the next bytes.
    ///
    /// - Parameter block: at least one byte long; its length is the most that is read.
    /// - Returns: how many bytes: 0 only at the end.
    /// - Throws: `ImportError`: `.badInput` when the source is damaged (the bytes before the damage have been delivered),
    ///   `.io` when it cannot be read, or the code of the interruption.
    func read(into block: inout [UInt8]) throws -> Int
}

/// A stream ends that has the beginning of its source alone: what breaks off there is no fault.
package struct SampleTruncation: Error {
    package init() {}
}

extension [UInt8] {
    /// Overwrites the first bytes with as many of `source` as there is room for, and says how many.
    package mutating func overwrite(with source: ArraySlice<UInt8>) -> Int {
        let count = Swift.min(source.count, count)
        source.withUnsafeBytes { source in
            withUnsafeMutableBytes { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<count])) }
        }
        return count
    }
}
