import Dispatch
import FlyingSocks
import Foundation
import Importer
import Synchronization

/// Shows a store in browsers: answers requests for a page, for JSON, and for events as they come.
///
/// It only reads, and answers until the process ends.
package struct StoreServer: Sendable {
    /// The first port that is tried.
    package static let firstPort: UInt16 = 8087
    /// So many ports are tried, one after the other.
    package static let triedPorts: UInt16 = 20

    /// Where a browser finds it: `http://127.0.0.1:8087/`, with the token where there is one.
    package let address: String
    private let observer: StoreObserver
    private let pool: ReaderPool

    /// Starts to listen, and waits until it does.
    ///
    /// - Throws: `ImportError` with `.cannotListen` when no port is to be had, with `.optionInvalid` when the address is none of this
    ///   machine's, with `.noResources` when the system gives no thread.
    package static func start(_ options: ServerOptions) throws -> StoreServer {
        let observer = try StoreObserver(store: options.store, own: options.progress)
        let ports = options.port.map { $0...$0 } ?? firstPort...firstPort + triedPorts - 1
        var failure: (any Error)?
        for port in ports {
            do {
                return try start(options, port: port, observer)
            } catch let error as SocketError {
                failure = error
                guard case .failed(_, let errno, _) = error, errno == EADDRINUSE else { break }
            }
        }
        throw error(failure, options, ports)
    }

    private static func start(_ options: ServerOptions, port: UInt16, _ observer: StoreObserver) throws -> StoreServer {
        let socket = try ListeningSocket(address: options.address, port: port)
        let needsToken = !AllowedHosts.isLoopback(options.address)
        let token = needsToken ? AccessToken(port: socket.port) : nil
        let access = AccessCheck(
            hosts: AllowedHosts(address: options.address, port: socket.port, others: options.hosts),
            token: token
        )
        let pool = ReaderPool(store: options.store)
        let routes = Routes(
            options: options,
            page: PageDocument(),
            observer: observer,
            pool: pool,
            entities: EntityCache(pool: pool)
        )
        socket.serve(ServerHandler(access: access, routes: routes))
        Task.detached {
            while true {
                try await Task.sleep(for: .seconds(10))
                observer.hub.postComments()
            }
        }
        let name = options.address.contains(":") ? "[\(options.address)]" : options.address
        return StoreServer(
            address: "http://\(name):\(socket.port)/" + (token.map { "?token=\($0.text)" } ?? ""),
            observer: observer,
            pool: pool
        )
    }

    /// Closes the store, which leaves no WAL beside it where nobody else has it open; to be called before the process ends.
    ///
    /// What takes longer than a second is not waited for.
    package func close() {
        observer.stop(.seconds(1))
        let closed = DispatchSemaphore(value: 0)
        Task.detached { [pool] in
            await pool.close()
            closed.signal()
        }
        _ = closed.wait(timeout: .now() + .seconds(1))
    }

    private static func error(_ error: (any Error)?, _ options: ServerOptions, _ ports: ClosedRange<UInt16>)
        -> ImportError
    {
        let tried =
            ports.count == 1
            ? "port \(ports.lowerBound)" : "none of the ports \(ports.lowerBound) to \(ports.upperBound)"
        if case .failed(_, let errno, _) = error as? SocketError, errno != EADDRINUSE {
            return ImportError(
                .cannotListen,
                "cannot listen at \(options.address), \(tried): \(String(cString: strerror(errno)))",
                advice: "Give an address of this machine, and a port that you may use."
            )
        }
        return ImportError(
            .cannotListen,
            ports.count == 1 ? "\(tried) is taken" : "\(tried) is free",
            advice: "Give another port, or 0 for any that is free."
        )
    }
}
