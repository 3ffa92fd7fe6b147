/// A request as the routes see it: decoded, and with one value for each name.
struct Request: Sendable {
    /// What was asked: `GET`, `HEAD`, or something that is refused.
    let method: String
    /// The path as it was sent, with its escapes.
    let path: String
    /// The parts of the path between slashes, without escapes.
    let parts: [String]
    /// The parameters by their names, the last of each.
    let parameters: [String: String]
    /// The headers by their names in lower case.
    let headers: [String: String]

    /// - Parameters:
    ///   - path: percent-encoded.
    ///   - query: percent-encoded, without its question mark; a plus is a space.
    /// - Throws: `ResponseError` where an escape is none, or what it gives is not UTF-8.
    init(method: String, path: String, query: String, headers: [String: String]) throws(ResponseError) {
        self.method = method
        self.path = path
        self.headers = headers
        var parts: [String] = []
        for part in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
            parts.append(try Self.decoded(part, plusIsSpace: false))
        }
        self.parts = parts
        var parameters: [String: String] = [:]
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = halves.first else { continue }
            let value = halves.count > 1 ? halves[1] : Substring("").utf8
            parameters[try Self.decoded(name, plusIsSpace: true)] = try Self.decoded(value, plusIsSpace: true)
        }
        self.parameters = parameters
    }

    /// A parameter that says something; nil where it is missing or empty.
    func parameter(_ name: String) -> String? {
        parameters[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A parameter that is a whole number of at least 1.
    ///
    /// - Throws: `ResponseError` where it is something else.
    func count(_ name: String, default value: Int, most: Int) throws -> Int {
        guard let text = parameter(name) else { return value }
        guard let number = Int(text), (1...most).contains(number) else {
            throw ResponseError(
                .badRequest,
                "\(name) is not a whole number from 1 to \(most)",
                advice: "Write \(name)=\(value)."
            )
        }
        return number
    }

    private static func decoded(_ text: Substring.UTF8View, plusIsSpace: Bool) throws(ResponseError) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    throw ResponseError(
                        .badRequest,
                        "the address has a % that is not an escape",
                        advice: "Write %25 for a percent sign."
                    )
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else {
            throw ResponseError(
                .badRequest,
                "the address is not UTF-8",
                advice: "Encode its text as UTF-8 before escaping it."
            )
        }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
