import ImportModel

/// A predicate, taken apart.
package indirect enum PredicateNode: Sendable {
    /// All of them hold.
    case all([PredicateNode])
    /// One of them holds.
    case any([PredicateNode])
    case not(PredicateNode)
    case comparison(Operand, Comparison, Operand)
    case between(Operand, Operand, Operand)
    case membership(Operand, [Operand])
    case text(Operand, TextTest, Operand)
    case isNull(Operand)
    /// A boolean attribute that is alone.
    case truth(Operand)

    /// How two values compare.
    package enum Comparison: String, Sendable {
        case equal = "="
        case different = "<>"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="

        package init?(symbol: String) {
            switch symbol {
            case "==": self = .equal
            case "!=": self = .different
            default: self.init(rawValue: symbol)
            }
        }

        /// The same with the sides exchanged.
        package var flipped: Comparison {
            switch self {
            case .equal, .different: self
            case .less: .greater
            case .lessOrEqual: .greaterOrEqual
            case .greater: .less
            case .greaterOrEqual: .lessOrEqual
            }
        }

        /// True if it tells no more than whether they are the same.
        package var isEquality: Bool { self == .equal || self == .different }
    }

    /// What a text is looked at for.
    package enum TextTest: String, Sendable {
        case like
        case beginsWith = "begins with"
        case contains
        case endsWith = "ends with"
    }

    /// One side of a comparison.
    package struct Operand: Sendable {
        package enum Content: Sendable {
            case attribute(String, isQuoted: Bool)
            case literal(JSONValue)
        }

        package let content: Content
        package let place: Range<Int>

        package var isNull: Bool {
            if case .literal(.null) = content { return true }
            return false
        }
    }
}
