/// An error that ends a command: what happened, where, and what to do, with the exit code that belongs to it.
public struct ImportError: Error, Sendable, CustomStringConvertible {
    /// Exit codes after BSD's `sysexits.h`, and the shell's 128 + signal for interruptions.
    public enum Code: Int32, Sendable {
        case usage = 64
        case badInput = 65
        case noInput = 66
        case software = 70
        /// The system gives no thread or descriptor.
        case noResources = 71
        case cannotCreate = 73
        case io = 74
        case inUse = 75
        case hangup = 129
        case interrupted = 130
        case terminated = 143
    }

    /// The exit code that belongs to it.
    public let code: Code
    /// What happened, and where.
    public let message: String
    /// What to do about it; nil where there is nothing to advise.
    public let advice: String?

    /// Whether it says that somebody asked to stop: what was committed stays, and the same call resumes.
    public var isInterruption: Bool { [.interrupted, .terminated, .hangup].contains(code) }

    /// Creates one.
    public init(_ code: Code, _ message: String, advice: String? = nil) {
        self.code = code
        self.message = message
        self.advice = advice
    }

    /// Checks that a number that a program has given is in its range.
    ///
    /// - Throws: `ImportError` with `.usage`.
    static func check<Number: Comparable>(_ name: String, _ value: Number, _ range: ClosedRange<Number>) throws {
        guard !range.contains(value) else { return }
        throw ImportError(
            .usage,
            "\(name) is \(value)",
            advice: "It must be from \(range.lowerBound) to \(range.upperBound)."
        )
    }

    /// Message and advice, a line each.
    public var description: String {
        guard let advice else { return message }
        return "\(message)\n\(advice)"
    }
}
