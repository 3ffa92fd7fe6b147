import CRevision
import Importer

/// What `importer --version` prints.
enum VersionText {
    /// The version, and a line each for the revision and the libraries.
    static var text: String {
        """
        importer \(ImporterVersion.text)
        revision \(String(cString: importer_revision()))
        SQLite   \(ImporterVersion.sqlite)
        yajl     \(ImporterVersion.yajl)
        """
    }
}
