extension AttributeDescription {
    /// What a value must be beyond its type; looked at after coercion.
    public struct Validation: Sendable, Hashable {
        /// The smallest value of a number or date, written as a record might have it.
        public var minimum: JSONValue?
        /// The largest one.
        public var maximum: JSONValue?
        /// The fewest Unicode scalars of a text, or bytes of a binary.
        public var minimumLength: Int?
        /// The most of them.
        public var maximumLength: Int?
        /// A regular expression (ICU's dialect, <https://unicode-org.github.io/icu/userguide/strings/regexp.html>) that
        /// must match somewhere in the text; `^` and `$` bind it to the text's ends.
        public var pattern: String?
        /// The only values that are allowed, written as a record might have them.
        public var allowedValues: [JSONValue]?

        /// No rules but those given.
        public init(
            minimum: JSONValue? = nil,
            maximum: JSONValue? = nil,
            minimumLength: Int? = nil,
            maximumLength: Int? = nil,
            pattern: String? = nil,
            allowedValues: [JSONValue]? = nil
        ) {
            self.minimum = minimum
            self.maximum = maximum
            self.minimumLength = minimumLength
            self.maximumLength = maximumLength
            self.pattern = pattern
            self.allowedValues = allowedValues
        }

        /// Whether there is no rule.
        public var isEmpty: Bool { self == Validation() }
    }

    /// A flag of a bitfield.
    public struct Bit: Sendable, Hashable {
        /// The flag's name; dots stand for nested objects (`creator.share`).
        public var name: String
        /// Which bit it is, 0 (counts 1) to 63 (the sign).
        public var position: Int

        /// A flag.
        public init(name: String, position: Int) {
            self.name = name
            self.position = position
        }
    }
}
