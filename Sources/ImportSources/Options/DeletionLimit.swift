/// The maximum number of objects of one entity that a mirror may delete.
public enum DeletionLimit: Sendable, Hashable, Codable {
    /// A number, from 0.
    case count(Int64)
    /// A percentage of the objects in scope, from 0 to 100.
    case percent(Double)

    /// True if it allows as many of these objects.
    ///
    /// - Parameter limit: nil for 10 percent, and ten objects in any case.
    package static func allows(_ deleted: Int64, of scope: Int64, _ limit: DeletionLimit?) -> Bool {
        switch limit {
        case .count(let count): deleted <= count
        case .percent(let percent): Double(deleted) * 100 <= percent * Double(scope)
        case nil: deleted <= 10 || Double(deleted) * 100 <= 10 * Double(scope)
        }
    }

    /// True if its number is in its range, which that of a damaged store may not be.
    package var isSound: Bool {
        switch self {
        case .count(let count): count >= 0
        case .percent(let percent): (0...100).contains(percent)
        }
    }
}

extension DeletionLimit: LosslessStringConvertible {
    /// Reads `5` or `2.5%`; nil for anything else.
    public init?(_ description: String) {
        switch ErrorLimit(description) {
        case .count(let count): self = .count(count)
        case .percent(let percent): self = .percent(percent)
        case .unlimited, nil: return nil
        }
    }

    /// The limit as on the command line.
    public var description: String {
        switch self {
        case .count(let count): ErrorLimit.count(count).description
        case .percent(let percent): ErrorLimit.percent(percent).description
        }
    }
}
