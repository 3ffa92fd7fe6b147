/// What a server, or libpq, says is wrong.
struct PGError: Error, Sendable, Hashable {
    /// Five characters (<https://www.postgresql.org/docs/current/errcodes-appendix.html>); empty where libpq itself
    /// says it.
    var sqlState = ""
    /// The primary message, or libpq's words.
    var message: String
    /// It often has values.
    var detail: String?
    var hint: String?
    /// Where it was (of a refused COPY, the line); it may have values.
    var context: String?
    /// The table, column and constraint that it is about, where the server names them.
    var table: String?
    var column: String?
    var constraint: String?
    /// True if the connection is of no use any more.
    var isConnectionLost = false
    /// True if there was no connection yet.
    var isConnecting = false
    /// True if the server asks for a password and none was there (`PQconnectionNeedsPassword`).
    var needsPassword = false

    /// The class of its SQLSTATE; empty where libpq itself says it.
    var stateClass: String { String(sqlState.prefix(2)) }

    /// True if the same may go well a little later.
    ///
    /// The connection is gone, the server restarts, or transactions were in each other's way. A full disk is not among
    /// them, nor what somebody has to change first.
    var isTransient: Bool {
        guard sqlState.isEmpty else {
            guard sqlState != "53100" else { return false }
            let isTemporary = ["08", "40", "53"].contains(stateClass) || sqlState.hasPrefix("57P")
            return isTemporary || (isConnectionLost && !isConnecting)
        }
        return trouble == .unreachable || (trouble == .lost && isConnectionLost)
    }
}

extension PGError {
    /// A connection that did not come about.
    ///
    /// - Parameters:
    ///   - words: libpq's, in its verbose form: they alone have what the server says, and its SQLSTATE. Each host and
    ///     address that was tried has its own.
    ///   - needsPassword: whether a password would help.
    init(connecting words: String, needsPassword: Bool = false) {
        var lines: [String] = []
        for line in words.split(whereSeparator: \.isNewline) {
            let text = line.drop(while: \.isWhitespace)
            if let words = Self.labelled(text, as: "HINT:") {
                hint = words
            } else if let words = Self.labelled(text, as: "DETAIL:") {
                detail = words
            } else if Self.labelled(text, as: "LOCATION:") == nil {
                let (state, words) = Self.withoutState(text)
                if let state { sqlState = state }
                lines.append(words)
            }
        }
        message = lines.joined(separator: "; ")
        isConnecting = true
        isConnectionLost = true
        self.needsPassword = needsPassword
    }

    private static func labelled(_ line: Substring, as label: String) -> String? {
        guard line.hasPrefix(label) else { return nil }
        return String(line.dropFirst(label.count).drop(while: \.isWhitespace))
    }

    /// `… FATAL:  28P01: password …` as SQLSTATE and the rest; the severity may be in another language.
    private static func withoutState(_ line: Substring) -> (state: String?, words: String) {
        var rest = line
        while let end = rest.firstIndex(of: ":") {
            let after = rest[end...]
            let state = after.dropFirst(3).prefix(5)
            let isState = state.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) } && state.count == 5
            if after.hasPrefix(":  "), isState, after.dropFirst(8).hasPrefix(": ") {
                // Before the colon is the severity, the last word.
                let severity = line[..<end].split(separator: " ", omittingEmptySubsequences: false).last ?? ""
                let before = line[..<end].dropLast(severity.count)
                return (String(state), String(before + after.dropFirst(10)))
            }
            rest = after.dropFirst()
        }
        return (nil, String(line))
    }
}

/// The connection was lost while a COMMIT was on its way: whether it was done is to be asked on another one.
struct UnknownCommitOutcome: Error, Sendable {
    /// How it was lost.
    let failure: PGError
}
