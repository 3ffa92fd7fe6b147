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
        let differs = references.map { "\($0) IS NOT ?" }.joined(separator: " OR ")
        let places = [position].compactMap { $0 }.map { ", \($0) = NULL" }.joined()
        return "UPDATE \(table) SET \(sets(references))\(places) WHERE rowid = ? AND (\(differs))"
    }

    /// Clears a to-one in an object's own columns, if it is set.
    var clearNamed: String {
        let isSet = references.map { "\($0) IS NOT NULL" }.joined(separator: " OR ")
        return "UPDATE \(table) SET \(sets(columns, "NULL")) WHERE rowid = ? AND (\(isSet))"
    }

    /// The row ids of those whose own columns are to be set and are not yet.
    var selectWaiting: String {
        let isFree = references.map { "\($0) IS NULL" }.joined(separator: " AND ")
        return "SELECT rowid FROM \(table) WHERE \(equal(holderKey)) AND \(isFree)"
    }

    /// Adds a link that is not there.
    var insertNamedLink: String {
        let names = own + other + [position].compactMap { $0 }
        let places = names.map { _ in "?" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\(names.joined(separator: ", "))) VALUES (\(places)) ON CONFLICT DO NOTHING"
    }
}
