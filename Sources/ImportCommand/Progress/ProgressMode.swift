import ArgumentParser

/// How progress is shown on standard error.
enum ProgressMode: String, CaseIterable, ExpressibleByArgument {
    case auto
    case bar
    case lines
    case json
    case none

    /// What `auto` comes to: a bar where it can be redrawn, lines elsewhere.
    func resolved(canRedraw: Bool) -> ProgressMode {
        self == .auto ? (canRedraw ? .bar : .lines) : self
    }
}
