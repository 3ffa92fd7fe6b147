import CSQLite
import CYajl

/// The versions of the program and of the libraries that it runs with.
public enum ImporterVersion {
    /// The program's own, after Semantic Versioning.
    public static let text = "0.1.0"

    /// The version of SQLite, like `3.40.1`.
    public static var sqlite: String { String(cString: sqlite3_libversion()) }

    /// The version of yajl, like `2.1.0`.
    public static var yajl: String {
        // Two decimal digits for each of the parts after the first.
        let number = Int(yajl_version())
        return "\(number / 10_000).\(number / 100 % 100).\(number % 100)"
    }
}
