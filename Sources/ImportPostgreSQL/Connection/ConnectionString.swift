import CPostgreSQL

/// A connection's settings as libpq reads them from a text
/// (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>).
struct ConnectionString {
    /// Why libpq does not take a text; its words may quote what is in it.
    struct Refusal: Error {
        let words: String
    }

    /// The settings that the text has, by their names.
    let settings: [String: String]
    /// The names of those whose values nobody may see, sorted.
    let secrets: [String]

    /// Reads a URI (`PQconninfoParse`); no default and nothing of the environment is added.
    ///
    /// - Throws: `Refusal`.
    init(_ uri: String) throws(Refusal) {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = cPQconninfoParse(uri, &message) else {
            defer { cPQfreemem(message) }
            throw Refusal(words: message.map { String(cString: $0).trimmedEnd } ?? "there is no memory for it")
        }
        defer { cPQconninfoFree(options) }
        var settings: [String: String] = [:]
        var secrets: [String] = []
        var option = options
        while let keyword = option.pointee.keyword {
            defer { option += 1 }
            guard let value = option.pointee.val else { continue }
            let name = String(cString: keyword)
            settings[name] = String(cString: value)
            // libpq marks with `*` what a dialog has to hide.
            let isHidden = option.pointee.dispchar.map { String(cString: $0) } == "*"
            if isHidden || Self.alwaysSecret.contains(name) { secrets.append(name) }
        }
        self.settings = settings
        self.secrets = secrets.sorted()
    }

    /// Those of later versions of libpq that it does not mark.
    private static let alwaysSecret: Set = [
        "password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret",
    ]
}

extension String {
    /// Without line breaks and blanks at the end, as libpq's messages have them.
    var trimmedEnd: String {
        var text = self[...]
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
