import Foundation
import ImportModel

/// Imports a job that mirrors its sources into a copy of its store, and removes that: what would be deleted is known only by then.
struct MirrorPreviewTool {
    let job: StoredJob
    /// Sources that cannot be opened a second time, open already.
    let open: [Int: SourceStream]
    /// The store's path.
    let store: String
    let run: RunOptions
    let opener: SourceOpener
    let transformers: TransformerRegistry
    let interruption: Interruption
    /// What an import does with a job that is open.
    let phases: (JobRun, SQLiteDestination) throws -> Void

    /// - Throws: `ImportError` when the store cannot be copied, or the import is interrupted.
    func preview() throws -> ImportPreview.Mirror {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("importer-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let own = folder + "/store.sqlite"
        try StoreCopy.make(of: store, at: own, interruption)
        var copied = job
        if !job.takesChunks { copied.chunkDirectory = folder + "/chunks" }
        var options = run
        options.chunkDirectory = folder + "/chunks"
        options.indexes = []
        do {
            let context = RunContext(
                store: own,
                options: options,
                opener: opener,
                transformers: transformers,
                progress: ImportProgress(),
                interruption: interruption.child(),
                merges: MergeCenter()
            )
            let destination = SQLiteDestination(own, durability: .off)
            destination.rowSelection = RecordPredicate.selectRows
            try destination.lock()
            defer { destination.unlock() }
            let begun = try StartJob(context, in: destination).start(.begin(copied, open: open))
            return ImportPreview.Mirror(report: try begun.go { try phases($0, destination) }, message: nil)
        } catch let error as ImportError where error.code != .noResources {
            try interruption.check()
            let report = try? StoreInspection(store: own).status()
            return ImportPreview.Mirror(report: report, message: error.text.replacing(own, with: store))
        }
    }
}
