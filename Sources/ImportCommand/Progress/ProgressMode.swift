import ArgumentParser

/// How progress is shown on standard error.
enum ProgressMode: String, CaseIterable, ExpressibleByArgument {
    case auto
    case bar
    case lines
    case json
    /// Messages alone.
    case none
    /// Nothing but errors; what `--quiet` asks for.
    case quiet

    init?(argument: String) {
        guard Self.allValueStrings.contains(argument) else { return nil }
        self.init(rawValue: argument)
    }

    /// What `--progress` takes.
    static var allValueStrings: [String] { allCases.filter { $0 != .quiet }.map(\.rawValue) }

    /// What `auto` comes to: a bar where it can be redrawn, lines elsewhere.
    func resolved(canRedraw: Bool) -> ProgressMode {
        self == .auto ? (canRedraw ? .bar : .lines) : self
    }
}
