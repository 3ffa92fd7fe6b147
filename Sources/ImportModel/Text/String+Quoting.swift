extension String {
    /// The text between quotes, each quote in it replaced: by two of them for SQL.
    ///
    /// By Unicode scalars: a quote with a combining mark behind it is another `Character`, and a quote for SQLite and for a shell.
    package func quoted(by quote: Unicode.Scalar, with replacement: String) -> String {
        // Most names have none in them.
        guard unicodeScalars.contains(quote) else { return "\(quote)\(self)\(quote)" }
        var result = String.UnicodeScalarView([quote])
        for scalar in unicodeScalars {
            if scalar == quote { result.append(contentsOf: replacement.unicodeScalars) } else { result.append(scalar) }
        }
        result.append(quote)
        return String(result)
    }

    /// The name as an SQL identifier (<https://www.sqlite.org/lang_keywords.html>): in quotes, inner quotes doubled.
    package var quotedIdentifier: String { quoted(by: "\"", with: "\"\"") }
}
