import Foundation

/// The bytes of a file, a pipe or a device as they come (`read(2)`).
package final class DescriptorStream: ByteStream {
    private let descriptor: Descriptor
    /// The source's name for messages.
    private let name: String
    private let interruption: Interruption
    /// What wakes a read that waits; nil for regular files, which never keep one waiting.
    private let wake: WakePipe?

    /// Reads a regular file.
    package init(file descriptor: Descriptor, name: String, interruption: Interruption) {
        self.descriptor = descriptor
        self.name = name
        self.interruption = interruption
        wake = nil
        posix_fadvise(descriptor.number, 0, 0, Int32(POSIX_FADV_SEQUENTIAL))
    }

    /// Reads standard input, a FIFO or a device; `wake` ends a read that waits.
    package init(pipe descriptor: Descriptor, name: String, wake: WakePipe, interruption: Interruption) {
        self.descriptor = descriptor
        self.name = name
        self.interruption = interruption
        self.wake = wake
    }

    /// True if `seek` works: regular files only.
    var isSeekable: Bool { wake == nil }

    package func read(into block: inout [UInt8]) throws -> Int {
        while true {
            try interruption.check()
            if let wake, !wake.waitForInput(on: descriptor) {
                try interruption.check()
                throw CancellationError()
            }
            let count = block.withUnsafeMutableBytes { Foundation.read(descriptor.number, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            let code = errno
            if code == EINTR || (code == EAGAIN && wake != nil) { continue }
            throw ImportError.cannotRead(name, errno: code)
        }
    }

    /// Moves to another offset of a regular file (`lseek(2)`).
    ///
    /// - Parameters:
    ///   - offset: counted from where `whence` says.
    ///   - whence: `SEEK_SET`, `SEEK_CUR` or `SEEK_END`.
    /// - Returns: the new offset from the file's beginning; nil if there is no such offset.
    func seek(_ offset: Int64, _ whence: Int32) -> Int64? {
        let position = lseek(descriptor.number, off_t(offset), whence)
        return position < 0 ? nil : Int64(position)
    }
}
