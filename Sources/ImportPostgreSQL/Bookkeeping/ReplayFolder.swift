import Foundation
import Importer

/// The folder, among the temporary files of this host, in which a job's records are taken one after the other.
///
/// Each has a name of its own that begins with the job's: a process that was replaced without knowing it removes nothing of
/// the next one's.
enum ReplayFolder {
    private static var parent: URL { FileManager.default.temporaryDirectory }

    private static func name(of job: StoredJob) -> String { "importer-\(job.token)" }

    /// A path where nothing is, and what killed processes have left of the job is gone.
    static func path(of job: StoredJob) -> String {
        remove(of: job)
        return parent.appendingPathComponent("\(name(of: job))-\(UUID().uuidString.lowercased().prefix(8))").path
    }

    /// Removes what processes have left of a job.
    static func remove(of job: StoredJob) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        for name in names where name.hasPrefix(self.name(of: job)) {
            try? FileManager.default.removeItem(at: parent.appendingPathComponent(name))
        }
    }
}
