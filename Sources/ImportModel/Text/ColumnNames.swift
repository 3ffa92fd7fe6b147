/// Gives each attribute a name of its own, in the order in which it is asked.
///
/// SQLite takes names that differ only in the case of ASCII letters for the same, and `rowid` and its kin for the row's
/// number; such names get `_2`, `_3` …
package struct ColumnNames {
    private var used: Set<String> = ["rowid", "oid", "_rowid_"]
    /// The last suffix given, by name.
    private var suffixes: [String: Int] = [:]

    /// - Parameter reserved: names that no column may have.
    package init(reserving reserved: [String] = []) {
        used.formUnion(reserved.map(\.asciiLowercased))
    }

    /// The name for the value at these keys.
    package mutating func name(for keys: [String]) -> String {
        name(wanted: Self.wanted(for: keys))
    }

    /// The name that the value at these keys would best have.
    package static func wanted(for keys: [String]) -> String {
        keys.map { $0.isEmpty ? "empty" : $0 }.joined(separator: "_")
    }

    /// The names for these columns, in their order: a key that may be a name itself keeps it.
    package mutating func names(for columns: [[String]]) -> [String] {
        var names = columns.map { keys in
            let isFree = keys.count == 1 && keys[0] != "" && !used.contains(keys[0].asciiLowercased)
            return isFree ? name(for: keys) : ""
        }
        for (index, keys) in columns.enumerated() where names[index].isEmpty { names[index] = name(for: keys) }
        return names
    }

    /// The wanted name, or one that comes as close as possible.
    ///
    /// SQL text ends at NUL: it is replaced.
    package mutating func name(wanted: String) -> String {
        let wanted = String(String.UnicodeScalarView(wanted.unicodeScalars.map { $0 == "\0" ? "_" : $0 }))
        let folded = wanted.asciiLowercased
        var suffix = suffixes[folded, default: 1]
        var name = suffix == 1 ? wanted : "\(wanted)_\(suffix)"
        while !used.insert(name.asciiLowercased).inserted {
            suffix += 1
            name = "\(wanted)_\(suffix)"
        }
        suffixes[folded] = suffix
        return name
    }
}
