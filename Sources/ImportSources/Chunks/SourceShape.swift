import ImportModel

/// The layout of a source's records.
public struct SourceShape: Sendable, Hashable, Codable {
    /// How the source's bytes are divided into records.
    public enum Layout: String, Sendable, Hashable, Codable {
        /// One record per line; a broken line is a reject and the next line continues.
        case lines
        /// One or more JSON documents, parsed as a stream; a syntax error ends the source.
        case stream
    }

    /// How the source's bytes are divided into records.
    public let layout: Layout
    /// The record paths, as text (`$.users[*]`).
    public let paths: [String]
    /// True if the source was found to have nothing where other sources of its entity have records; nil otherwise.
    public let isEmpty: Bool?

    /// Creates a layout with its record paths.
    public init(layout: Layout, paths: [String], isEmpty: Bool? = nil) {
        self.layout = layout
        self.paths = paths
        self.isEmpty = isEmpty
    }
}
