/// A place between two records of a source, with what a fresh parser needs to go on from there (DESIGN §6).
public struct SplitPosition: Sendable, Hashable, Codable {
    /// Offset in the source, from 0, in decompressed bytes.
    public var byteOffset: Int64
    /// The opening tokens of the containers that enclose this place, a placeholder element included where the source
    /// goes on with a comma: `{"items":[0`.
    ///
    /// Empty at the top level.
    public var enclosing: String
    /// Line breaks (LF) before this place.
    public var lineBreaks: Int64
    /// Where the line that holds this place begins.
    public var lineStart: Int64

    /// Puts one together from its parts.
    public init(byteOffset: Int64 = 0, enclosing: String = "", lineBreaks: Int64 = 0, lineStart: Int64 = 0) {
        self.byteOffset = byteOffset
        self.enclosing = enclosing
        self.lineBreaks = lineBreaks
        self.lineStart = lineStart
    }

    /// The beginning of a source.
    public static let start = SplitPosition()
}
