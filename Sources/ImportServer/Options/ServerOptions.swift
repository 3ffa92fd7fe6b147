import Glibc
import Importer

/// What a server shows, where it listens, and to whom it answers.
package struct ServerOptions: Sendable {
    /// The SQLite file's path; it need not exist yet.
    package var store: String
    /// The port to listen at; nil for the first one that is free of 20, 0 for any.
    package var port: UInt16?
    /// The address to listen at, of IPv4 or IPv6.
    package var address = "127.0.0.1"
    /// Names by which a proxy is asked for it.
    package var hosts: [String] = []
    /// True if values and records' bytes stay hidden.
    package var hidesValues = false
    /// The progress of the import in this process; nil for none.
    package var progress: ImportProgress?
    /// A group of errors as a sentence.
    package var groupText: @Sendable (ErrorGroup) -> String = { "\($0.keyPath): \($0.code)" }

    /// Of a store, at the addresses and for those that are said above.
    package init(store: String) {
        self.store = store
    }

    /// True if a text is an address of IPv4 or IPv6, or `localhost`.
    package static func isAddress(_ text: String) -> Bool {
        var four = in_addr()
        var six = in6_addr()
        return text == "localhost" || inet_pton(AF_INET, text, &four) == 1 || inet_pton(AF_INET6, text, &six) == 1
    }
}
