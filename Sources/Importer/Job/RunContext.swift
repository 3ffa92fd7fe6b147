import ImportModel

/// What every phase of a run is handed: where the run goes, how, and to whom it reports.
struct RunContext: Sendable {
    /// The store's name.
    let store: String
    let options: RunOptions
    let opener: SourceOpener
    let transformers: TransformerRegistry
    let progress: ImportProgress
    /// This run's own: it also ends the reading of a source when a worker has failed.
    let interruption: Interruption
    let merges: MergeCenter

    /// Says something to the person who watches the run.
    func announce(_ messages: [ImportText]) {
        progress.update { $0.messages += messages }
    }
}
