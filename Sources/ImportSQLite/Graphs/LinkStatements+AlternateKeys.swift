/// The statements on references by other attributes than the identifier.
extension LinkStatements {
    package var isNamed: Bool { !names.isEmpty }

    /// What the names of the indexes begin with by which such references are looked up, while a job runs.
    static let indexPrefix = "_import_by_"

    /// Makes the index by which they are looked up.
    var makeIndex: String {
        let name = Self.indexPrefix + ([destinationTable] + names).joined(separator: "_").replacing("\"", with: "")
        return
            "CREATE INDEX IF NOT EXISTS \(name.quotedIdentifier) ON \(destinationTable) (\(names.joined(separator: ", ")))"
    }

    /// The keys of the first two that have some values.
    package var findNamed: String {
        "SELECT \(destinationKey.joined(separator: ", ")) FROM \(destinationTable) "
            + "WHERE \(equal(names)) AND \(isDestination) ORDER BY rowid LIMIT 2"
    }

    /// The values by which a row is named.
    var selectNames: String { "SELECT \(names.joined(separator: ", ")) FROM \(destinationTable) WHERE rowid = ?" }

    /// Sets a to-one in an object's own columns, if it is another one; the index in its list is none in another's.
    var setNamed: String {
        let places = [position].compactMap { $0 }.map { ", \($0) = NULL" }.joined()
        return "UPDATE \(table) SET \(sets(references))\(places) WHERE rowid = ? AND (\(any(references, "IS NOT ?")))"
    }

    /// Clears a to-one in an object's own columns, if it is set.
    var clearNamed: String {
        "UPDATE \(table) SET \(sets(columns, "NULL")) WHERE rowid = ? AND (\(any(references, "IS NOT NULL")))"
    }

    /// The row ids of those whose own columns are to be set and are not yet.
    var selectWaiting: String {
        "SELECT rowid FROM \(table) WHERE \(equal(holderKey)) AND \(all(references, "IS NULL"))"
    }
}
