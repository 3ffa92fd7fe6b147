import Foundation
import Synchronization

extension ImportError {
    /// The error for a call that failed because no descriptor can be had; nil if it failed for another reason.
    ///
    /// - Parameters:
    ///   - number: the call's `errno`.
    ///   - path: the file that it was for, which `what` then does not name.
    package static func shortage(_ number: Int32, at path: String? = nil, _ what: MessageText) -> ImportError? {
        guard number == EMFILE || number == ENFILE else { return nil }
        return ImportError(
            .noDescriptors,
            at: path,
            what,
            advice: "Allow more open files (ulimit -n), then \(.sameAgain)."
        )
    }

    /// Checks that descriptors can be had, by taking them for a moment.
    ///
    /// SQLite does not say why it cannot open a file, and Dispatch traps where there is no descriptor for its own timer.
    ///
    /// - Parameters:
    ///   - count: how many, beside those that are open.
    ///   - purpose: what for, in words: `to import with 2 workers`.
    /// - Throws: `ImportError` with `.noResources` when there are fewer.
    package static func checkDescriptors(_ count: Int, _ purpose: MessageText) throws {
        // One at a time: what several take for a moment could be more than there are.
        try probing.withLock { _ in try probeDescriptors(count, purpose) }
    }

    private static let probing = Mutex(())

    private static func probeDescriptors(_ count: Int, _ purpose: MessageText) throws {
        var taken: [Int32] = []
        defer { for descriptor in taken { close(descriptor) } }
        while taken.count < count {
            let descriptor = open("/", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                let code = errno
                let message: MessageText =
                    "\(count) more open files are needed \(purpose), and \(taken.count) can be had"
                // Where `/` cannot be opened for another reason, nothing is known.
                if let error = shortage(code, "\(message): \(String(cString: strerror(code)))") { throw error }
                return
            }
            taken.append(descriptor)
        }
    }
}
