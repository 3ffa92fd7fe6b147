import FlyingSocks
import Foundation

/// One connection: reads the heads of requests, each within limits, and writes what they are answered.
struct ServerConnection: Sendable {
    /// The most bytes of a request line and its headers.
    static let longestHead = 16_384
    /// The most seconds from the first byte of a head to its last.
    static let longestWait = 10

    let socket: AsyncSocket
    let handler: ServerHandler

    /// Answers until either side is done with it.
    func run() async {
        defer { try? socket.close() }
        var bytes: [UInt8] = []
        do {
            while true {
                if bytes.isEmpty { bytes = try await socket.read(atMost: 4096) }
                do {
                    let head = try RequestHead(await nextHead(&bytes))
                    let (response, closes) = await handler.answer(head)
                    try await send(response, isHead: head.method == "HEAD", closes: closes)
                    if closes { return await drain() }
                } catch let error as ResponseError {
                    try await send(Response(error), isHead: false, closes: true)
                    return await drain()
                }
            }
        } catch {}
    }

    /// Takes a head, without the empty line after it, from bytes that more are read to.
    private func nextHead(_ bytes: inout [UInt8]) async throws -> [UInt8] {
        let deadline = ContinuousClock.now + .seconds(Self.longestWait)
        var searched = 0
        while true {
            while let end = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")), end < Self.longestHead {
                let before = bytes[..<end].last == UInt8(ascii: "\r") ? end - 1 : end
                searched = end + 1
                guard before == 0 || bytes[before - 1] == UInt8(ascii: "\n") else { continue }
                defer { bytes.removeFirst(end + 1) }
                return Array(bytes[..<before])
            }
            guard bytes.count < Self.longestHead else {
                throw ResponseError(
                    .headTooLong,
                    "the request's headers have more than \(Self.longestHead) bytes",
                    advice: "Send fewer or shorter headers."
                )
            }
            bytes += try await read(until: deadline)
        }
    }

    private func read(until deadline: ContinuousClock.Instant) async throws -> [UInt8] {
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask { try await socket.read(atMost: 4096) }
            group.addTask {
                try await Task.sleep(until: deadline, clock: .continuous)
                throw ResponseError(
                    .requestTimeout,
                    "the request's headers took more than \(Self.longestWait) s",
                    advice: "Send them at once, with an empty line at their end."
                )
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }

    private func send(_ response: Response, isHead: Bool, closes: Bool) async throws {
        var lines = [
            "HTTP/1.1 \(response.status.rawValue) \(response.status.phrase)", "Content-Type: \(response.type)",
        ]
        lines += (response.headers + handler.headersOfAll).map { "\($0.name): \($0.value)" }
        if closes { lines.append("Connection: close") }
        switch response.body {
        case .bytes(let bytes):
            lines.append("Content-Length: \(bytes.count)")
            try await socket.write(Data(head(lines) + (isHead ? [] : bytes)))
        case .events(let subscription):
            lines.append("Transfer-Encoding: chunked")
            try await socket.write(Data(head(lines)))
            guard !isHead else { return }
            var events = EventStream(subscription: subscription).makeAsyncIterator()
            while let bytes = await events.nextBuffer(suggested: 1) {
                let size = String(bytes.count, radix: 16)
                try await socket.write(Data("\(size)\r\n".utf8 + bytes + "\r\n".utf8))
            }
            try await socket.write(Data("0\r\n\r\n".utf8))
        }
    }

    private func head(_ lines: [String]) -> [UInt8] { Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) }

    /// Reads on for a moment, so that what was not read does not take the answer away from the one who sent it.
    private func drain() async {
        shutdown(socket.socket.file.rawValue, Int32(SHUT_WR))
        let deadline = ContinuousClock.now + .seconds(1)
        while ContinuousClock.now < deadline, (try? await read(until: deadline)) != nil {}
    }
}

/// The request line and the headers of a request.
struct RequestHead: Sendable {
    let method: String
    let target: String
    /// The headers by their names in lower case; those of one name joined by commas (RFC 9110, 5.3).
    let headers: [String: String]
    /// True if nothing is asked after it.
    let closes: Bool

    /// - Throws: `ResponseError` where the first line is not that of a request.
    init(_ bytes: [UInt8]) throws(ResponseError) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map {
            String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3, words[2].hasPrefix("HTTP/1.") else {
            throw ResponseError(.badRequest, "the request is not HTTP/1.1", advice: "Ask with a browser, or with curl.")
        }
        method = String(words[0])
        target = String(words[1])
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2 else { continue }
            let (name, value) = (halves[0].lowercased(), halves[1].trimmingCharacters(in: .whitespaces))
            headers[name] = headers[name].map { "\($0), \(value)" } ?? value
        }
        self.headers = headers
        let connection = headers["connection"]?.lowercased()
        closes = connection == "close" || (words[2] == "HTTP/1.0" && connection != "keep-alive")
    }
}
