/// What everybody must have who asks a server that others than this machine's programs can reach: 128 random bits.
struct AccessToken: Sendable {
    /// As it is in addresses: 32 hexadecimal digits.
    let text: String
    /// The name of the cookie that it becomes; cookies are the same for all ports.
    let cookie: String

    /// A new one, from the system's source of randomness.
    init(port: UInt16) {
        var generator = SystemRandomNumberGenerator()
        let bits = [generator.next(), generator.next()]
        text = bits.map { bits in
            let digits = String(bits, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        cookie = "importer_\(port)"
    }

    /// True if a text is the token, in a time that does not depend on how much of it is.
    func isSame(as other: String) -> Bool {
        let (one, other) = (Array(text.utf8), Array(other.utf8))
        guard one.count == other.count else { return false }
        return zip(one, other).reduce(UInt8(0)) { $0 | $1.0 ^ $1.1 } == 0
    }

    /// True if a request has it, in its cookie or as `Authorization: Bearer`.
    func isIn(_ request: Request) -> Bool {
        if let given = request.headers["authorization"], given.lowercased().hasPrefix("bearer ") {
            return isSame(as: String(given.dropFirst(7)))
        }
        for pair in (request.headers["cookie"] ?? "").split(separator: ";") {
            let halves = pair.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, halves[0].filter({ $0 != " " }) == cookie else { continue }
            if isSame(as: String(halves[1].filter { $0 != " " })) { return true }
        }
        return false
    }

    /// The value of `Set-Cookie`.
    var cookieHeader: String { "\(cookie)=\(text); Path=/; HttpOnly; SameSite=Strict" }
}
