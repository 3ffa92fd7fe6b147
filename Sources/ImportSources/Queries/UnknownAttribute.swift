/// Why a name means nothing.
package struct UnknownAttribute: Error {
    package let message: String
    package let advice: String
    /// How many bytes of the name are known.
    package var knownBytes = 0
    /// True if another name is suggested.
    package var hasSuggestion = false

    package init(message: String, advice: String, knownBytes: Int = 0, hasSuggestion: Bool = false) {
        self.message = message
        self.advice = advice
        self.knownBytes = knownBytes
        self.hasSuggestion = hasSuggestion
    }
}

extension UnknownAttribute {
    /// A name of which nothing is known.
    package init(_ message: String, advice: String) {
        self.init(message: message, advice: advice)
    }
}
