import ImportModel
import Importer

/// Names of tables and columns as a server has them.
///
/// It keeps 63 bytes of a name and cuts the rest silently (`NAMEDATALEN`,
/// <https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS>), so longer ones are made
/// shorter here, in a way that keeps two of them apart. Names keep their case: they are always quoted.
enum PGNames {
    /// The most bytes of a name, in UTF-8.
    static let longest = 63

    /// Columns that every table has of its own (<https://www.postgresql.org/docs/current/ddl-system-columns.html>).
    static let systemColumns = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"]

    /// A name that the server does not cut: the same, or its beginning with `_` and 8 hexadecimal digits that tell it
    /// from others with the same beginning.
    ///
    /// It is cut between Unicode scalars: what a character is beyond that changes with Unicode.
    static func fitting(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        var kept = String.UnicodeScalarView()
        var room = longest - 9
        for scalar in name.unicodeScalars {
            room -= UTF8.width(scalar)
            guard room >= 0 else { break }
            kept.append(scalar)
        }
        let digits = String(hash(name), radix: 16)
        return "\(String(kept))_\(String(repeating: "0", count: 8 - digits.count))\(digits)"
    }

    /// The columns' names on a server, in the same order, none twice.
    ///
    /// Those that the server keeps for itself, and those that fall together with one that is the column's own, get
    /// `_2`, `_3` ….
    static func columns(_ names: [String]) -> [String] {
        let system = Set(systemColumns.map { BytewiseString($0) })
        func isKept(_ name: String) -> Bool { name.utf8.count <= longest && !system.contains(BytewiseString(name)) }
        var used = system
        var given: [String?] = names.map { name in
            isKept(name) && used.update(with: BytewiseString(name)) == nil ? name : nil
        }
        for (place, name) in names.enumerated() where given[place] == nil {
            var number = 1
            var free = fitting(name)
            while used.update(with: BytewiseString(free)) != nil {
                number += 1
                free = fitting("\(name)_\(number)")
            }
            given[place] = free
        }
        return given.compactMap { $0 }
    }

    /// A name in double quotes; those in it are doubled, as `PQescapeIdentifier` does it.
    static func quoted(_ name: String) -> String {
        var text = "\""
        for scalar in name.unicodeScalars {
            if scalar == "\"" { text.unicodeScalars.append(scalar) }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }

    /// FNV-1a with 32 bits (<https://datatracker.ietf.org/doc/html/rfc9923>) of the name's UTF-8.
    private static func hash(_ name: String) -> UInt32 {
        name.utf8.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}
