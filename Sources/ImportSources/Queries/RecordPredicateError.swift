import Foundation

/// A mistake in a predicate, and its position.
public struct RecordPredicateError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// A description of the mistake.
    public let message: String
    /// The predicate's text.
    public let text: String
    /// The offset of the mistake in the text, in bytes of UTF-8 from 0.
    public let byteOffset: Int
    /// The length of the mistake in bytes of UTF-8; 0 if something is missing.
    public let byteCount: Int
    /// Advice on how to correct it; nil if there is none.
    public let advice: String?

    /// Creates an error.
    public init(_ message: String, in text: String, at place: Range<Int>, advice: String? = nil) {
        self.message = message
        self.text = text
        byteOffset = place.lowerBound
        byteCount = place.count
        self.advice = advice
    }

    /// What to do where nothing better is known.
    static let example = "Write a predicate as in age >= 18 and city = 'Oslo'."

    /// The message alone.
    public var description: String { message }

    /// The message, for Foundation.
    public var errorDescription: String? { message }
    /// The advice, for Foundation.
    public var recoverySuggestion: String? { advice }
}
