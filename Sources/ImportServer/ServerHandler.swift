/// Passes requests to the routes, and says what their answers have in common.
struct ServerHandler: Sendable {
    let access: AccessCheck
    let routes: Routes

    /// The answer, and whether the connection ends with it.
    func answer(_ head: RequestHead) async -> (response: Response, closes: Bool) {
        // What follows the headers is never read, so nothing else can follow it.
        let hasBody = head.headers["content-length"].map { $0 != "0" } ?? (head.headers["transfer-encoding"] != nil)
        let closes = head.closes || hasBody
        do {
            guard head.target.utf8.count <= AccessCheck.longestTarget else {
                throw ResponseError(
                    .targetTooLong,
                    "the address has more than \(AccessCheck.longestTarget) bytes",
                    advice: "Shorten the predicate."
                )
            }
            let halves = head.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            let asked = try Request(
                method: head.method,
                path: String(halves[0]),
                query: halves.count > 1 ? String(halves[1]) : "",
                headers: head.headers
            )
            let refusal = try access.refusal(of: asked, target: head.target)
            let response = if let refusal { refusal } else { try await routes.answer(asked) }
            return (response, closes)
        } catch {
            let error = ResponseError(error)
            var response = Response(error)
            if error.status == .methodNotAllowed {
                response.headers.append(("Allow", AccessCheck.methods.joined(separator: ", ")))
            }
            return (response, closes || error.status == .methodNotAllowed)
        }
    }

    /// The headers that every answer has.
    var headersOfAll: [(name: String, value: String)] {
        [
            ("Content-Security-Policy", routes.page.policy), ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ]
    }
}

extension Response.Status {
    /// The status as the first line of an answer says it.
    var phrase: String {
        switch self {
        case .ok: "OK"
        case .seeOther: "See Other"
        case .badRequest: "Bad Request"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .requestTimeout: "Request Timeout"
        case .targetTooLong: "URI Too Long"
        case .headTooLong: "Request Header Fields Too Large"
        case .unavailable: "Service Unavailable"
        }
    }
}
