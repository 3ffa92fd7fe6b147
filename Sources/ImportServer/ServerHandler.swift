import FlyingFox
import Foundation

/// Passes requests to the routes, and their answers back with the headers that every answer has.
struct ServerHandler: HTTPHandler {
    let access: AccessCheck
    let routes: Routes

    func handleRequest(_ request: HTTPRequest) async -> HTTPResponse {
        let isHead = request.method == .HEAD
        let target = request.target.rawValue
        // What follows the headers is never read, so nothing else can follow it.
        let closes = request.headers[.contentLength].map { $0 != "0" } ?? (request.headers[.transferEncoding] != nil)
        do {
            guard target.utf8.count <= AccessCheck.longestTarget else {
                throw AnswerError(
                    .targetTooLong,
                    "the address has more than \(AccessCheck.longestTarget) bytes",
                    advice: "Shorten the predicate."
                )
            }
            let asked = try Request(
                method: request.method.rawValue,
                path: request.target.path(),
                query: request.target.query(),
                headers: Dictionary(
                    request.headers.map { ($0.key.rawValue.lowercased(), $0.value) },
                    uniquingKeysWith: { first, _ in first }
                )
            )
            let refusal = try access.refusal(of: asked, target: target)
            let answer = if let refusal { refusal } else { try await routes.answer(asked) }
            return response(answer, isHead: isHead, closes: closes)
        } catch {
            let error = AnswerError(error)
            var answer = Answer(error)
            if error.status == .methodNotAllowed {
                answer.headers.append(("Allow", AccessCheck.methods.joined(separator: ", ")))
            }
            return response(answer, isHead: isHead, closes: closes || error.status == .methodNotAllowed)
        }
    }

    private func response(_ answer: Answer, isHead: Bool, closes: Bool) -> HTTPResponse {
        var headers = HTTPHeaders()
        headers[.contentType] = answer.type
        for (name, value) in answer.headers + headersOfAll { headers[HTTPHeader(name)] = value }
        if closes { headers[.connection] = "close" }
        let status = HTTPStatusCode(answer.status.rawValue, phrase: answer.status.phrase)
        switch answer.body {
        case .bytes(let bytes):
            headers[.contentLength] = String(bytes.count)
            let body = isHead ? Data() : Data(bytes)
            guard closes else { return HTTPResponse(statusCode: status, headers: headers, body: body) }
            let closing = ClosingBody(bytes: Array(body))
            return HTTPResponse(
                statusCode: status,
                headers: headers,
                body: HTTPBodySequence(from: closing, count: body.count)
            )
        case .events(let subscription):
            guard !isHead else { return HTTPResponse(statusCode: status, headers: headers) }
            return HTTPResponse(
                statusCode: status,
                headers: headers,
                body: HTTPBodySequence(from: EventStream(subscription: subscription))
            )
        }
    }

    private var headersOfAll: [(name: String, value: String)] {
        [
            ("Content-Security-Policy", routes.page.policy), ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ]
    }
}

extension Answer.Status {
    fileprivate var phrase: String {
        switch self {
        case .ok: "OK"
        case .seeOther: "See Other"
        case .badRequest: "Bad Request"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .targetTooLong: "URI Too Long"
        case .unavailable: "Service Unavailable"
        }
    }
}
