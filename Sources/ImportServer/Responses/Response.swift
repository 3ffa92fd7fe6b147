import ImportModel

/// What a request gets: a status, headers and a body, or a stream of events.
struct Response: Sendable {
    /// The statuses that there are.
    enum Status: Int, Sendable {
        case ok = 200
        case seeOther = 303
        case badRequest = 400
        case forbidden = 403
        case notFound = 404
        case methodNotAllowed = 405
        case requestTimeout = 408
        case targetTooLong = 414
        case headTooLong = 431
        case unavailable = 503

        /// The status in one word, for programs.
        var word: String {
            switch self {
            case .ok: "ok"
            case .seeOther: "see_other"
            case .badRequest: "bad_request"
            case .forbidden: "forbidden"
            case .notFound: "not_found"
            case .methodNotAllowed: "method_not_allowed"
            case .requestTimeout: "request_timeout"
            case .targetTooLong: "target_too_long"
            case .headTooLong: "head_too_long"
            case .unavailable: "unavailable"
            }
        }
    }

    /// What follows the headers.
    enum Body: Sendable {
        case bytes([UInt8])
        case events(EventSubscription)
    }

    var status = Status.ok
    var type: String
    var headers: [(name: String, value: String)] = []
    var body: Body

    /// Bytes of a type.
    init(_ bytes: [UInt8], type: String) {
        self.type = type
        body = .bytes(bytes)
    }

    /// A JSON value.
    init(_ value: JSONValue, status: Status = .ok) {
        self.init(Array((value.serialized() + "\n").utf8), type: Self.json)
        self.status = status
    }

    /// What can be encoded as JSON, its keys sorted.
    init(encoding value: some Encodable) throws {
        self.init(try JSONBytes.line(value), type: Self.json)
    }

    /// An error.
    init(_ error: ResponseError) {
        self.init(error.content, status: error.status)
    }

    /// Events as they come.
    init(_ subscription: EventSubscription) {
        type = "text/event-stream; charset=utf-8"
        body = .events(subscription)
    }

    private static let json = "application/json; charset=utf-8"
}
