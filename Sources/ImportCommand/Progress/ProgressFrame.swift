import Importer

/// One look at an import with what follows from the looks before it.
struct ProgressFrame: Sendable, Equatable {
    /// What the source's bytes are put through in the second half.
    enum Work: String, Sendable {
        case infer
        case `import`
        /// Changes are applied to a store, or undone.
        case apply
    }

    /// What a run is for.
    enum Purpose: Sendable {
        case importing
        /// There is a split and nothing after it.
        case splitting
        case inferring
        /// A patch, an undo, or conflicts that are resolved.
        case applying
    }

    var snapshot = ImportProgress.Snapshot()
    /// Whether there is a second half; `split` alone has none.
    var work: Work? = .import
    /// Seconds since this run began.
    var elapsed = 0.0
    /// Of the second half, or of the split where that is all; nil until there is something to go by.
    var recordsPerSecond: Double?
    var bytesPerSecond: Double?
    var splitBytesPerSecond: Double?
    /// Of all the work that is left; nil where that cannot be told.
    var secondsLeft: Double?
}
