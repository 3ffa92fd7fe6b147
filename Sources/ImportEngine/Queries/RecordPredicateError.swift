import Foundation

/// What is wrong with a predicate, and where.
public struct RecordPredicateError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public let message: String
    /// The predicate's text.
    public let text: String
    /// Where the mistake begins in the text, as a number of bytes of UTF-8 from 0.
    public let byteOffset: Int
    /// How many bytes of UTF-8 it has; 0 where something is missing.
    public let byteCount: Int
    /// What to do about it; nil where there is nothing to advise.
    public let advice: String?

    /// Creates one.
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

    /// The message, as Foundation asks for it.
    public var errorDescription: String? { message }
    /// What to do about it, as Foundation asks for it.
    public var recoverySuggestion: String? { advice }
}
