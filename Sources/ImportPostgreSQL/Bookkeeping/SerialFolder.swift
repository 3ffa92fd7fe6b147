import Foundation
import Importer

/// The folder, among the temporary files of this host, in which a job's records are taken one after the other.
enum SerialFolder {
    static func path(of job: StoredJob) -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("importer-\(job.token)").path
    }

    /// Removes what is there, as a killed process has left it.
    static func remove(of job: StoredJob) { try? FileManager.default.removeItem(atPath: path(of: job)) }
}
