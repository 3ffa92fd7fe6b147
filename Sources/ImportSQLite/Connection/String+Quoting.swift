extension String {
    /// The name as an SQL identifier (<https://www.sqlite.org/lang_keywords.html>): in quotes, inner quotes doubled.
    package var quotedIdentifier: String { quoted(by: "\"", with: "\"\"") }
}
