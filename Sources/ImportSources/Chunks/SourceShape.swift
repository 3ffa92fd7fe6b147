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
    /// The attribute that each record has with the path of the source; nil for none.
    public internal(set) var fileColumn: String?
    /// What is wrong with the source from its beginning on, so that nothing of it is read; nil for nothing.
    public internal(set) var fault: String?
    /// What the source is decoded from; nil for UTF-8.
    public internal(set) var encoding: String?
    /// How its text is rewritten, as `columns` and `prefix,parse`; nil for a source that is read as it is.
    public internal(set) var form: String?
    /// Per record path the names of its rows' columns, which its first record has; nil where that is a record.
    public internal(set) var headers: [[String]]?

    /// Creates a layout with its record paths.
    public init(layout: Layout, paths: [String], isEmpty: Bool? = nil) {
        self.layout = layout
        self.paths = paths
        self.isEmpty = isEmpty
    }

    /// The same with what the job options and a look at the source say besides.
    package func with(
        fileColumn: String?,
        fault: String?,
        encoding: String? = nil,
        form: SourceForm? = nil,
        headers: [[String]]? = nil
    ) -> SourceShape {
        var shape = self
        shape.form = form?.kinds.map(\.rawValue).joined(separator: ",")
        (shape.fileColumn, shape.fault, shape.encoding, shape.headers) = (fileColumn, fault, encoding, headers)
        return shape
    }

    /// The keys that the lines of its record paths have.
    package var keys: [LineKeys] { paths.map { LineKeys($0, hasFile: fileColumn != nil) } }
}
