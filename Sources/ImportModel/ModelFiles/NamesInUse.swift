/// Names of tables or columns, as SQLite tells them apart: by their bytes, but for the case of ASCII letters.
struct NamesInUse {
    private var owners: [[UInt8]: String] = [:]

    /// Takes a name; if it is taken already, says whose it is.
    ///
    /// - Returns: nil also where the owner is there twice, which is a mistake of its own, and for no name at all.
    mutating func insert(_ name: String, of owner: String) -> String? {
        guard !name.isEmpty else { return nil }
        let folded = name.foldedASCII
        if let other = owners[folded] { return other.hasSameBytes(as: owner) ? nil : other }
        owners[folded] = owner
        return nil
    }
}
