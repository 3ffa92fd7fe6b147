import ImportSources

extension ImportPlan {
    /// What a run would do.
    package init(_ decision: JobResolver.Decision, into store: String, _ run: RunOptions) {
        let (job, action): (StoredJob, Action) =
            switch decision {
            case .begin(let job, _, let replaced, _): (job, replaced == nil ? .begin : .restart)
            case .resume(let job, _, _): (job, .resume)
            case .nothing(let job, _, _): (job, .nothing)
            }
        self.init(
            store: store,
            action: action,
            sources: job.sources.map {
                Source(
                    name: $0.description.name,
                    bytes: $0.description.size,
                    shape: $0.shape,
                    entities: $0.entities
                )
            },
            infersModel: job.options.model == nil,
            chunkDirectory: job.chunkDirectory,
            workers: run.workers,
            chunkSize: run.chunkSize,
            commitEvery: run.commitEvery
        )
    }
}
