import CPostgreSQL
import ImportModel
import Importer

/// Where a server is, as a person has given it: a URI as libpq takes it
/// (<https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING>).
public struct ServerAddress: Sendable, Hashable {
    /// The URI; it has no password.
    let uri: String
    /// The schema that is meant; nil for the connection's `current_schema()`.
    public var schema: String?
    /// What people call it: the address without parameters that may be secret.
    public let label: String
    /// The database that it names, or else the user; nil where neither is named.
    let database: String?

    /// Whether an argument is the address of a server and not a path.
    public static func isOne(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    /// Reads an address.
    ///
    /// - Throws: `ImportError` with `.usage` where it is none, and where it has a password: that would stand in the list of
    ///   processes.
    public init(_ uri: String) throws {
        self.uri = uri
        let settings = try Self.settings(uri)
        let start = uri.firstIndex(of: "?") ?? uri.endIndex
        label = String(uri[..<start])
        database = settings["dbname"] ?? settings["user"]
        for name in ["password", "sslpassword"] where settings[name] != nil {
            throw ImportError(
                .optionInvalid,
                "the address has a \(name), which everybody could read in the list of processes",
                advice:
                    "Leave it out, and put it into ~/.pgpass, a file that PGPASSFILE names, a service file, or PGPASSWORD."
            )
        }
    }

    /// The settings that a URI has, by their names (`PQconninfoParse`).
    private static func settings(_ uri: String) throws -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(uri, &message) else {
            defer { PQfreemem(message) }
            // It may quote what it has not understood, which may be a password.
            let hasSecret = uri.contains("@") && uri.prefix { $0 != "@" }.dropFirst(13).contains(":")
            let words = hasSecret ? nil : message.map { String(cString: $0) }
            throw ImportError(
                .optionInvalid,
                "the address of the server cannot be read\(words.map { ": \($0.trimmedEnd)" } ?? "")",
                advice: "Give it as postgresql://USER@HOST/DATABASE."
            )
        }
        defer { PQconninfoFree(options) }
        var settings: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { settings[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return settings
    }
}

extension String {
    /// Without line breaks and blanks at the end, as libpq's messages have them.
    var trimmedEnd: String {
        var text = self[...]
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
