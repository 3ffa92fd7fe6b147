import ImportModel

extension RecordPredicate {
    /// A predicate as a literal, whose interpolations are values: `"age > \(minimum) and city in \(cities)"`.
    public struct Text: ExpressibleByStringInterpolation, Sendable {
        /// With a `?` for each value.
        package let text: String
        package let arguments: [JSONValue]

        /// Creates a predicate without values.
        public init(stringLiteral text: String) {
            self.text = text
            arguments = []
        }

        /// Creates a predicate with values.
        public init(stringInterpolation interpolation: StringInterpolation) {
            text = interpolation.text
            arguments = interpolation.arguments
        }

        /// Collects values.
        public struct StringInterpolation: StringInterpolationProtocol {
            fileprivate var text = ""
            fileprivate var arguments: [JSONValue] = []

            /// Creates an empty text.
            public init(literalCapacity: Int, interpolationCount: Int) {
                text.reserveCapacity(literalCapacity + interpolationCount)
            }

            /// Appends the text of the literal.
            public mutating func appendLiteral(_ literal: String) { text += literal }

            /// Appends a value, which does not become part of the text.
            public mutating func appendInterpolation(_ value: some RecordPredicateValue) {
                text += "?"
                arguments.append(value.predicateValue)
            }

            /// Appends the name of an attribute: `\(attribute: name)`.
            public mutating func appendInterpolation(attribute name: String) {
                text += RecordPredicate.quoted(name)
            }
        }
    }

    /// An attribute's name as predicates have it.
    package static func quoted(_ name: String) -> String {
        "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
    }
}
