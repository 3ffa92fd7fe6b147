/// Gives each child table a name of its own, in the order in which it is asked.
///
/// Tables and indexes share their names, and SQLite ignores the case of ASCII letters. A name that is taken gets `_2`, `_3` …; one
/// that SQLite or the importer keeps for itself gets a `_` before it.
package struct TableNames {
    private var used: Set<String> = []
    /// True if the store has something of this name that is not to be continued.
    private let isTaken: (String) throws -> Bool

    package init(isTaken: @escaping (String) throws -> Bool = { _ in false }) {
        self.isTaken = isTaken
    }

    /// Keeps a name from being given.
    package mutating func reserve(_ name: String) { used.insert(name.asciiLowercased) }

    /// A name for the table of an array's objects.
    ///
    /// - Parameters:
    ///   - keys: those that lead to the array, from the objects around it on.
    ///   - parent: the name of the entity of the objects around it.
    package mutating func name(for keys: [String], of parent: String) throws -> String {
        // SQL text ends at NUL.
        var wanted = "\(parent)_\(ColumnNames.wanted(for: keys))".replacing("\0", with: "_")
        if ["sqlite_", "_import_"].contains(where: wanted.asciiLowercased.hasPrefix) { wanted = "_" + wanted }
        var (name, number) = (wanted, 1)
        // Its index is named after it and its parent.
        while try used.contains(name.asciiLowercased) || used.contains("\(name)_\(parent)".asciiLowercased)
            || isTaken(name)
        {
            number += 1
            name = "\(wanted)_\(number)"
        }
        reserve(name)
        reserve("\(name)_\(parent)")
        return name
    }
}
