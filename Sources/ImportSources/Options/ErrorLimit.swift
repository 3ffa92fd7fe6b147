/// The maximum number of rejects of a job.
public enum ErrorLimit: Sendable, Hashable, Codable {
    /// A number: the import stops before the record that would exceed it, in source order.
    case count(Int64)
    /// A percentage of the records read, from 0 to 100, checked at the end.
    case percent(Double)
    /// No limit, not even for a job whose first 1,000 records are all rejected.
    case unlimited
}

extension ErrorLimit: LosslessStringConvertible {
    /// Reads `5`, `2.5%` or `none`; nil for anything else.
    public init?(_ description: String) {
        if description == "none" {
            self = .unlimited
        } else if description.last == "%" {
            let digits = description.dropLast()
            guard digits.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }),
                let percent = Double(digits), (0...100).contains(percent)
            else { return nil }
            self = .percent(percent)
        } else {
            guard description.utf8.allSatisfy({ (48...57).contains($0) }), let count = Int64(description) else {
                return nil
            }
            self = .count(count)
        }
    }

    /// The limit as on the command line.
    public var description: String {
        switch self {
        case .count(let count): "\(count)"
        case .unlimited: "none"
        case .percent(let percent): percent == percent.rounded() ? "\(Int64(percent))%" : "\(percent)%"
        }
    }
}
