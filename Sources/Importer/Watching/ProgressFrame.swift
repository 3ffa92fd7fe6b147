import ImportEngine

/// One look at an import with what follows from the looks before it.
package struct ProgressFrame: Sendable, Equatable {
    /// What the source's bytes are put through in the second half.
    package enum Work: String, Sendable {
        case infer
        case `import`
        /// Changes are applied to a store, or undone.
        case apply
    }

    /// What a run is for.
    package enum Purpose: Sendable {
        case importing
        /// There is a split and nothing after it.
        case splitting
        case inferring
        /// A patch, an undo, or conflicts that are resolved.
        case applying
    }

    package var snapshot = ImportProgress.Snapshot()
    /// Whether there is a second half; `split` alone has none.
    package var work: Work? = .import
    /// Seconds since this run began.
    package var elapsed = 0.0
    /// Of the second half, or of the split where that is all; nil until there is something to go by.
    package var recordsPerSecond: Double?
    package var bytesPerSecond: Double?
    package var splitBytesPerSecond: Double?
    /// Of all the work that is left; nil where that cannot be told.
    package var secondsLeft: Double?

    /// True if the work is measured in bytes; what is undone is not.
    package var hasBytes: Bool { work != .apply || snapshot.totalBytes != nil || snapshot.importedBytes > 0 }

    /// Of nothing, until the other values are set.
    package init(
        snapshot: ImportProgress.Snapshot = ImportProgress.Snapshot(),
        work: Work? = .import,
        elapsed: Double = 0
    ) {
        self.snapshot = snapshot
        self.work = work
        self.elapsed = elapsed
    }
}
