extension DeclaredType {
    /// How SQLite stores what is written there (<https://www.sqlite.org/datatype3.html#determination_of_column_affinity>).
    package enum Affinity {
        case integer, text, blob, real, numeric

        package init(declared: String) {
            let type = declared.uppercased()
            if type.contains("INT") {
                self = .integer
            } else if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") {
                self = .text
            } else if type.isEmpty || type.contains("BLOB") {
                self = .blob
            } else if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") {
                self = .real
            } else {
                self = .numeric
            }
        }
    }
}
