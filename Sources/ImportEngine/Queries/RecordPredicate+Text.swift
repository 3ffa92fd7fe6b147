import ImportModel

extension RecordPredicate {
    /// A predicate as a literal, whose interpolations are values: `"age > \(minimum) and city in \(cities)"`.
    public struct Text: ExpressibleByStringInterpolation, Sendable {
        /// With a `?` for each value.
        package let text: String
        package let arguments: [JSONValue]

        /// A predicate without values.
        public init(stringLiteral text: String) {
            self.text = text
            arguments = []
        }

        /// A predicate with values.
        public init(stringInterpolation interpolation: StringInterpolation) {
            text = interpolation.text
            arguments = interpolation.arguments
        }

        /// Collects values.
        public struct StringInterpolation: StringInterpolationProtocol {
            fileprivate var text = ""
            fileprivate var arguments: [JSONValue] = []

            /// Starts with nothing.
            public init(literalCapacity: Int, interpolationCount: Int) {
                text.reserveCapacity(literalCapacity + interpolationCount)
            }

            /// Adds what is written.
            public mutating func appendLiteral(_ literal: String) { text += literal }

            /// Adds a value, which becomes no part of the text.
            public mutating func appendInterpolation(_ value: some RecordPredicateValue) {
                text += "?"
                arguments.append(value.predicateValue)
            }

            /// Adds the name of an attribute: `\(attribute: name)`.
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
