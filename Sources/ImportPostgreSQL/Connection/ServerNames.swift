import CPostgreSQL
import ImportModel
import Importer

/// Names of tables and columns as a server keeps them.
enum ServerNames {
    /// The server cuts longer names silently, in bytes (<https://www.postgresql.org/docs/current/limits.html>).
    static let longest = 63
}
