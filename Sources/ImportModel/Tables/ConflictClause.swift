/// What a statement does where a table refuses a row (https://www.sqlite.org/lang_conflict.html).
package enum ConflictClause: String {
    /// It takes back all that it and triggers have done: SQLite writes each page as it was to a temporary file first
    /// (https://www.sqlite.org/tempfiles.html, statement journals).
    case abort = "ABORT"
    /// It ends. Where it writes one row and the store has no triggers, nothing is done all the same.
    case fail = "FAIL"
}
