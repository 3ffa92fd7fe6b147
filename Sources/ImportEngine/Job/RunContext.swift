import ImportModel
import ImportSources

/// What every phase of a run is handed: where the run goes, how, and to whom it reports.
package struct RunContext: Sendable {
    /// The store's name.
    package let store: String
    package let options: RunOptions
    package var opener = SourceOpener()
    package var transformers = TransformerRegistry.standard
    package let progress: ImportProgress
    /// This run's own: it also ends the reading of a source when a worker has failed.
    package let interruption: Interruption
    package let merges: MergeCenter
    /// True if texts may have U+0000 in the store that a model is inferred for; nil for that of the run.
    package var textsHaveNUL: Bool?
    /// Told the number of a job that changes what is there, once it is begun or resumed in the store.
    package var onBeginning: @Sendable (Int64) -> Void = { _ in }
    /// What it shares with other rounds, where it follows its sources; nil for none.
    package var followed: FollowedRun?

    package init(
        store: String,
        options: RunOptions,
        opener: SourceOpener = SourceOpener(),
        transformers: TransformerRegistry = TransformerRegistry.standard,
        progress: ImportProgress,
        interruption: Interruption,
        merges: MergeCenter,
        textsHaveNUL: Bool? = nil,
        onBeginning: @escaping @Sendable (Int64) -> Void = { _ in }
    ) {
        self.store = store
        self.options = options
        self.opener = opener
        self.transformers = transformers
        self.progress = progress
        self.interruption = interruption
        self.merges = merges
        self.textsHaveNUL = textsHaveNUL
        self.onBeginning = onBeginning
    }

    /// Says something to the person who watches the run.
    package func announce(_ messages: [MessageText]) {
        progress.update { $0.messages += messages }
    }
}
