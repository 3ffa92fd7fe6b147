import ImportSources

/// A model that was worked out from records.
public struct InferredModel: Sendable, Hashable {
    /// The model in the model file's format, one JSON object.
    public let text: String
    /// What was noticed on the way: identifier candidates, dates in other formats, kinds that vary.
    public let notices: [MessageText]

    /// Puts a text and its notices together.
    public init(text: String, notices: [MessageText]) {
        self.text = text
        self.notices = notices
    }
}
