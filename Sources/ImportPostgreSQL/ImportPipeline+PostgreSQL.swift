import Foundation
import ImportModel
import Importer

extension ImportPipeline {
    /// Prepares an import of `sources` into a server's schema; nothing is touched before `run`.
    ///
    /// Each chunk is a transaction of its own, in any order, and processes on other hosts may take part (``PostgreSQLWorker``).
    ///
    /// - Parameters:
    ///   - sources: paths, `-` for standard input, or one chunk directory.
    ///   - server: the schema.
    ///   - job: what the result depends on.
    ///   - run: what it does not depend on; of `commitEvery` nothing comes here.
    ///   - transformers: those that the model names.
    ///   - merges: where the job's end is announced.
    public convenience init(
        sources: [any FileLocation],
        into server: PostgreSQLStore,
        job: JobOptions,
        run: RunOptions,
        transformers: TransformerRegistry = .standard,
        merges: MergeCenter = MergeCenter()
    ) {
        self.init(.sources(sources.map(\.filePath), job), server, run, transformers, merges)
    }

    /// Prepares to resume the interrupted import of a server's schema, on any host that sees its sources and its chunk folder.
    ///
    /// - Parameters:
    ///   - server: the schema.
    ///   - run: what the result does not depend on.
    ///   - maxErrors: how many rejects it may have from now on; nil to leave that as it is.
    ///   - transformers: those that the import was started with.
    ///   - merges: where the job's end is announced.
    public convenience init(
        resuming server: PostgreSQLStore,
        run: RunOptions,
        maxErrors: ErrorLimit? = nil,
        transformers: TransformerRegistry = .standard,
        merges: MergeCenter = MergeCenter()
    ) {
        self.init(.resume(maxErrors), server, run, transformers, merges)
    }

    /// Prepares to import the repaired records of a schema's rejects, as a job of its own that closes their entries.
    ///
    /// - Parameters:
    ///   - file: the repair file, as `PostgreSQLInspection.exportRejects` writes it and a person has edited it; nil to try the stored
    ///     records again as they are, under `model`.
    ///   - server: the schema.
    ///   - model: to import with; nil for that of the rejects' job.
    ///   - selection: which of the stored rejects, where there is no file; only open ones are retried.
    ///   - run: what the result does not depend on.
    ///   - transformers: those that the models name.
    ///   - merges: where the job's end is announced.
    public convenience init(
        retrying file: (any FileLocation)?,
        in server: PostgreSQLStore,
        model: ModelDescription? = nil,
        selection: RejectSelection = RejectSelection(),
        run: RunOptions,
        transformers: TransformerRegistry = .standard,
        merges: MergeCenter = MergeCenter()
    ) {
        self.init(
            .retry(RetryRequest(file: file?.filePath, selection, model: model)),
            server,
            run,
            transformers,
            merges
        )
    }

    private convenience init(
        _ request: Request,
        _ server: PostgreSQLStore,
        _ run: RunOptions,
        _ transformers: TransformerRegistry,
        _ merges: MergeCenter
    ) {
        var server = server
        server.durability = run.durability
        self.init(
            request,
            named: server.label,
            chunksBeside: server.fileName,
            run,
            transformers,
            merges
        ) { [server] interruption in PostgreSQLDestination(server, interruption) }
    }
}
