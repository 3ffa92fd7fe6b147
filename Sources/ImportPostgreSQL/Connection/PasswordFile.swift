import Foundation

/// The file that libpq finds passwords in (<https://www.postgresql.org/docs/current/libpq-pgpass.html>).
struct PasswordFile {
    let path: String

    /// - Parameter named: what the address names; nil for that of the environment, or the one in the home directory.
    init(_ named: String?) {
        let names = [named, ProcessInfo.processInfo.environment["PGPASSFILE"]]
        path = names.compactMap { $0 }.first { !$0.isEmpty } ?? NSHomeDirectory() + "/.pgpass"
    }

    /// True if it is there, and libpq ignores it: it is no plain file, or others may read it.
    var isUnusable: Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT != S_IFREG || status.st_mode & (S_IRWXG | S_IRWXO) != 0
    }
}
