import ImportSources

/// A model that was inferred from records.
public struct InferredModel: Sendable, Hashable {
    /// The model in the model file's format, one JSON object.
    public let text: String
    /// Notices: identifier candidates, dates in other formats, kinds that vary.
    public let notices: [MessageText]

    /// Creates a model from its text and notices.
    public init(text: String, notices: [MessageText]) {
        self.text = text
        self.notices = notices
    }
}
