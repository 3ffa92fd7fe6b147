import Foundation
import ImportEngine
import ImportModel
import ImportSources

/// The `infer` command: works out a model and keeps nothing else.
struct InferTool {
    /// The store whose tables the model is for; nil for new tables.
    let store: String?
    let job: JobOptions
    let run: RunOptions
    let opener: SourceOpener
    let progress: ImportProgress
    let interruption: Interruption

    func infer(_ arguments: [String]) throws -> InferredModel {
        try job.check()
        try run.check()
        // Where there is no store, that is known before anything is read.
        if let store { _ = try theirTables(in: store) }
        try ImportError.checkDescriptors(24 + 2 * run.workers, "to read with \(.workers, "\(run.workers)")")
        progress.update { $0.phase = .inferring }
        var planner = JobPlanner(options: job, opener: opener, interruption: interruption) { [progress] text in
            progress.update { $0.messages.append(text) }
        }
        if let store { planner.theirTables = { try theirTables(in: store) } }
        if let chunks = try ChunkSource.open(arguments) {
            let sources = try planner.plan(chunks)
            return try infer(sources, removesChunks: false) { put in
                try put(chunks.content.entries, chunks.directory)
                return nil
            }
        }
        let plan = try planner.plan(planner.list(arguments).sources)
        try TableMessage(sources: plan.sources).kindLines().forEach { line in
            progress.update { $0.messages.append(line) }
        }
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("importer-\(UUID().uuidString)").path
        let directory = try ChunkDirectory(path: path, creates: true)
        guard directory.isMade else { throw ImportError.system(EEXIST, "make the chunk directory", path) }
        defer { Self.remove(directory) }
        let limits = SplitLimits(job)
        let header = ChunkManifest.Header(
            sources: plan.sources.map(\.description),
            shapes: plan.sources.map(\.shape),
            limits: limits
        )
        let cutter = SourceCutter(
            sources: plan.sources,
            limits: limits,
            chunkSize: run.chunkSize,
            skipsBadSources: job.onBadSource == .skip,
            directory: directory,
            manifest: try ChunkManifest(creatingIn: directory, header: header, synced: false),
            opener: opener,
            interruption: interruption,
            progress: progress
        )
        return try infer(plan.sources, removesChunks: true) { put in
            try cutter.run(from: SplitStart(), open: plan.open) { try put($0.map(\.entry), directory) }
        }
    }

    /// What was put into it are the manifest and the chunks whose names it has reserved.
    private static func remove(_ directory: ChunkDirectory) {
        if let chunks = try? ChunkManifest.readNumbers(in: directory) { try? directory.removeFiles(chunks.numbers) }
        directory.removeIfEmpty()
    }

    /// Looks at the chunks that `cut` hands over.
    private func infer(
        _ sources: [StoredJob.Source],
        removesChunks: Bool,
        _ cut: @escaping (@escaping ([ChunkEntry], ChunkDirectory) throws -> Void) throws -> ImportError?
    ) throws -> InferredModel {
        let inference = InferenceWorkers(
            sources: sources,
            options: job,
            removesChunks: removesChunks,
            readsBytes: store != nil,
            progress: progress,
            interruption: interruption
        )
        progress.update { $0.totalBytes = sources.map(\.description).plainSize }
        let fault = try inference.run(workers: run.workers) { queue in
            try cut { entries, directory in
                let chunks = entries.map {
                    SealedChunk($0, in: directory, shape: sources[$0.source].shape, maxRecordBytes: job.maxRecordBytes)
                }
                for file in chunks.byFile() { try queue.put(file) }
            }
        }
        if let fault { throw fault }
        progress.update { $0.phase = .finished }
        let inferred = try store.map { try self.model(inference, of: sources, in: $0) } ?? inference.model()
        let (model, notice) = inferred.model.tellingKinds(of: sources, by: job.entityBy ?? [], job.records.first)
        return InferredModel(text: model.encoded(), notices: inferred.notices + (notice.map { [$0] } ?? []))
    }
}
