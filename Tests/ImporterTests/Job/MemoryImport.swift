import Foundation
import ImportModel
import Importer
import TestSupport

@testable import ImportEngine

/// An import into a store in memory, phase by phase.
struct MemoryImport {
    static let model = """
        {"entities": {
          "item": {"records": "$.items[*]", "attributes": {"id": {"type": "integer64"}}},
          "note": {"records": "$.notes[*]", "attributes": {"text": {"type": "string"}}}}}
        """

    let files: LibraryImport
    let store = MemoryStore()
    let progress = ImportProgress()
    let interruption = Interruption()
    var options: JobOptions
    /// One worker, so that what is committed before an error does not depend on others.
    var run = RunOptions(workers: 1, chunkSize: 100, commitEvery: 3)

    /// - Parameter hasModel: whether the job is given one, or has to infer it.
    init(_ text: String, hasModel: Bool = true) throws {
        files = try LibraryImport(text)
        options = JobOptions(model: hasModel ? try ModelDescription(parsing: Array(Self.model.utf8)) : nil)
        if !hasModel { options.records = [try RecordPath("$.items[*]")] }
    }

    /// A document with `items` items, those of `faulty` without a sound id.
    static func document(items: Int, faulty: Set<Int> = [], notes: Int = 1) -> String {
        let items = (0..<items).map { "{\"id\":\(faulty.contains($0) ? "\"x\"" : "\($0)")}" }
        let notes = (0..<notes).map { "{\"text\":\"n\($0)\"}" }
        return "{\"items\":[\(items.joined(separator: ","))],\"notes\":[\(notes.joined(separator: ","))]}"
    }

    var chunks: String { files.store + ".chunks" }

    var hasChunks: Bool { FileManager.default.fileExists(atPath: chunks) }

    /// Begins the job, or opens it where it was interrupted.
    func start() throws -> JobRun { try files.begin(options, run, in: store, progress, interruption) }

    /// Begins the job and imports its records.
    func imported() throws -> JobRun { try store.importRecords(of: start()) }

    /// The rows of an entity.
    func rows(of entity: Int) -> [String] {
        store.state.withLock { $0.rows.indices.contains(entity) ? $0.rows[entity] : [] }
    }
}

extension LibraryImport {
    /// Begins the import, or opens it where it was interrupted.
    func begin(
        _ options: JobOptions,
        _ run: RunOptions,
        in destination: any Destination,
        _ progress: ImportProgress = ImportProgress(),
        _ interruption: Interruption = Interruption()
    ) throws -> JobRun {
        // A worker that fails stops its own run.
        let interruption = interruption.child()
        let context = RunContext(
            store: store,
            options: run,
            opener: SourceOpener(),
            transformers: .standard,
            progress: progress,
            interruption: interruption,
            merges: MergeCenter()
        )
        let planner = JobPlanner(options: options, opener: context.opener, interruption: interruption) { _ in }
        let decision = try destination.read { journal in
            let resolver = JobResolver(
                store: store,
                options: options,
                run: run,
                planner: planner,
                chunksBase: store,
                isPlanning: false,
                journal: journal
            )
            return try resolver.decide(importing: [source])
        }
        return try StartPhase(context, in: destination).start(decision)
    }
}
