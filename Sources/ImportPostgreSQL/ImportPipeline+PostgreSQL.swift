import Foundation
import ImportModel
import Importer

extension ImportPipeline {
    /// Prepares an import of `sources` into a server's schema; nothing is read or written before `run`.
    ///
    /// Each chunk is a transaction of its own, in any order, and processes on other hosts may join (``PostgreSQLWorker``).
    ///
    /// - Parameters:
    ///   - sources: paths, `-` for standard input, or one chunk directory.
    ///   - server: the schema.
    ///   - job: the options that determine the imported rows.
    ///   - run: the options that do not; `commitEvery` is ignored.
    ///   - transformers: the transformers that the model names.
    ///   - merges: the center that posts the job's end.
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

    /// Prepares to resume the interrupted import of a server's schema, on any host that can read its sources and its chunk directory.
    ///
    /// - Parameters:
    ///   - server: the schema.
    ///   - run: the options that do not change the imported rows.
    ///   - maxErrors: the new limit of rejects; nil to leave the limit as it is.
    ///   - transformers: the transformers that the import was started with.
    ///   - merges: the center that posts the job's end.
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
    ///   - file: the repair file, written by `PostgreSQLInspection.exportRejects` and edited; nil to import the stored
    ///     records again as they are, under `model`.
    ///   - server: the schema.
    ///   - model: the model to import with; nil for the model of the rejects' job.
    ///   - selection: the stored rejects to retry if there is no file; only open ones are retried.
    ///   - run: the options that do not change the imported rows.
    ///   - transformers: the transformers that the models name.
    ///   - merges: the center that posts the job's end.
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
