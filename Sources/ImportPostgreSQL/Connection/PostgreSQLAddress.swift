import Importer

/// The address of a PostgreSQL server: a URI of libpq, `postgresql://…` or `postgres://…`
/// (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS>).
public struct PostgreSQLAddress: Sendable, Hashable {
    /// The URI; it has no password.
    let uri: String
    /// The name of the schema; nil for the connection's `current_schema()`.
    public var schema: String?
    /// The address in messages, logs and reports: host, port, user, database and service, and no other parameter.
    public let label: String
    /// The database that it names, or else the user; nil where neither is named.
    let database: String?
    /// The settings that it has, by libpq's names.
    let settings: [String: String]

    private static let schemes = ["postgresql://", "postgres://"]

    /// True if an argument is the address of a server and not a path.
    public static func isOne(_ text: String) -> Bool { scheme(of: text) != nil }

    private static func scheme(of text: String) -> String? {
        schemes.first { text.lowercased().hasPrefix($0) }
    }

    /// Parses an address, without connecting to the server.
    ///
    /// - Parameter uri: a URI of libpq, without a password.
    /// - Throws: `ImportError` with `.optionInvalid` when libpq cannot parse it, or it has a password, which would be visible in
    ///   the list of processes; another one when libpq is missing.
    public init(_ uri: String) throws {
        guard let scheme = Self.scheme(of: uri), !uri.utf8.contains(0) else {
            throw ImportError(.optionInvalid, "this is not the address of a server", advice: Self.form)
        }
        // libpq takes the scheme in small letters alone.
        let address = scheme + uri.dropFirst(scheme.count)
        if Self.seemsToHavePassword(address.dropFirst(scheme.count)) { throw Self.refusal(of: "password") }
        let text: ConnectionString
        try LibPQ.load()
        do {
            text = try ConnectionString(address)
        } catch {
            let words = Self.mayQuoteSecret(address.dropFirst(scheme.count)) ? "" : ": \(error.words)"
            throw ImportError(.optionInvalid, "the address of the server cannot be read\(words)", advice: Self.form)
        }
        if let secret = text.secrets.first { throw Self.refusal(of: secret) }
        self.uri = address
        settings = text.settings
        label = Self.label(of: address)
        database = text.settings["dbname"] ?? text.settings["user"]
    }

    private static let form: MessageText = """
        Give it as postgresql://USER@HOST/DATABASE. Within a name, write %3A for a colon, %2F for a slash, %3F for a \
        question mark, %40 for an at sign and %25 for a percent sign.
        """

    private static func refusal(of name: String) -> ImportError {
        ImportError(
            .optionInvalid,
            "the address of the server has a \(name), which everybody could read in the list of processes",
            advice: """
                Leave it out. A password can be in ~/.pgpass, in a file that PGPASSFILE names, in a service file, or \
                in PGPASSWORD; on a terminal it is asked for.
                """
        )
    }

    // MARK: What must not be shown

    /// True if there is a colon before an at sign that comes before all parameters: where a password with a slash in it
    /// would be read as a port and a database.
    private static func seemsToHavePassword(_ rest: Substring) -> Bool {
        let place = rest.prefix { $0 != "?" }
        guard let end = place.lastIndex(of: "@"), let colon = place[..<end].firstIndex(of: ":") else { return false }
        return place.index(after: colon) < end
    }

    /// True if libpq's words about a text could quote a password of it.
    private static func mayQuoteSecret(_ rest: Substring) -> Bool {
        if let colon = rest.firstIndex(of: ":"), rest[colon...].contains("@") { return true }
        return rest.contains("%") || rest.lowercased().contains("password") || rest.lowercased().contains("secret")
    }

    /// The address with those parameters alone that say which database it is.
    private static func label(of uri: String) -> String {
        let place = uri.prefix { $0 != "?" }
        let shown = uri.dropFirst(place.count + 1).split(separator: "&").filter { parameter in
            ["host", "hostaddr", "port", "user", "dbname", "service"].contains(parameter.prefix { $0 != "=" })
        }
        return shown.isEmpty ? String(place) : "\(place)?\(shown.joined(separator: "&"))"
    }
}
