import Foundation
import ImportEngine
import ImportModel
import ImportSources

/// What can be done with sources besides importing them.
extension ImportPipeline {
    /// Splits sources into numbered chunks in a directory, and imports nothing; blocks the calling thread.
    ///
    /// Resumes if the directory holds the beginning of the same split.
    ///
    /// - Throws: `ImportError`; complete chunks are kept, and the same call resumes.
    public static func split(
        sources: [any FileLocation],
        to directory: any FileLocation,
        job: JobOptions,
        run: RunOptions,
        progress: ImportProgress,
        interruption: Interruption
    ) throws -> SplitSummary {
        let tool = SplitTool(
            directory: directory.filePath,
            job: job,
            run: run,
            opener: SourceOpener(),
            progress: progress,
            interruption: interruption
        )
        return try progress.ending { try tool.split(sources.map(\.filePath)) }
    }

    /// Splits sources into numbered chunks in a directory, and imports nothing.
    ///
    /// Resumes if the directory holds the beginning of the same split. Cancelling the task interrupts the split.
    ///
    /// - Throws: `ImportError`; complete chunks are kept, and the same call resumes.
    public static func split(
        sources: [any FileLocation],
        to directory: any FileLocation,
        job: JobOptions = JobOptions(),
        run: RunOptions = RunOptions(),
        progress: ImportProgress = ImportProgress(),
        interruption: Interruption = Interruption()
    ) async throws -> SplitSummary {
        let interruption = interruption.child()
        return try await SystemThread.run(to: "split the sources", interruption) {
            try split(
                sources: sources,
                to: directory,
                job: job,
                run: run,
                progress: progress,
                interruption: interruption
            )
        }
    }

    /// Infers a model from all records of `sources`, without importing them; blocks the calling thread.
    ///
    /// With a SQLite `store` it is one for the tables that are there.
    ///
    /// - Throws: `ImportError`, also when a source is incomplete or is not JSON to its end.
    public static func infer(
        sources: [any FileLocation],
        into store: (any FileLocation)? = nil,
        job: JobOptions,
        run: RunOptions,
        progress: ImportProgress,
        interruption: Interruption
    ) throws -> InferredModel {
        let tool = InferTool(
            store: store?.filePath,
            job: job,
            run: run,
            opener: SourceOpener(),
            progress: progress,
            interruption: interruption.child()
        )
        return try progress.ending { try tool.infer(sources.map(\.filePath)) }
    }

    /// Infers a model from all records of `sources`, without importing them.
    ///
    /// With a SQLite `store` it is one for the tables that are there. Cancelling the task interrupts the inference.
    ///
    /// - Throws: `ImportError`, also when a source is incomplete or is not JSON to its end.
    public static func infer(
        sources: [any FileLocation],
        into store: (any FileLocation)? = nil,
        job: JobOptions = JobOptions(),
        run: RunOptions = RunOptions(),
        progress: ImportProgress = ImportProgress(),
        interruption: Interruption = Interruption()
    ) async throws -> InferredModel {
        let interruption = interruption.child()
        return try await SystemThread.run(to: "infer a model", interruption) {
            try infer(
                sources: sources,
                into: store,
                job: job,
                run: run,
                progress: progress,
                interruption: interruption
            )
        }
    }
}

extension ImportPipeline.Request {
    /// The request with a model that has what its options say of it.
    var prepared: Self {
        if case .sources(let sources, let options) = self { .sources(sources, options.withFileColumn) } else { self }
    }
}

extension StoreInspection {
    /// Imports the sources of all imports again, into a temporary store, and compares its rows with those of this one.
    ///
    /// Rows are matched by their row ids, which depend on nothing but the sources, the models and the job options; all values are
    /// compared, with their storage classes. What an undo has taken back is not imported. The temporary store is in the temporary
    /// directory, and takes as much room as this one.
    ///
    /// - Parameters:
    ///   - run: the options that do not change the imported rows.
    ///   - transformers: the transformers that the imports were started with.
    ///   - progress: how far it is.
    ///   - interruption: ends it.
    /// - Returns: a check for the sources, and one for each table; that of the sources alone if one of them is gone or has changed.
    /// - Throws: `ImportError` as `status` does; `.usage` when something else than imports of files has changed the store, as that cannot be
    ///   done again: a patch, a retry, a stream, or an import into a table that was there before.
    public func verifySources(
        run: RunOptions = RunOptions(),
        transformers: TransformerRegistry = .standard,
        progress: ImportProgress = ImportProgress(),
        interruption: Interruption = Interruption()
    ) throws -> [Check] {
        let replay = SourceReplay(
            store: store,
            run: run,
            transformers: transformers,
            progress: progress,
            interruption: interruption.child(),
            opener: SourceOpener(),
            phases: { try ImportPipeline.phases($0, into: $1) }
        )
        return try progress.ending { try replay.checks() }
    }

    /// Finds the records that an object was imported from; blocks the calling thread.
    ///
    /// The sources of all imports that have filled its table are read again. They may be gone, or have changed: the explanation notes
    /// it. Imports of streams, patches, merges and retries are not searched.
    ///
    /// - Parameters:
    ///   - entity: the name of the entity, or of its table.
    ///   - key: the value of the identifier's attribute as text, or of each of them (`region=eu,number=7`).
    ///   - includingRecords: true to get the bytes of the records, too.
    ///   - transformers: the transformers that the models name.
    ///   - interruption: ends the reading of the sources.
    /// - Throws: `ImportError` as `status` does; `.objectNotFound` when there is no such object; `.optionInvalid` when the entity has no
    ///   identifier.
    public func explain(
        _ entity: String,
        key: String,
        includingRecords: Bool = false,
        transformers: TransformerRegistry = .standard,
        interruption: Interruption = Interruption()
    ) throws -> RowExplanation {
        try explainer(includingRecords, transformers, interruption).explain(entity, key: key)
    }

    /// Finds the records that the object of a row was imported from; blocks the calling thread.
    ///
    /// It does so by its row id as the other method does by its identifier.
    public func explain(
        _ entity: String,
        rowID: Int64,
        includingRecords: Bool = false,
        transformers: TransformerRegistry = .standard,
        interruption: Interruption = Interruption()
    ) throws -> RowExplanation {
        try explainer(includingRecords, transformers, interruption).explain(entity, rowID: rowID)
    }

    /// Finds a reject by its number, and the line of its record in its source; nil if that is a stream, is gone or has changed.
    ///
    /// - Throws: `ImportError` as `status` does; `.objectNotFound` when there is no such reject.
    public func explain(
        reject number: Int64,
        interruption: Interruption = Interruption()
    ) throws -> (reject: Reject, line: Int64?) {
        try explainer(false, .standard, interruption).explain(reject: number)
    }

    private func explainer(
        _ includesRecords: Bool,
        _ transformers: TransformerRegistry,
        _ interruption: Interruption
    ) -> RowExplainer {
        RowExplainer(
            store: store,
            showsRecords: includesRecords,
            opener: SourceOpener(),
            transformers: transformers,
            interruption: interruption.child()
        )
    }
}
