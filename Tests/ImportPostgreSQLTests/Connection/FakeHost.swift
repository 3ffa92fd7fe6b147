import Foundation
import Synchronization
import TestSupport

/// A host that lets a client connect, and answers what it is told to, or nothing.
final class FakeHost: Sendable {
    let port: UInt16
    private let listener: Int32
    private let asked = Mutex<(@Sendable () -> Void)?>(nil)

    /// - Parameter answer: to the first bytes of each client; where it is empty, nothing is ever said.
    init(answer: [UInt8]) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        self.listener = listener
        guard isBound else { throw NeverCame("a port") }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self, listener] in
            var clients: [Int32] = []
            while case let client = accept(listener, nil, nil), client >= 0 {
                clients.append(client)
                var bytes = [UInt8](repeating: 0, count: 1_024)
                _ = read(client, &bytes, bytes.count)
                self?.asked.withLock { $0 }?()
                if !answer.isEmpty { _ = send(client, answer, answer.count, Int32(MSG_NOSIGNAL)) }
            }
            // Not before: another host may get its number at once, and would be answered for here.
            for descriptor in clients + [listener] { close(descriptor) }
        }
    }

    deinit {
        // Ends `accept`, which closing it does not.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Calls `body` when a client has said something.
    func whenAsked(_ body: @escaping @Sendable () -> Void) {
        asked.withLock { $0 = body }
    }
}
