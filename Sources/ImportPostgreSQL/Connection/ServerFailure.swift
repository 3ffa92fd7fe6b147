import Importer

/// What a server, or libpq, says is wrong.
struct ServerFailure: Error, Sendable {
    /// Five characters (<https://www.postgresql.org/docs/current/errcodes-appendix.html>); empty where libpq itself says it.
    var sqlState = ""
    var message: String
    /// May have values.
    var detail: String?
    var hint: String?
    /// Where it was: of a refused COPY the line.
    var context: String?
    var isConnectionLost = false

    /// Whether the same may go well a little later.
    ///
    /// The connection is gone, the server restarts, or transactions were in each other's way. A full disk is not among them.
    var isTransient: Bool {
        if isConnectionLost { return true }
        guard sqlState != "53100" else { return false }
        return ["08", "40", "53"].contains(String(sqlState.prefix(2))) || sqlState.hasPrefix("57P")
    }

    /// What it means to a person.
    func importError(at label: String, showsValues: Bool) -> ImportError {
        let words = message + (showsValues ? detail.map { ": \($0)" } ?? "" : "")
        let (reason, what, advice) = meaning(words)
        return ImportError(reason, at: label, what, advice: advice)
    }

    private func meaning(_ words: String) -> (ImportError.Reason, ImportText, ImportText?) {
        switch sqlState {
        case "28P01", "28000":
            return (
                .loginRefused, "the login is refused: \(words)",
                "Check user and password: ~/.pgpass, PGPASSFILE, a service file or PGPASSWORD has it."
            )
        case "3D000":
            return (.storeNotFound, "there is no such database: \(words)", "Make it, or correct the address.")
        case "42501":
            return (
                .permissionMissing, "\(words)",
                "Give the user the right to create and write tables there, or use another schema."
            )
        case "25006":
            return (
                .storeReadOnly, "the server takes no writes: \(words)",
                "Give the address of the primary; target_session_attrs=read-write finds it among several hosts."
            )
        case "53100":
            return (.diskFull, "the server's disk is full: \(words)", "Make room there, then resume.")
        case "53300":
            return (
                .serverUnavailable, "the server has no connection left: \(words)",
                "Give fewer \(.workers), or raise max_connections."
            )
        case "57014":
            return (
                .storeFailed, "the server has cancelled a statement: \(words)",
                "Set statement_timeout to 0 for this user, then resume."
            )
        default: break
        }
        if sqlState.isEmpty || isConnectionLost || isTransient {
            let isLogin = words.contains("no password supplied") || words.contains("authentication failed")
            if isLogin {
                return (
                    .loginRefused, "the login is refused: \(words)",
                    "Check user and password: ~/.pgpass, PGPASSFILE, a service file or PGPASSWORD has it."
                )
            }
            return (
                .serverUnavailable, "the server cannot be reached: \(words)",
                "Check the address, and that the server runs and lets this host in; what is committed stays."
            )
        }
        return (.storeFailed, "\(words) (SQLSTATE \(sqlState))", hint.map { "\($0)" })
    }
}

/// The connection was lost while a COMMIT was on its way: whether it was done is to be asked on another one.
struct CommitUnknown: Error {}
