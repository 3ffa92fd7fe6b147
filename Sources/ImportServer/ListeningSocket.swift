import Dispatch
import FlyingFox
import FlyingSocks
import Foundation
import Synchronization

/// Listens at an address, and hands requests on once it is known who answers them.
struct ListeningSocket: Sendable {
    /// The port, which the system may have chosen.
    let port: UInt16
    private let box: HandlerBox

    /// Starts to listen, and waits until it does.
    ///
    /// - Throws: `SocketError` when it cannot.
    init(address: String, port: UInt16) throws {
        let box = HandlerBox()
        self.box = box
        let server = try Self.server(address, port, box)
        let end = Outcome()
        let waiting = Task.detached {
            try await server.waitUntilListening(timeout: 60)
            end.set(.success(await server.listeningAddress?.port ?? port))
        }
        Task.detached {
            do {
                try await server.run()
            } catch {
                waiting.cancel()
                end.set(.failure(error))
            }
            // What has no descriptor for a connection ends all of them.
            guard let port = end.port else { return }
            while true {
                try await Task.sleep(for: .seconds(1))
                try? await Self.server(address, port, box).run()
            }
        }
        self.port = try end.wait()
    }

    /// Has requests answered from now on.
    func serve(_ handler: ServerHandler) { box.set(handler) }

    private static func server(_ address: String, _ port: UInt16, _ box: HandlerBox) throws -> HTTPServer {
        // Longer than any query may take.
        let timeout = 60.0
        guard address.contains(":") else {
            let place = try sockaddr_in.inet(ip4: address == "localhost" ? "127.0.0.1" : address, port: port)
            return HTTPServer(address: place, timeout: timeout, logger: .disabled, handler: box)
        }
        let place = try sockaddr_in6.inet6(ip6: address, port: port)
        return HTTPServer(address: place, timeout: timeout, logger: .disabled, handler: box)
    }
}

/// Whether somebody listens, for the one who waits for that.
private final class Outcome: Sendable {
    private let result = Mutex<Result<UInt16, any Error>?>(nil)
    private let ready = DispatchSemaphore(value: 0)

    /// The port, once it is listened at.
    var port: UInt16? { result.withLock { try? $0?.get() } }

    /// Says how it went; the first time counts.
    func set(_ new: Result<UInt16, any Error>) {
        result.withLock { if $0 == nil { $0 = new } }
        ready.signal()
    }

    func wait() throws -> UInt16 {
        while true {
            ready.wait()
            if let result = result.withLock({ $0 }) { return try result.get() }
        }
    }
}

/// Answers with what it is given later.
private final class HandlerBox: HTTPHandler {
    private let handler = Mutex<ServerHandler?>(nil)

    func set(_ new: ServerHandler) { handler.withLock { $0 = new } }

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let handler = handler.withLock({ $0 }) else { return HTTPResponse(statusCode: .serviceUnavailable) }
        return await handler.handleRequest(request)
    }
}

extension Socket.Address {
    fileprivate var port: UInt16? {
        switch self {
        case .ip4(_, let port), .ip6(_, let port): port
        case .unix: nil
        }
    }
}
