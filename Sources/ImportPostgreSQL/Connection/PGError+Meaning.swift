import Importer

extension PGError {
    /// What it means to a person.
    ///
    /// A database that is not there is input that is not there (66), as with the path of a store: the server could be
    /// reached.
    ///
    /// - Parameters:
    ///   - label: what messages call the server (`PostgreSQLAddress.label`).
    ///   - showsValues: whether the advice may have values: the server's DETAIL, and what it quotes of data that it
    ///     refuses. The message, which is kept with the job, has none.
    func importError(at label: String, showsValues: Bool) -> ImportError {
        let words = messageWithoutValues
        let meaning = sqlState.isEmpty ? meaningOfTrouble(words) : meaningOfState(words)
        var advice = meaning.advice ?? hint.map { "\($0)" }
        if showsValues {
            let said = [words == message ? nil : message, detail].compactMap(\.self).joined(separator: "\n")
            let rest: MessageText = advice.map { "\n\($0)" } ?? ""
            if !said.isEmpty { advice = "The server says: \(said)\(rest)" }
        }
        return ImportError(meaning.reason, at: label, meaning.what, advice: advice)
    }

    /// Data exceptions quote the data in their primary message, too: `invalid input syntax for type integer: "…"`.
    var messageWithoutValues: String {
        guard stateClass == "22", !isConnecting, let start = message.firstIndex(of: "\"") else { return message }
        guard let end = message.lastIndex(of: "\""), start < end else { return String(message[..<start]) + "…" }
        return message[..<start] + "\"…\"" + message[message.index(after: end)...]
    }

    private typealias Meaning = (reason: ImportError.Reason, what: MessageText, advice: MessageText?)

    // MARK: What libpq says

    /// What libpq itself finds wrong, without a server's SQLSTATE.
    enum Trouble {
        case unreachable
        case noSuchHost
        case password
        case settings
        case encryption
        case readOnly
        case descriptors
        case lost
    }

    /// What libpq itself finds wrong, told from its words: there is nothing else.
    ///
    /// They are English, as no program of ours calls `setlocale`.
    var trouble: Trouble {
        func says(_ words: [String]) -> Bool { words.contains { message.contains($0) } }
        if needsPassword || says(["no password supplied"]) { return .password }
        if says(["Too many open files"]) { return .descriptors }
        guard isConnecting else { return .lost }
        if says(Self.wordsOfRoles) { return .readOnly }
        if message.hasPrefix("invalid ") || says(Self.wordsOfSettings) { return .settings }
        if says(Self.wordsOfEncryption) { return .encryption }
        // A name server that is away for a moment is like a server that is.
        if says(["could not translate host name"]), !says(["Temporary failure"]) { return .noSuchHost }
        return .unreachable
    }

    /// What it says of `target_session_attrs`.
    private static let wordsOfRoles = [
        "session is read-only", "session is not read-only", "server is in hot standby", "server is not in hot standby",
    ]

    private static let wordsOfSettings = [
        "definition of service", "service file", "could not match", "invalid port number", "invalid integer value",
    ]

    private static let wordsOfEncryption = [
        "server does not support SSL", "certificate", "SSL error", "private key file", "GSSAPI", "channel binding",
    ]

    private func meaningOfTrouble(_ words: String) -> Meaning {
        switch trouble {
        case .password: return refusedLogin(words)
        case .descriptors:
            return (
                .noDescriptors, "the server cannot be reached: \(words)",
                "Allow more open files (ulimit -n), then \(.sameAgain)."
            )
        case .readOnly: return readOnly(words)
        case .settings:
            return (
                .optionInvalid, "the address of the server cannot be used: \(words)", "Correct it, or the service file."
            )
        case .encryption:
            return (
                .serverUnavailable, "the server and this host do not agree on encryption: \(words)",
                "See sslmode, sslrootcert and sslcert in the manual of libpq; they can be parameters of the address."
            )
        case .noSuchHost:
            return (.serverUnavailable, "there is no such host: \(words)", "Correct the address.")
        case .unreachable:
            return (
                .serverUnavailable, "the server cannot be reached: \(words)",
                "Check the address, and that the server runs and lets this host in."
            )
        case .lost where isConnectionLost:
            return (
                .serverUnavailable, "the connection to the server is lost: \(words)",
                "What is committed stays. When the server can be reached, \(.sameAgain)."
            )
        case .lost: return (.storeFailed, "\(words)", nil)
        }
    }

    // MARK: What the server says

    private func meaningOfState(_ words: String) -> Meaning {
        switch sqlState {
        case "42501":
            return (
                .permissionMissing, "the server does not permit it: \(words)",
                "Grant the user what is missing, or use a schema of its own."
            )
        case "3D000":
            return (.storeNotFound, "there is no such database: \(words)", "Create it, or correct the address.")
        case "25006": return readOnly(words)
        case "53100":
            return (
                .diskFull, "the server's disk is full: \(words)",
                "Free some space on it and \(.sameAgain): it resumes where it stopped."
            )
        case "53300":
            return (
                .serverUnavailable, "the server has no free connection: \(words)",
                "Use fewer \(.workers), or raise max_connections or the user's limit. Each worker has a connection."
            )
        case "57014":
            return (
                .storeFailed, "the server has ended a statement: \(words)",
                "It was cancelled, or ended by a timeout of the server or a pooler: \(.sameAgain)."
            )
        case "22021", "22P05":
            return (
                .storeUnusable, "the database's encoding does not have a character: \(words)",
                "Use a database whose encoding is UTF8."
            )
        case "55P03":
            return (
                .storeInUse, "another program holds a lock: \(words)",
                "Let it finish, then \(.sameAgain)."
            )
        case "XX001", "XX002":
            return (.storeDamaged, "the server's files are damaged: \(words)", "Restore the database.")
        default: return meaningOfClass(words)
        }
    }

    private func meaningOfClass(_ words: String) -> Meaning {
        switch stateClass {
        case "28": return refusedLogin(words)
        case _ where ["08", "53"].contains(stateClass) || sqlState.hasPrefix("57P"):
            let what: MessageText =
                isConnecting ? "the server refuses the connection" : "the server has ended the connection"
            return (
                .serverUnavailable,
                stateClass == "53" ? "the server is short of resources: \(words)" : "\(what): \(words)",
                "What is committed stays. When the server can be reached, \(.sameAgain)."
            )
        case _ where isConnecting:
            return (.optionInvalid, "the server does not accept the connection: \(words)", "Correct the address.")
        default: return (.storeFailed, "\(words) (SQLSTATE \(sqlState))", nil)
        }
    }

    private func readOnly(_ words: String) -> Meaning {
        (
            .storeReadOnly, "the server is read-only: \(words)",
            """
            Give the address of the primary. Of several hosts, target_session_attrs=read-write finds it; a user can be \
            read-only by default_transaction_read_only.
            """
        )
    }

    private func refusedLogin(_ words: String) -> Meaning {
        let isHost = words.contains("pg_hba.conf")
        return (
            .loginRefused, "the server refuses the login: \(words)",
            isHost
                ? "Let the server accept user, database and host (pg_hba.conf), or ask for encryption: sslmode=require."
                : """
                Check the user and the password, which is in ~/.pgpass, a file that PGPASSFILE names, a service \
                file or PGPASSWORD.
                """
        )
    }
}
