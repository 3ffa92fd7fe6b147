import Foundation

/// Asks a server on this machine, byte for byte as a test says.
package struct HTTPClient: Sendable {
    /// What came back.
    package struct Response: Sendable {
        package let status: Int
        /// By their names in lower case.
        package let headers: [String: String]
        package let body: Data

        package var text: String { String(decoding: body, as: UTF8.self) }

        /// The body as JSON.
        ///
        /// - Throws: where it is not JSON.
        package var json: [String: Any] {
            get throws { try JSONSerialization.jsonObject(with: body) as? [String: Any] ?? [:] }
        }

        /// The code of an error.
        package var errorCode: String? {
            get throws { try (json["error"] as? [String: Any])?["code"] as? String }
        }
    }

    package let port: UInt16

    package init(port: UInt16) { self.port = port }

    /// The `Host` that is this server's own.
    package var host: String { "127.0.0.1:\(port)" }

    /// Asks for something on a connection of its own.
    ///
    /// - Parameters:
    ///   - target: path and query, as they go over the wire.
    ///   - headers: in place of those that are sent otherwise; an empty one is left out.
    package func ask(
        _ target: String,
        method: String = "GET",
        headers: [String: String] = [:],
        body: String = ""
    ) throws -> Response {
        var all = ["Host": host, "Connection": "close"].merging(headers) { $1 }
        if !body.isEmpty { all["Content-Length"] = "\(body.utf8.count)" }
        let lines = all.filter { !$0.value.isEmpty }.map { "\($0.key): \($0.value)\r\n" }.sorted()
        let connection = try Connection(port: port)
        try connection.send("\(method) \(target) HTTP/1.1\r\n\(lines.joined())\r\n\(body)")
        return try Self.answer(in: connection.readAll())
    }

    /// The first answer in what a server has sent.
    package static func answer(in bytes: Data) throws -> Response {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else {
            throw NeverCame("an answer: \(String(decoding: bytes, as: UTF8.self))")
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2 else { continue }
            headers[halves[0].lowercased()] = halves[1].trimmingCharacters(in: .whitespaces)
        }
        let status = lines[0].split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Response(status: status, headers: headers, body: Data(bytes[end.upperBound...]))
    }

    /// A connection that a test holds, reads when it likes, and closes.
    package final class Connection {
        private var descriptor: Int32

        package init(port: UInt16) throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let failure = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard failure == 0 else { throw NeverCame("a connection to port \(port): \(errno)") }
        }

        deinit { close() }

        package func close() {
            if descriptor >= 0 { _ = Foundation.close(descriptor) }
            descriptor = -1
        }

        package func send(_ text: String) throws {
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { throw NeverCame("the server takes no request: \(errno)") }
                rest = rest.dropFirst(count)
            }
        }

        /// The next bytes; empty at the end.
        package func read() throws -> Data {
            var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&readable, 1, Int32(patience.components.seconds * 1_000)) > 0 else {
                throw NeverCame("an answer")
            }
            var bytes = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return Data(bytes.prefix(max(count, 0)))
        }

        /// All that comes until the server closes the connection.
        package func readAll() throws -> Data {
            var all = Data()
            while true {
                let bytes = try read()
                if bytes.isEmpty { return all }
                all += bytes
            }
        }
    }
}

/// Reads a stream of events (`text/event-stream`), one after the other.
package final class EventReader {
    /// One event.
    package struct Event {
        package let name: String
        package let id: String?
        package let data: [String: Any]
    }

    /// The answer that the stream is the body of, without the body.
    package let answer: HTTPClient.Response
    private let connection: HTTPClient.Connection
    private var chunked: Data
    private var text = Data()

    /// Opens a stream.
    package init(_ client: HTTPClient, headers: [String: String] = [:]) throws {
        connection = try HTTPClient.Connection(port: client.port)
        let lines = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        try connection.send("GET /events HTTP/1.1\r\nHost: \(client.host)\r\n\(lines)\r\n")
        var head = Data()
        while head.range(of: Data("\r\n\r\n".utf8)) == nil {
            let bytes = try connection.read()
            guard !bytes.isEmpty else { throw NeverCame("the head of a stream") }
            head += bytes
        }
        answer = try HTTPClient.answer(in: head)
        chunked = answer.body
    }

    package func close() { connection.close() }

    /// The next event with one of these names; comments and others are passed over.
    package func next(_ names: String...) throws -> Event {
        while true {
            if let end = text.range(of: Data("\n\n".utf8)) {
                let block = String(decoding: text[..<end.lowerBound], as: UTF8.self)
                text = Data(text[end.upperBound...])
                if let event = try Self.event(block), names.contains(event.name) { return event }
                continue
            }
            try readChunk()
        }
    }

    /// The next comment; events are passed over.
    package func nextComment() throws -> String {
        while true {
            if let end = text.range(of: Data("\n\n".utf8)) {
                let block = String(decoding: text[..<end.lowerBound], as: UTF8.self)
                text = Data(text[end.upperBound...])
                if block.hasPrefix(":") { return block }
                continue
            }
            try readChunk()
        }
    }

    private func readChunk() throws {
        while true {
            if let line = chunked.range(of: Data("\r\n".utf8)),
                let size = Int(
                    String(decoding: chunked[chunked.startIndex..<line.lowerBound], as: UTF8.self),
                    radix: 16
                ),
                chunked.endIndex - line.upperBound >= size + 2
            {
                text += chunked[line.upperBound..<line.upperBound + size]
                chunked = Data(chunked[(line.upperBound + size + 2)...])
                return
            }
            let bytes = try connection.read()
            guard !bytes.isEmpty else { throw NeverCame("an event: the stream has ended") }
            chunked += bytes
        }
    }

    private static func event(_ block: String) throws -> Event? {
        var (name, id, data) = ("", nil as String?, "")
        for line in block.split(separator: "\n") {
            if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
            if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
            if line.hasPrefix("data: ") { data += line.dropFirst(6) }
        }
        guard !name.isEmpty else { return nil }
        let object = try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any]
        return Event(name: name, id: id, data: object ?? [:])
    }
}
