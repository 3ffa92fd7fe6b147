import FlyingSocks
import Foundation

/// Listens at an address; who connects waits until it is known who answers.
struct ListeningSocket: Sendable {
    /// The port, which the system may have chosen.
    let port: UInt16
    private let socket: Socket

    /// Starts to listen.
    ///
    /// - Throws: `SocketError` when it cannot.
    init(address: String, port: UInt16) throws {
        if address.contains(":") {
            socket = try Self.listening(try sockaddr_in6.inet6(ip6: address, port: port))
        } else {
            socket = try Self.listening(
                sockaddr_in.inet(ip4: address == "localhost" ? "127.0.0.1" : address, port: port)
            )
        }
        self.port = try socket.sockname().port ?? port
    }

    /// Has requests answered from now on.
    func serve(_ handler: ServerHandler) {
        Task.detached { [socket] in
            let pool: some AsyncSocketPool = .make()
            try await pool.prepare()
            Task.detached { try await pool.run() }
            let listening = try AsyncSocket(socket: socket, pool: pool)
            while true {
                do {
                    let connection = ServerConnection(socket: try await listening.accept(), handler: handler)
                    Task.detached { await connection.run() }
                } catch {
                    // There is no descriptor for it now.
                    try await Task.sleep(for: .seconds(1))
                }
            }
        }
    }

    private static func listening<Address: SocketAddress>(_ address: Address) throws -> Socket {
        let socket = try Socket(domain: Int32(Address.family))
        do {
            try socket.setValue(true, for: .localAddressReuse)
            try socket.bind(to: address)
            try socket.listen()
        } catch {
            try? socket.close()
            throw error
        }
        return socket
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
