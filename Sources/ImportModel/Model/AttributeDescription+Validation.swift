extension AttributeDescription {
    /// The rules for values beyond their type, checked after coercion.
    public struct Validation: Sendable, Hashable {
        /// The smallest number or date, written as in a record.
        public var minimum: JSONValue?
        /// The largest number or date, written as in a record.
        public var maximum: JSONValue?
        /// The minimum number of Unicode scalars of a text, or bytes of a binary.
        public var minimumLength: Int?
        /// The maximum number of Unicode scalars of a text, or bytes of a binary.
        public var maximumLength: Int?
        /// A regular expression (ICU's dialect, <https://unicode-org.github.io/icu/userguide/strings/regexp.html>) that
        /// must match somewhere in the text; `^` and `$` bind it to the text's ends.
        public var pattern: String?
        /// The allowed values, written as in a record.
        public var allowedValues: [JSONValue]?

        /// Creates rules.
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

        /// True if there are no rules.
        public var isEmpty: Bool { self == Validation() }
    }

    /// A flag of a bitfield.
    public struct Bit: Sendable, Hashable {
        /// The flag's name; dots stand for nested objects (`creator.share`).
        public var name: String
        /// The position of the bit, from 0 (value 1) to 63 (the sign).
        public var position: Int

        /// Creates a flag.
        public init(name: String, position: Int) {
            self.name = name
            self.position = position
        }
    }
}
