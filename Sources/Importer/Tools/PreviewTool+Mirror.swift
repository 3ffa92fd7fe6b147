import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Imports a job that mirrors its sources into a copy of its store, and removes that: what would be deleted is known only by then.
extension PreviewTool {
    /// - Throws: `ImportError` when the store cannot be copied, or the import is interrupted.
    func mirror() throws -> ImportPreview.Mirror {
        try TemporaryFolder.with { folder in
            let own = folder + "/store.sqlite"
            try StoreCopy.make(of: store, at: own, interruption)
            var copied = job
            if !job.takesChunks { copied.chunkDirectory = folder + "/chunks" }
            let progress = ImportProgress()
            defer { announce(progress.snapshot.messages.map { $0.replacing(own, with: store) }) }
            do {
                let report = try importing(copied, open, into: own, durability: .off, progress) {
                    $0.rowSelection = RecordPredicate.selectRows
                }
                try checkIndexes(entities(in: own))
                return ImportPreview.Mirror(report: report, message: nil)
            } catch let error as ImportError where error.code != .noResources && error.code != .usage {
                try interruption.check()
                let report = try? StoreInspection(store: own).status()
                return ImportPreview.Mirror(report: report, message: error.text.replacing(own, with: store))
            }
        }
    }
}
