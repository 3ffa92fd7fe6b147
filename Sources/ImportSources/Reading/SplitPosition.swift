/// A position between two records of a source, with what a fresh parser needs to continue from there.
package struct SplitPosition: Sendable, Hashable, Codable {
    /// Offset in the source, from 0, in decompressed bytes.
    package var byteOffset: Int64 = 0
    /// The opening tokens of the containers that enclose this position: `{"items":[0`.
    ///
    /// Empty at the top level.
    /// A placeholder replaces the element or member before it, as the source continues with a comma or the container's
    /// end. Keys that are in no record path are placeholders too, but for those that the records within them keep.
    package var enclosing = ""
    /// Line breaks (LF) before this position.
    package var lineBreaks: Int64 = 0
    /// Where the line that holds this position begins.
    package var lineStart: Int64 = 0
    /// How many records of each record path precede this position, those that were left out included.
    ///
    /// In the order of the paths; nil where all records are accepted, or at a source's beginning.
    package var recordsBefore: [Int64]?
    /// The record paths, by their index, whose collections have not been found before this position: `$.items[*]` where no
    /// `items` was an array.
    ///
    /// Nil where all have been found, and at a source's beginning.
    package var missingPaths: [Int]?
    /// What is kept before this position of what is outside of the records, in bytes (`OutsideValue.mostBytes`); nil for nothing.
    package var outsideBytes: Int?

    /// The beginning of a source.
    package static let start = SplitPosition()

    /// True if it can be a position in a source, where it was read from somewhere.
    package var isSound: Bool {
        let numbers = [byteOffset, lineBreaks, lineStart, Int64(outsideBytes ?? 0)] + (recordsBefore ?? [])
        return numbers.allSatisfy { (0...(1 << 53)).contains($0) } && lineStart <= byteOffset
            && lineBreaks <= byteOffset && (missingPaths ?? []).allSatisfy { (0..<64).contains($0) }
    }
}
