import ImportModel
import Importer

/// Why a request gets no answer: a status, and what a program and a person read of it.
struct ResponseError: Error, Sendable {
    let status: Response.Status
    /// One word for programs.
    let code: String
    /// What is wrong, and where.
    let message: String
    /// What to do about it; nil where there is nothing to advise.
    var advice: String?
    /// Where the mistake is in a predicate, in units of UTF-16 from 0.
    var place: Range<Int>?

    init(_ status: Response.Status, code: String? = nil, _ message: String, advice: String? = nil) {
        self.status = status
        self.code = code ?? status.word
        self.message = message
        self.advice = advice
    }

    /// What went wrong while a route was reading.
    init(_ error: any Error) {
        switch error {
        case let error as ResponseError: self = error
        case let error as RecordPredicateError: self.init(error)
        case let error as ImportError:
            let status: Response.Status =
                switch error.code {
                case .usage: .badRequest
                case .noInput: .notFound
                default: .unavailable
                }
            self.init(status, code: error.reason.rawValue, error.message, advice: error.advice)
        default: self.init(.unavailable, code: "fault", "\(error)")
        }
    }

    private init(_ error: RecordPredicateError) {
        self.init(.badRequest, code: "predicate", error.message, advice: error.advice)
        let bytes = error.text.utf8
        func units(_ count: Int) -> Int {
            String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).utf16.count
        }
        let start = units(error.byteOffset)
        place = start..<max(start, units(error.byteOffset.addingClamped(error.byteCount)))
    }

    /// A query that took too long.
    static func tooSlow(_ limit: Duration) -> ResponseError {
        ResponseError(
            .unavailable,
            code: "too_slow",
            "the query took more than \(limit.components.seconds) s and was stopped",
            advice: "Ask for less: sort by an attribute with an index, or with another predicate."
        )
    }

    /// The body of the answer.
    var content: JSONValue {
        var error: JSONValue = ["code": .string(code), "message": .string(message)]
        error["advice"] = advice.map { .string($0) }
        if let place {
            error["offset"] = .number("\(place.lowerBound)")
            error["length"] = .number("\(place.count)")
        }
        return ["error": error]
    }
}

extension Int {
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
