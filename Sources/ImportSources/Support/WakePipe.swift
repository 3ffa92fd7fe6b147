import Foundation

/// A pipe to end a `poll(2)` that waits for something else.
package final class WakePipe: Sendable {
    private let readEnd: Descriptor
    private let writeEnd: Descriptor

    /// - Throws: `ImportError` with `.noResources` when no more descriptors can be had.
    package init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            let code = errno
            let message: MessageText = "cannot make a pipe: \(String(cString: strerror(code)))"
            throw ImportError.shortage(code, message) ?? ImportError(.systemCallFailed, message)
        }
        readEnd = Descriptor(owning: ends[0])
        writeEnd = Descriptor(owning: ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    /// Readable once it was woken, until `rest` is called.
    package var descriptor: Int32 { readEnd.number }

    /// Ends the present wait and all later ones.
    package func wake() {
        var byte: UInt8 = 1
        _ = write(writeEnd.number, &byte, 1)
    }

    /// Lets later waits wait again.
    package func rest() {
        var buffer = [UInt8](repeating: 0, count: 64)
        while read(readEnd.number, &buffer, buffer.count) > 0 {}
    }

    /// Waits until `descriptor` has something to read or has ended.
    ///
    /// - Returns: whether it has; false if it was woken instead.
    func waitForInput(on descriptor: Descriptor) -> Bool {
        var polled = [
            pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: readEnd.number, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let ready = poll(&polled, nfds_t(polled.count), -1)
            if ready < 0 && errno == EINTR { continue }
            return polled[1].revents == 0
        }
    }
}
