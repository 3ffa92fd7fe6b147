/// The names by which the server may be asked: those of its own address, and those of a proxy before it.
///
/// A page of somebody else whose name suddenly leads to this machine (DNS rebinding) has another one.
struct AllowedHosts: Sendable {
    /// The address that it listens at, without brackets.
    let address: String
    let port: UInt16
    /// Further names, each with or without a port.
    let others: [String]

    /// True if a request with this `Host` is for this server.
    func allows(host: String?) -> Bool {
        guard let host = host?.lowercased(), let (name, port) = Self.split(host) else { return false }
        for other in others.map({ $0.lowercased() }) where other == host || other == name && port == nil { return true }
        guard port ?? 80 == self.port else { return false }
        if others.contains(where: { $0.lowercased() == name }) { return true }
        if Self.isWildcard(address) { return ServerOptions.isAddress(name) }
        let isLoopback = Self.isLoopback(address)
        return name == address.lowercased() || isLoopback && ["localhost", "127.0.0.1", "::1"].contains(name)
    }

    /// True if a page of this origin may ask: one that this server has sent, by whichever of its names.
    ///
    /// - Parameters:
    ///   - origin: what the request has as `Origin`; nil where it has none.
    ///   - host: the request's `Host`, which is allowed.
    func allows(origin: String?, host: String) -> Bool {
        guard let origin = origin?.lowercased() else { return true }
        let host = host.lowercased()
        guard origin != "http://\(host)" else { return true }
        // A proxy has the certificate.
        return others.contains { $0.lowercased() == host } && origin == "https://\(host)"
    }

    /// True if only programs of this machine can ask at an address.
    static func isLoopback(_ address: String) -> Bool {
        address == "::1" || address == "localhost" || address.hasPrefix("127.") && ServerOptions.isAddress(address)
    }

    /// True if an address means all of the machine's.
    static func isWildcard(_ address: String) -> Bool { address == "0.0.0.0" || address == "::" }

    /// A host as `Host` has it, without the brackets around an address of IPv6; nil where it is none.
    private static func split(_ host: String) -> (name: String, port: UInt16?)? {
        var name = host[...]
        var port: UInt16?
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return nil }
            name = host[host.index(after: host.startIndex)..<end]
            let rest = host[host.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
            if !rest.isEmpty {
                guard let number = UInt16(rest.dropFirst()) else { return nil }
                port = number
            }
        } else if let colon = host.firstIndex(of: ":") {
            guard let number = UInt16(host[host.index(after: colon)...]) else { return nil }
            (name, port) = (host[..<colon], number)
        }
        return name.isEmpty ? nil : (String(name), port)
    }
}
