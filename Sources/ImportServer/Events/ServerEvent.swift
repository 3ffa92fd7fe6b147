/// One event of a stream, as it goes over the wire (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).
struct ServerEvent: Sendable, Hashable {
    /// What it is about: the name that a page listens to.
    enum Kind: String, Sendable {
        case progress
        case merge
        case refresh
        case finished
    }

    let kind: Kind
    /// Where a reader that was away continues; nil where nothing has to be made up for.
    let id: String?
    /// The whole event, its empty line included.
    let bytes: [UInt8]

    /// - Parameter data: one line of JSON.
    init(_ kind: Kind, id: String? = nil, data: [UInt8]) {
        self.kind = kind
        self.id = id
        let line = data.last == UInt8(ascii: "\n") ? data.dropLast() : data[...]
        bytes =
            Array("event: \(kind.rawValue)\n".utf8) + Array((id.map { "id: \($0)\n" } ?? "").utf8)
            + Array("data: ".utf8) + line + Array("\n\n".utf8)
    }

    /// What keeps a connection from looking idle, and shows that its other end is gone.
    static let comment = Array(": still here\n\n".utf8)
}
