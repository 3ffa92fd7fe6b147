/// Decides before any route whether a request is answered at all.
struct AccessCheck: Sendable {
    /// Longer addresses are refused, in bytes.
    static let longestTarget = 8_192
    /// What may be asked.
    static let methods = ["GET", "HEAD"]

    let hosts: AllowedHosts
    /// Nil where only programs of this machine can ask.
    let token: AccessToken?

    /// What is answered instead of what was asked for; nil where that is to be answered.
    ///
    /// - Parameter target: path and query as they were sent.
    /// - Throws: `ResponseError` where the request is refused.
    func refusal(of request: Request, target: String) throws(ResponseError) -> Response? {
        let host = request.headers["host"]
        guard let host, hosts.allows(host: host) else {
            throw ResponseError(
                .forbidden,
                code: "host",
                "this server does not have the name \((host ?? "nothing").prefix(200))",
                advice: "Use the address that the program has printed, or name a proxy's with --host."
            )
        }
        guard hosts.allows(origin: request.headers["origin"], host: host), isOwnSite(request) else {
            throw ResponseError(.forbidden, code: "origin", "from another site", advice: "Open the page itself.")
        }
        if let token {
            if let given = request.parameters["token"], token.isSame(as: given) {
                return redirect(token, target)
            }
            guard token.isIn(request) else {
                throw ResponseError(
                    .forbidden,
                    code: "token",
                    "the token is missing",
                    advice: "Open the address that the program has printed."
                )
            }
        }
        guard Self.methods.contains(request.method) else {
            throw ResponseError(.methodNotAllowed, "only GET and HEAD are allowed", advice: "This server only reads.")
        }
        return nil
    }

    /// True if a browser says that no other site has made it ask; only the page itself may be the goal of a link.
    private func isOwnSite(_ request: Request) -> Bool {
        guard let site = request.headers["sec-fetch-site"]?.lowercased() else { return true }
        return ["same-origin", "none"].contains(site) || request.path == "/"
    }

    /// Leads to the same place without the token in its address, and leaves the token as a cookie.
    private func redirect(_ token: AccessToken, _ target: String) -> Response {
        let halves = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = (halves.count > 1 ? halves[1] : "").split(separator: "&").filter { !$0.hasPrefix("token=") }
        // A second slash would begin the name of a host.
        let path = "/" + (halves.first ?? "").drop { $0 == "/" || $0 == "\\" }
        var response = Response([], type: "text/plain; charset=utf-8")
        response.status = .seeOther
        response.headers = [
            ("Location", path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))),
            ("Set-Cookie", token.cookieHeader),
        ]
        return response
    }
}
