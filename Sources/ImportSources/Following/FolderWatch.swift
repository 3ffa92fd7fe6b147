import Foundation

/// Waits until something changes in folders, and says what (`inotify(7)`).
///
/// Where the system does not tell, as on file systems of a network, everything may have changed each second.
package final class FolderWatch {
    /// What may have changed.
    package struct Changes {
        /// The paths of files that were written.
        package var written: Set<BytewiseString> = []
        /// The paths of those of them that their writers have closed.
        package var closed: Set<BytewiseString> = []
        /// True if files have come, gone or been renamed, or what has changed is not known.
        package var needsListing = false
    }

    /// File systems on which others write without the system's knowledge, as `proc(5)` calls them in `/proc/self/mounts`.
    private static let remote = ["nfs", "cifs", "smb", "fuse", "9p", "vboxsf", "ceph", "glusterfs", "lustre"]
    private static let isLooking = Duration.seconds(1)

    private let descriptor: Descriptor?
    private let wake: WakePipe
    private let interruption: Interruption
    private var folders: [Int32: String] = [:]
    private var watched: Set<String> = []
    /// True if a folder cannot be watched.
    private var isBlind = false

    /// - Throws: `ImportError` with `.noResources` when no more descriptors can be had.
    package init(_ interruption: Interruption) throws {
        self.interruption = interruption
        wake = try WakePipe()
        let number = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        descriptor = number < 0 ? nil : Descriptor(owning: number)
        interruption.onRequest { [wake] in wake.wake() }
    }

    /// Watches a folder from now on.
    ///
    /// - Returns: true if it was not watched before, so that something may have changed in it meanwhile.
    package func watch(_ folder: String) -> Bool {
        guard watched.insert(folder).inserted else { return false }
        if Self.isRemote(folder) { isBlind = true }
        let mask: Int32 =
            IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF
            | IN_MOVE_SELF | IN_ONLYDIR
        let number = descriptor.map { inotify_add_watch($0.number, folder, UInt32(mask)) } ?? -1
        if number < 0 { isBlind = true } else { folders[number] = folder }
        return true
    }

    private static func isRemote(_ folder: String) -> Bool {
        guard let mounts = try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8) else { return false }
        var (longest, type) = (0, Substring())
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let point = fields[1].replacing("\\040", with: " ")
            guard point == "/" || folder == point || folder.hasPrefix(point + "/"), point.utf8.count >= longest else {
                continue
            }
            (longest, type) = (point.utf8.count, fields[2])
        }
        return remote.contains { type.hasPrefix($0) }
    }

    /// Waits until something changes.
    ///
    /// - Parameter time: the longest time to wait; nil for as long as it takes.
    /// - Throws: `ImportError` when it is interrupted.
    package func wait(atMost time: Duration?) throws -> Changes {
        try interruption.check()
        let limit = isBlind ? min(time ?? Self.isLooking, Self.isLooking) : time
        try poll([descriptor?.number, wake.descriptor].compactMap(\.self), atMost: limit)
        var changes = Changes()
        if isBlind { changes.needsListing = true }
        read(into: &changes)
        return changes
    }

    /// Lets time pass.
    ///
    /// - Throws: `ImportError` when it is interrupted.
    package func rest(_ time: Duration) throws {
        guard time > .zero else { return }
        try poll([wake.descriptor], atMost: time)
    }

    private func poll(_ descriptors: [Int32], atMost time: Duration?) throws {
        let end = time.map { ContinuousClock.now + $0 }
        while true {
            var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let left = end.map { max(0, (($0 - ContinuousClock.now).inSeconds * 1000).rounded(.up)) } ?? -1
            let ready = Foundation.poll(&polled, nfds_t(polled.count), Int32(min(left, 1e9)))
            try interruption.check()
            if ready >= 0 || errno != EINTR { return }
        }
    }

    private func read(into changes: inout Changes) {
        guard let descriptor else { return }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = buffer.withUnsafeMutableBytes { Foundation.read(descriptor.number, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            buffer.withUnsafeBytes { note(UnsafeRawBufferPointer(rebasing: $0[..<count]), in: &changes) }
        }
    }

    /// Takes events out of what was read: a header of 16 bytes each, and a name.
    private func note(_ events: UnsafeRawBufferPointer, in changes: inout Changes) {
        var start = 0
        while start + 16 <= events.count {
            let number = events.loadUnaligned(fromByteOffset: start, as: Int32.self)
            let mask = Int32(bitPattern: events.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self))
            let length = Int(events.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
            let end = min(start + 16 + length, events.count)
            let name = String(decoding: events[start + 16..<end].prefix { $0 != 0 }, as: UTF8.self)
            start = end
            if mask & (IN_MODIFY | IN_CLOSE_WRITE) != 0, let folder = folders[number] {
                let path = BytewiseString(folder == "/" ? "/\(name)" : "\(folder)/\(name)")
                changes.written.insert(path)
                if mask & IN_CLOSE_WRITE != 0 { changes.closed.insert(path) } else { changes.closed.remove(path) }
            } else {
                // Also where more has happened than the system has kept.
                changes.needsListing = true
            }
            if mask & (IN_IGNORED | IN_MOVE_SELF) != 0, let folder = folders.removeValue(forKey: number) {
                if mask & IN_MOVE_SELF != 0, let descriptor { inotify_rm_watch(descriptor.number, number) }
                watched.remove(folder)
            }
        }
    }
}
