import Foundation

/// Writing to descriptors.
enum RawOutput {
    /// Writes all of `text` and returns 0, or the `errno` of the write that failed.
    static func writeAll(_ text: String, to descriptor: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    /// Writes all of `bytes` and returns 0, or the `errno` of the write that failed.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes
        while !rest.isEmpty {
            let written = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if written < 0 {
                guard errno == EINTR || (errno == EAGAIN && isWritable(descriptor)) else { return errno }
                continue
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
        return 0
    }

    /// Waits until a descriptor that somebody made nonblocking takes bytes again.
    private static func isWritable(_ descriptor: Int32) -> Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return Foundation.poll(&poll, 1, 10_000) > 0
    }
}
